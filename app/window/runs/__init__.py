"""The place of the runs: list, details, import, export, bin."""
