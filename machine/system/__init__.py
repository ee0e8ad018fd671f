"""machine/system."""
