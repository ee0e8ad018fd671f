"""Polynomials over an array that stays in the first-level cache: arithmetic that heats a core.

Each number is read once and then multiplied and added `DEGREE` times. Neighbours do not wait for
each other. So the compiler makes vectors of them, and a core does several at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

DEGREE = 16
NUMBERS = 2048  # 16 KiB, half of the smallest first-level cache
FLOP = 2 * (DEGREE + 1) * NUMBERS  # of a lap: with the weight of each polynomial in the sum
_LOOSE = {"contract", "reassoc", "nsz"}  # a multiply-add in one instruction, sums in any order


def numbers() -> np.ndarray:
    """Return numbers for which every polynomial is a normal number."""
    return np.linspace(0.25, 0.75, NUMBERS)


@njit("float64(float64[::1], int64)", nogil=True, cache=True, fastmath=_LOOSE)
def polynomials(points: np.ndarray, laps: int) -> float:
    """Return the sum of a polynomial of each number, `laps` times over."""
    total = 0.0
    for lap in range(laps):
        first = 0.5 + lap * 1e-12  # another one each lap, or one lap would stand for all
        for i in range(points.size):
            x = points[i]
            y = first
            for _ in range(DEGREE):
                y = y * x + first
            total += 0.5 * y
    return total
