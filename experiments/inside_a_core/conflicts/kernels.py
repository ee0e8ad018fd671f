"""A write and a chained read in turn, of places that may have the same offset in their pages."""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.atomics import write
from experiments.kernels.chains import load


@njit("uint64(int64, uint64, uint64)", nogil=True, cache=True)
def write_and_read(times: int, written: np.uint64, read: np.uint64) -> np.uint64:
    """Write to one place and read the other `times`; the place read holds its own address."""
    write(read, np.int64(read))
    place = read
    for number in range(times):
        write(written, number)
        place = load(place)
    return place
