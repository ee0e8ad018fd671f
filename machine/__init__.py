"""The machine: its parts, its theoretical peaks, its load, and why accelerators fail. No Qt."""
