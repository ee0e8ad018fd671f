"""Reads from an open file until told to stop, without the interpreter.

Python takes the GIL between two reads, so 32 of its threads ask less of a fast disk than it can
give. `pread` of the C library is called directly, so only systems that have one can use this.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit, types

_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))
_pread = types.ExternalFunction(
    "pread", types.int64(types.int32, types.uintp, types.uintp, types.int64)
)

MONOTONIC = int(time.CLOCK_MONOTONIC)


@njit("uint64(uint64)", nogil=True, cache=True)
def shifted(number: np.uint64) -> np.uint64:
    """Return the random number that follows one that is not 0 (xorshift, G. Marsaglia 2003)."""
    number ^= number << np.uint64(13)
    number ^= number >> np.uint64(7)
    number ^= number << np.uint64(17)
    return number


@njit(
    "int64(int32, uint64, int64, int64, uint64, boolean, uint64[::1], uint64[::1], int64[::1])",
    nogil=True,
    cache=True,
)
def read_on(
    file: int,
    buffer: np.uint64,
    block_bytes: int,
    blocks: int,
    start: np.uint64,
    at_random: bool,
    over: np.ndarray,
    done: np.ndarray,
    took_ns: np.ndarray,
) -> int:
    """Read blocks of a file with `blocks` of them into address `buffer`, until `over[0]` is set.

    In order from block `start`, or at random from that seed (not 0).
    `done[0]` counts meanwhile, and `took_ns` gets the time of each read while it has room. Returns
    0, or the result of a failed or short read (-1 for the end of the file).
    """
    place, now = start, np.zeros(2, dtype=np.int64)  # a timespec: seconds, nanoseconds
    while over[0] == np.uint64(0):
        place = shifted(place) if at_random else place + np.uint64(1)
        offset = np.int64(place % np.uint64(blocks)) * block_bytes
        _clock(MONOTONIC, now.ctypes.data)
        start_s, start_ns = now[0], now[1]
        arrived = _pread(file, buffer, np.uint64(block_bytes), offset)
        if arrived != block_bytes:
            return -1 if arrived == 0 else arrived
        _clock(MONOTONIC, now.ctypes.data)
        count = np.int64(done[0])
        if count < took_ns.size:
            took_ns[count] = (now[0] - start_s) * 1_000_000_000 + now[1] - start_ns
        done[0] += np.uint64(1)
    return 0


@njit("uint64(uint64[::1], uint64)", nogil=True, cache=True)
def fill(words: np.ndarray, seed: np.uint64) -> np.uint64:
    """Fill `words` with incompressible data from `seed` (not 0); return the next seed."""
    for i in range(words.size):
        seed = shifted(seed)
        words[i] = seed
    return seed
