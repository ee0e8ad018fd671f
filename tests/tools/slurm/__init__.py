"""A cluster of four nodes on this one machine, under Slurm from the system's packages."""
