"""The load, sample by sample: threads, memory, disks, networks and GPUs."""
