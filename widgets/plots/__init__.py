"""Plots: axes, ticks, labels, the pointer's reading, and export."""
