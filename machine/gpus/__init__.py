"""GPUs and other accelerators, what their drivers tell, and how they are connected."""
