"""Shelf: what the precision, the shape and the order of numbers cost."""

EXPERIMENTS: tuple[str, ...] = (
    "amp",
    "alignment",
    "activations",
    "channels_last",
    "compile",
    "clinic",
)
