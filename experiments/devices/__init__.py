"""Devices as torch sees them: where tensors live, how work is timed, under which conditions.

Functions import torch, modules never: the window reads the catalogue without it.
"""
