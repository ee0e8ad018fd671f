"""The list of kept runs, the details of one, the bin, and the look into imported files."""
