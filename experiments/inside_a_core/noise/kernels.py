"""A loop that reads the clock without pause, and notes when the next reading came late."""

from __future__ import annotations

import time

import numpy as np
from numba import njit, types

_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))
MONOTONIC = int(getattr(time, "CLOCK_MONOTONIC", 1))  # Windows has none
S = 1_000_000_000


@njit("UniTuple(int64, 5)(int64, int64, int64[:, ::1])", nogil=True, cache=True)
def watch(length_ns: int, least_ns: int, gaps: np.ndarray) -> tuple[int, int, int, int, int]:
    """Read the clock for so long; note from when to when each longer gap lasted, in ns.

    Returns when it began and ended, the readings, the gaps, and what they took together. Of the
    gaps, those are noted that have room.
    """
    clock = np.zeros(2, dtype=np.int64)  # a timespec: seconds, nanoseconds
    _clock(MONOTONIC, clock.ctypes.data)
    begin = before = clock[0] * S + clock[1]
    readings = found = lost = 0
    while before < begin + length_ns:
        _clock(MONOTONIC, clock.ctypes.data)
        now = clock[0] * S + clock[1]
        if now - before > least_ns:
            if found < gaps.shape[0]:
                gaps[found, 0], gaps[found, 1] = before, now
            found, lost = found + 1, lost + now - before
        before, readings = now, readings + 1
    return begin, before, readings, found, lost
