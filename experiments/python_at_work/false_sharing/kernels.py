"""A counter in memory: increments that are all written, and reads that are all made."""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.atomics import add, read, write


@njit("void(uint64, int64)", nogil=True, cache=True)
def increment(address: np.uint64, times: int) -> None:
    """Read, add 1 and write, `times` times."""
    for _ in range(times):
        write(address, read(address) + 1)


@njit("void(uint64, int64)", nogil=True, cache=True)
def increment_at_once(address: np.uint64, times: int) -> None:
    """Add 1 atomically, `times` times."""
    for _ in range(times):
        add(address, 1)


@njit("int64(uint64, int64)", nogil=True, cache=True)
def read_often(address: np.uint64, times: int) -> int:
    """Return the sum of `times` reads of one word."""
    total = 0
    for _ in range(times):
        total += read(address)
    return total
