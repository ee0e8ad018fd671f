"""Compiled loops that experiments share, imported inside `measure` alone.

numba is imported at the top of each module: its disk cache works only so.
"""
