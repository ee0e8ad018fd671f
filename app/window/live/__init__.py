"""Live: the load of the last minute, recordings of it, and a known load."""
