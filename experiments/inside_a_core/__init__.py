"""Shelf: what goes on inside a core, and what the system does around it."""

EXPERIMENTS = ("ilp", "smt", "simd", "noise")
EXPERIMENTS = ("ilp", "branches", "matrix-order", "smt", "simd")
EXPERIMENTS = ("ilp", "branches", "matrix_order", "smt", "simd")
