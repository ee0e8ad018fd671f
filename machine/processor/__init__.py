"""machine/processor."""
