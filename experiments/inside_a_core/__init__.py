"""Shelf: what goes on inside a core, and what the system does around it."""

EXPERIMENTS = ("ilp", "branches", "matrix_order", "smt", "simd", "noise")
