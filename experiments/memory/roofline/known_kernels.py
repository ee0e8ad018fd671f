"""Loops of known intensity: the FLOP that each makes, and the bytes that it moves.

Counted are the formula's operations and the bytes that must come and go at least once, as STREAM
counts them. A matrix product reads its factors again and again, but from the caches.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from experiments.tools.arrays import ELEMENT_BYTES, Team
from machine.record import Record

ROW = 256  # numbers in a row of the grid: three rows fit the first cache
MATRIX_ROWS = 1024, 16  # at most; a multiple of
POLYNOMIAL = "polynomial"
DEGREES, FEW_DEGREES = (1, 2, 4, 8, 16, 32, 64, 128), (1, 8, 64)


class ThreadLap(Record, kw_only=False):
    """One thread's lap: its operations, and the bytes that it moves."""

    kernel: str
    laps: Callable[[int], object]
    flop: float
    moved_bytes: float

    @property
    def flop_per_byte(self) -> float:
        """The intensity: the place on the plot's axis."""
        return self.flop / self.moved_bytes


def works(team: Team, member: int, degrees: tuple[int, ...]) -> list[ThreadLap]:
    """Return one thread's loops over its arrays while the whole team works."""
    import numpy as np

    from experiments.kernels import streams
    from experiments.kernels.simd_sums import widest_bits

    from . import kernels as flops

    arrays = team.arrays(member, team.share_bytes(len(team)))
    size = arrays[0].size // ROW * ROW
    a, b, c = (array[:size] for array in arrays)
    grid, result = a.reshape(-1, ROW), c.reshape(-1, ROW)
    inner = (grid.shape[0] - 2) * (ROW - 2)
    most, step = MATRIX_ROWS
    rows = min(most, math.isqrt(size) // step * step)
    factors_and_product = [array[: rows * rows].reshape(rows, rows) for array in (a, b, c)]

    def multiply(laps: int) -> None:
        left, right, product = factors_and_product
        for _ in range(laps):
            np.matmul(left, right, out=product)

    def polynomial(degree: int) -> ThreadLap:
        sum_up = functools.partial(flops.polynomial(degree, widest_bits()), a)
        flop = flops.polynomial_flop(degree) * size
        return ThreadLap(POLYNOMIAL, sum_up, flop, ELEMENT_BYTES * size)

    words = ELEMENT_BYTES * size
    return [
        ThreadLap("triad", functools.partial(streams.triad, a, b, c), 2 * size, 3 * words),
        ThreadLap("dot", functools.partial(flops.dot, a, b), 2 * size, 2 * words),
        ThreadLap("stencil", functools.partial(flops.stencil, grid, result), 5 * inner, 2 * words),
        *(polynomial(degree) for degree in degrees),
        ThreadLap("matmul", multiply, 2 * rows**3, 3 * ELEMENT_BYTES * rows**2),
    ]
