"""The library of runs: files, index, and what people add to a run."""
