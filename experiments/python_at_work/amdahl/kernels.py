"""Arithmetic that only fills one core: no memory, no shortcut for the compiler.

Source: G. Marsaglia, Xorshift RNGs (2003); each step needs the previous one.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("uint64(int64, uint64)", nogil=True, cache=True)
def mix(turns: int, seed: np.uint64) -> np.uint64:
    """Return `seed`, not 0, after `turns` of xorshift."""
    for _ in range(turns):
        seed ^= seed << np.uint64(13)
        seed ^= seed >> np.uint64(7)
        seed ^= seed << np.uint64(17)
    return seed
