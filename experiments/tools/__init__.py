"""experiments/tools."""
