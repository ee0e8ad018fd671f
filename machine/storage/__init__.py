"""machine/storage."""
