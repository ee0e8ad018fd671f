"""Layers of a lesson over a plot: places to click, light, sketches, markers and guesses."""
