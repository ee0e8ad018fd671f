"""machine/gpus."""
