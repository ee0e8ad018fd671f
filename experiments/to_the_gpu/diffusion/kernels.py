"""One diffusion step for some rows: every cell becomes the mean of itself and its neighbours.

The loop runs over whole rows as slices: indices from 0 let LLVM use vectors.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SHARE = 0.2  # of the cell itself, and of each neighbour


def _signature(kind: str) -> str:
    return f"void({kind}[:, ::1], {kind}[:, ::1], {kind}, int64, int64)"


@njit([_signature("float32"), _signature("float64")], nogil=True, cache=True)
def spread_rows(
    now: np.ndarray, then: np.ndarray, share: np.floating, first: int, last: int
) -> None:
    """Write rows `first` up to `last` of the next field; its edges stay."""
    for row in range(first, last):
        above, here, below = now[row - 1], now[row], now[row + 1]
        out = then[row]
        for column in range(1, here.size - 1):
            total = here[column - 1] + here[column + 1] + above[column] + below[column]
            out[column] = share * (total + here[column])
