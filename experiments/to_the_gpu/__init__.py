"""Shelf C: what a GPU is good for, and what the way there and back costs."""

EXPERIMENTS = ("async",)
