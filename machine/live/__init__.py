"""machine/live."""
