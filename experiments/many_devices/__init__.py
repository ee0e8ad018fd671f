"""Shelf: what several devices gain together, and what their talk costs."""

EXPERIMENTS: tuple[str, ...] = ("data_parallel", "split_model")
