"""Tools that several experiments share: buffers, chains, processes, networks."""
