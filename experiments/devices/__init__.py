"""Devices of torch: where tensors live, how their time is taken, and under which conditions.

torch is imported by functions, never at the top: the window reads the catalogue without it.
"""
