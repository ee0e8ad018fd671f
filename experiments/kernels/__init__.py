"""Compiled inner loops, imported inside `measure` alone.

numba stands at the top of each module, because only so does its disk cache work.
"""
