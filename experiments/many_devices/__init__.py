"""Shelf E: what several devices gain together, and what their talk costs."""

EXPERIMENTS: tuple[str, ...] = ()
