"""Shelf: what only the checkup measures; it is not in the catalogue."""

EXPERIMENTS = ("core_sweep", "identical", "patterns", "sustained", "training_step", "frameworks")
