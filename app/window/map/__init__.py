"""The map of the machine, with measured numbers and the load."""
