"""Windows: what its own calls report about a machine. One module asks, the others read."""
