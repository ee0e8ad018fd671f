"""The load of a machine: its last minute, and what is said of each resource."""
