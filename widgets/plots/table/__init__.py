"""The table of a run's rows."""
