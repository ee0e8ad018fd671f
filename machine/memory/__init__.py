"""Main memory: its size, modules, channels and NUMA nodes."""
