"""Shelf D: what the precision, the shape and the order of numbers cost."""

EXPERIMENTS: tuple[str, ...] = ()
