"""Reports: what a file that leaves the program says, and the ways to write it."""
