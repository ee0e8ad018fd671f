"""Loops over square matrices, block by block: a part of a product, and a transposition.

`down` is the distance between neighbours in the loop over i, `right` between those in the loop over
j. Exchanged, they swap both loops, and all else stays as it is.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types

from experiments.kernels.kept import keep

_NUMBERS = types.float64[::1]
_WORDS = (types.uint64,) * 5  # without a sign, so that no place is counted from the end


@njit([types.void(*(_NUMBERS,) * 3, *_WORDS)], nogil=True, cache=True)
def multiply(c: Any, a: Any, b: Any, n: int, block: int, steps: int, down: int, right: int) -> None:
    """Add to c the first `steps` of the n products that make up each number of a times b."""
    for top in range(0, n, block):
        for left in range(0, n, block):
            for i in range(top, min(top + block, n)):
                for k in range(steps):
                    factor = a[i * down + k * right]
                    for j in range(left, min(left + block, n)):
                        at = i * down + j * right
                        c[at] = keep(c[at] + factor * b[k * down + j * right])


@njit([types.void(*(_NUMBERS,) * 3, *_WORDS)], nogil=True, cache=True)
def transpose(c: Any, a: Any, _b: Any, n: int, block: int, _: int, down: int, right: int) -> None:
    """Write a into c with rows and columns exchanged."""
    for top in range(0, n, block):
        for left in range(0, n, block):
            for i in range(top, min(top + block, n)):
                for j in range(left, min(left + block, n)):
                    c[j * down + i * right] = keep(a[i * down + j * right])
