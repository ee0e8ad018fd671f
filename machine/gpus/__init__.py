"""GPUs and other accelerators, what their drivers report, and how they are connected."""
