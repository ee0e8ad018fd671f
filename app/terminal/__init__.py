"""The commands of the terminal, one file each, and how results are drawn in text."""
