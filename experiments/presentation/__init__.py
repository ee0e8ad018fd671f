"""Shared by window and terminal: the load of a machine, and the numbers of its parts."""
