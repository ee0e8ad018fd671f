"""Shelf A: threads, processes and what it costs to start, to talk and to wait."""

EXPERIMENTS = ("gil_threads",)
