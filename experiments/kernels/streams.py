"""The loops of STREAM over arrays of doubles, `laps` times over.

They run over whole slices with indices from 0. Between a low and a high end LLVM would allow for
negative indices. It would gather single elements (10.7 instead of 32 GB/s). Stores are ordinary
ones, so the memory also reads each line before it is written. For `copy` the compiler calls the C
library, which decides for itself.

Source: J. D. McCalpin, STREAM 5.10; a variant of it, not the benchmark itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.sums import sum_in_a_row, vectors_of_256_bits

SCALAR = 3.0
_LOOP = "void(float64[::1], float64[::1], float64[::1], int64)"


@njit(_LOOP, nogil=True, cache=True)
def copy(a: np.ndarray, b: np.ndarray, c: np.ndarray, laps: int) -> None:
    """Do c = a."""
    for _ in range(laps):
        for i in range(c.size):
            c[i] = a[i]


@njit(_LOOP, nogil=True, cache=True)
def scale(a: np.ndarray, b: np.ndarray, c: np.ndarray, laps: int) -> None:
    """Do c = 3 a."""
    vectors_of_256_bits()
    for _ in range(laps):
        for i in range(c.size):
            c[i] = SCALAR * a[i]


@njit(_LOOP, nogil=True, cache=True)
def add(a: np.ndarray, b: np.ndarray, c: np.ndarray, laps: int) -> None:
    """Do c = a + b."""
    vectors_of_256_bits()
    for _ in range(laps):
        for i in range(c.size):
            c[i] = a[i] + b[i]


@njit(_LOOP, nogil=True, cache=True)
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray, laps: int) -> None:
    """Do c = a + 3 b."""
    vectors_of_256_bits()
    for _ in range(laps):
        for i in range(c.size):
            c[i] = a[i] + SCALAR * b[i]


def read(a: np.ndarray, b: np.ndarray, c: np.ndarray, laps: int) -> np.uint64:
    """Read `a` alone: its sum as integers, so that no addition waits for the previous."""
    total: np.uint64 = sum_in_a_row(a.view(np.uint64), laps)
    return total


@njit("uint64(uint64[::1], int64, int64)", nogil=True, cache=True)
def read_with_pauses(words: np.ndarray, block: int, pause: int) -> np.uint64:
    """Read all words, `block` at a time, and spin `pause` turns after each block.

    The spinning is a xorshift generator (G. Marsaglia 2003), which no compiler can shorten.
    """
    total, spun = np.uint64(0), np.uint64(88172645463325252)
    for start in range(0, words.size - block + 1, block):
        part = words[start : start + block]
        for i in range(part.size):
            total += part[i]
        for _ in range(pause):
            spun ^= spun << np.uint64(13)
            spun ^= spun >> np.uint64(7)
            spun ^= spun << np.uint64(17)
    return total ^ spun
