"""Judges rows: statistics, comparisons, and how far they are to be trusted."""
