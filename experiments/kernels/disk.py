"""Reads from an open file until a flag in memory is set, without the interpreter.

Python takes the GIL between two reads. So 32 Python threads cannot keep a fast disk busy. The
system is called directly: `pread` of the C library, `ReadFile` on Windows.
Source: "ReadFile function" and "OVERLAPPED structure" of Microsoft; given an offset, it reads
there.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import time
from typing import Any

import numpy as np
from llvmlite import binding
from numba import njit, types

_SCRATCH = 8  # words for a time, or what Windows reads by
_OFFSET, _ARRIVED = 2, 5  # of an OVERLAPPED structure, which takes four words

if sys.platform == "win32":
    _kernel = ctypes.WinDLL("kernel32")
    for _name in ("ReadFile", "QueryPerformanceCounter"):
        binding.add_symbol(_name, ctypes.cast(getattr(_kernel, _name), ctypes.c_void_p).value)
    _read_file = types.ExternalFunction(
        "ReadFile",
        types.int32(types.intp, types.uintp, types.uint32, types.uintp, types.uintp),
    )
    _counter = types.ExternalFunction("QueryPerformanceCounter", types.int32(types.uintp))
    _frequency = ctypes.c_int64()
    _kernel.QueryPerformanceFrequency(ctypes.byref(_frequency))
    TICK_S = 1 / _frequency.value

    @njit("int64(int64[::1])", nogil=True, cache=True)
    def _ticks(scratch: np.ndarray) -> int:
        _counter(scratch.ctypes.data)
        return int(scratch[0])

    @njit("int64(int64, uint64, int64, int64, int64[::1])", nogil=True, cache=True)
    def _read(
        file: int, buffer: np.uint64, block_bytes: int, offset: int, scratch: np.ndarray
    ) -> int:
        """Return how many bytes have arrived, -1 if it failed."""
        scratch[:] = 0
        scratch[_OFFSET] = offset
        of_overlapped = scratch.ctypes.data
        arrived = of_overlapped + 8 * _ARRIVED
        if _read_file(file, buffer, np.uint32(block_bytes), arrived, of_overlapped) == 0:
            return -1
        return int(scratch[_ARRIVED])

    def by_kernel(file: int) -> int:
        """Return by what the loop knows an opened file: its descriptor, or Windows's handle."""
        msvcrt: Any = importlib.import_module("msvcrt")
        return int(msvcrt.get_osfhandle(file))
else:
    _clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uintp))
    _pread = types.ExternalFunction(
        "pread", types.int64(types.int32, types.uintp, types.uintp, types.int64)
    )
    _MONOTONIC = int(time.CLOCK_MONOTONIC)
    TICK_S = 1e-9

    @njit("int64(int64[::1])", nogil=True, cache=True)
    def _ticks(scratch: np.ndarray) -> int:
        _clock(_MONOTONIC, scratch.ctypes.data)
        return int(scratch[0] * 1_000_000_000 + scratch[1])

    @njit("int64(int64, uint64, int64, int64, int64[::1])", nogil=True, cache=True)
    def _read(
        file: int, buffer: np.uint64, block_bytes: int, offset: int, _scratch: np.ndarray
    ) -> int:
        """Return how many bytes have arrived, -1 if it failed."""
        return int(_pread(file, buffer, np.uint64(block_bytes), offset))

    def by_kernel(file: int) -> int:
        """Return by what the loop knows an opened file: its descriptor, or Windows's handle."""
        return file


@njit("uint64(uint64)", nogil=True, cache=True)
def shifted(number: np.uint64) -> np.uint64:
    """Return the random number that follows one that is not 0 (xorshift, G. Marsaglia 2003)."""
    number ^= number << np.uint64(13)
    number ^= number >> np.uint64(7)
    number ^= number << np.uint64(17)
    return number


@njit(
    "int64(int64, uint64, int64, int64, uint64, boolean, uint64[::1], uint64[::1], int64[::1])",
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
    took: np.ndarray,
) -> int:
    """Read blocks of a file with `blocks` of them into address `buffer`, until `over[0]` is set.

    In order from block `start`, or at random from that seed (not 0).
    `done[0]` counts meanwhile, and `took` gets the ticks of each read while it has room. Returns 0,
    or the result of a failed or short read (-1 for the end of the file).
    """
    place, scratch = start, np.zeros(_SCRATCH, dtype=np.int64)
    while over[0] == np.uint64(0):
        place = shifted(place) if at_random else place + np.uint64(1)
        offset = np.int64(place % np.uint64(blocks)) * block_bytes
        before = _ticks(scratch)
        arrived = _read(file, buffer, block_bytes, offset, scratch)
        if arrived != block_bytes:
            return -1 if arrived == 0 else arrived
        after = _ticks(scratch)
        count = np.int64(done[0])
        if count < took.size:
            took[count] = after - before
        done[0] += np.uint64(1)
    return 0


@njit("uint64(uint64[::1], uint64)", nogil=True, cache=True)
def fill(words: np.ndarray, seed: np.uint64) -> np.uint64:
    """Fill `words` with incompressible data from `seed` (not 0); return the next seed."""
    for i in range(words.size):
        seed = shifted(seed)
        words[i] = seed
    return seed
