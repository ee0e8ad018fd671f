"""The window, the command line, the run library and reports: puts the rooms together."""
