"""What window and terminal both say of a machine: the load, and the numbers of its parts."""
