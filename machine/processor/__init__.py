"""Processors: cores, threads, caches, topology and instruction sets."""
