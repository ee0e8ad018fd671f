"""The first and the second write to pages of memory."""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.atomics import write


@njit("void(uint64, int64, int64)", nogil=True, cache=True)
def touch(address: np.uint64, page_bytes: int, pages: int) -> None:
    """Write a number to the beginning of each page."""
    for page in range(pages):
        write(address + np.uint64(page * page_bytes), 1)
