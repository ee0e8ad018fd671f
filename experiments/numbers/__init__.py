"""Shelf: what the precision, the shape and the order of numbers cost."""

EXPERIMENTS: tuple[str, ...] = ("amp", "compile", "clinic")
FOLLOW_UPS = {"amp": ("channels_last",), "clinic": ("alignment",)}
