"""macOS: what its own commands report about a machine. One module asks, the others read."""
