"""The operating system, its limits on this process, and its Pythons."""
