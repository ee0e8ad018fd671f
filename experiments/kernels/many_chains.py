"""Several chains of dependent reads, walked side by side by one thread.

The chains do not wait for each other, so their reads overlap. There is one function for each number
of chains, with its own signature: all places then live in registers, as far as there are any. The
others lie on the stack, which costs next to nothing beside a read from memory.
Source: the method of multichase (Google), `-c parallelN`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils
from numba.extending import intrinsic

from experiments.kernels.chains import LINE_BYTES, scramble

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_STEPS = 4  # unrolled by hand


@intrinsic  # type: ignore[misc,unused-ignore]
def _load_each(_typing: Any, addresses: Any) -> Any:
    """Return the uint64 at each address of a tuple."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(64).as_pointer()
        each = cgutils.unpack_tuple(builder, arguments[0])
        words = [builder.load(builder.inttoptr(address, pointer)) for address in each]
        return context.make_tuple(builder, signature.return_type, words)

    return addresses(addresses), generate


@njit(
    [f"UniTuple(uint64, {n})(int64, UniTuple(uint64, {n}))" for n in COUNTS], nogil=True, cache=True
)
def walk_all(steps: int, places: tuple[np.uint64, ...]) -> tuple[np.uint64, ...]:
    """Take `steps`, rounded up to a multiple of 4, in each chain; return the last addresses."""
    for _ in range((steps + _STEPS - 1) // _STEPS):
        places = _load_each(_load_each(_load_each(_load_each(places))))
    return places


@njit("uint64(uint64, int64, uint64, uint64)", nogil=True, cache=True)
def place_in_cycle(number: int, nodes: int, base: np.uint64, key: np.uint64) -> np.uint64:
    """Return the address of a node of `link_random`'s chain, by its place in it.

    `nodes` is a power of two: then no number of the cycle was left out.
    """
    bits = np.uint64(0)
    while (np.uint64(1) << bits) < np.uint64(nodes):
        bits += np.uint64(1)
    turn = np.uint64(number) & np.uint64(nodes - 1)
    node: np.uint64 = scramble(turn, bits, key)
    return base + node * np.uint64(LINE_BYTES)


def rounded_steps(steps: int) -> int:
    """Return how many steps `walk_all` really takes in each chain."""
    return -(-steps // _STEPS) * _STEPS
