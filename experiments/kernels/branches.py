"""The sum of the bytes that reach a limit: with a branch, and without."""

from __future__ import annotations

from typing import Any

from numba import njit

from experiments.kernels.kept import keep

_SIGNATURE = "int64(uint8[::1], int64, int64)"


@njit(_SIGNATURE, nogil=True, cache=True)
def with_branch(numbers: Any, limit: int, laps: int) -> int:
    """Return the sum after `laps`; only a byte that reaches the limit is added."""
    total = 0
    for _ in range(laps):
        for number in numbers:
            if number >= limit:
                total = keep(total + number)
    return total


@njit(_SIGNATURE, nogil=True, cache=True)
def without_branch(numbers: Any, limit: int, laps: int) -> int:
    """Return the same sum; each byte is added, those below the limit times 0."""
    total = 0
    for _ in range(laps):
        for number in numbers:
            total = keep(total + number * (number >= limit))
    return total
