"""The sum of an array of 8-byte elements, read in a row or in random order.

Random positions are computed, `scramble(i)`, so that no list of positions is read besides; the
loads do not depend on each other, and the processor has as many in flight as it can.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.chains import scramble


@njit("uint64(uint64[::1], int64)", nogil=True, cache=True)
def sum_in_a_row(words: np.ndarray, laps: int) -> np.uint64:
    """Return the sum of all elements, first to last, `laps` times over.

    Integers, so the compiler may add several at once: memory is measured, not the adder.
    """
    total = np.uint64(0)
    for _ in range(laps):
        for i in range(words.size):
            total += words[i]
    return total


@njit("uint64(uint64[::1], int64, int64, int64, uint64)", nogil=True, cache=True)
def sum_at_random(
    words: np.ndarray, bits: int, first: int, count: int, key: np.uint64
) -> np.uint64:
    """Return the sum of `count` elements of the 2^bits in a random order, from turn `first` on."""
    total = np.uint64(0)
    for i in range(count):
        total += words[scramble(np.uint64(first + i), np.uint64(bits), key)]
    return total
