"""machine/memory."""
