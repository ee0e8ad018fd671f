"""The engine: one job, one process; what it says, how it is watched, stopped and kept."""
