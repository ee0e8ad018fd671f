"""machine/bus."""
