"""Reads of single bytes at a fixed distance; no compiler joins them into vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LINE_BYTES = 64
UNROLLED = 8


@intrinsic  # type: ignore[misc,unused-ignore]
def _byte(_typing: Any, _address: Any) -> Any:
    """Return the byte at an address, as a program reads it whose compiler knows no more."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load_atomic(place, "monotonic", 1), ir.IntType(64))

    return types.int64(types.uint64), generate


@njit("int64(int64, uint64, int64, int64)", nogil=True, cache=True)
def read_apart(touches: int, base: np.uint64, size_bytes: int, stride_bytes: int) -> int:
    """Read `touches` bytes, `stride_bytes` apart; return their sum.

    At the end of the memory the loop begins again a line later. So it meets no line that it has
    read. `touches` and the number of touches that fill the memory are multiples of 8.
    """
    of_lap = size_bytes // stride_bytes
    total = 0
    for lap in range((touches + of_lap - 1) // of_lap):
        place = base + np.uint64(lap * LINE_BYTES % max(stride_bytes, LINE_BYTES))
        for _ in range(min(of_lap, touches - lap * of_lap) // UNROLLED):
            for n in range(UNROLLED):
                total += _byte(place + np.uint64(n * stride_bytes))
            place += np.uint64(UNROLLED * stride_bytes)
    return total
