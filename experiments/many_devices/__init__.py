"""Shelf: what several devices gain together, and what their talk costs."""

EXPERIMENTS: tuple[str, ...] = ("two_gpus", "p2p", "data_parallel", "split_model")
