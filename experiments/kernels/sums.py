"""The sum of an array of 8-byte elements: in order, or at places that stand in a list.

The same loop reads a list in order and a shuffled one, so only the order differs. A linear
congruential generator writes both lists. Its period is the whole array (Hull and Dobell 1962), so
each lap reads each element once. Constants: D. E. Knuth, MMIX.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

IN_ORDER = (1, 1)  # multiplier and increment: 0, 1, 2 ...
SHUFFLED = (6364136223846793005, 1442695040888963407)


@intrinsic  # type: ignore[misc,unused-ignore]
def vectors_of_256_bits(_typing: Any) -> Any:
    """Limit the calling function's loops to vectors of 256 bits.

    With vectors of 512 bits LLVM fetches four cache lines of one array before it turns to the next.
    On an AMD Zen 4 (family 25, model 17) a triad loses a fifth of its bandwidth, sums a tenth. The
    same loop with 256 bits reaches what C does. For Intel's processors with AVX-512 LLVM chooses
    256 bits by itself; others do not notice.
    """

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        # llvmlite's own `add` knows the attributes without a value only
        set.add(builder.function.attributes, '"prefer-vector-width"="256"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def one_at_a_time(_typing: Any) -> Any:
    """Keep vectors out of the calling function: LLVM makes none where `noimplicitfloat` stands.

    With vectors, an order that can be computed ahead would gain what has nothing to do with memory.
    """

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noimplicitfloat")
        return context.get_dummy_value()

    return types.void(), generate


@njit("uint64(uint64[::1], int64)", nogil=True, cache=True)
def sum_in_a_row(words: np.ndarray, laps: int) -> np.uint64:
    """Return the sum of all elements in order, `laps` times over.

    They are integers, so the compiler may add several at once: this measures memory, not the adder.
    """
    vectors_of_256_bits()
    total = np.uint64(0)
    for _ in range(laps):
        for i in range(words.size):
            total += words[i]
    return total


@njit("void(uint32[::1], uint64, uint64)", nogil=True, cache=True)
def list_places(places: np.ndarray, multiplier: np.uint64, increment: np.uint64) -> None:
    """Write each number below the list's length, a power of two, into it once."""
    one_at_a_time()
    mask, number = np.uint64(places.size - 1), np.uint64(0)
    for i in range(places.size):
        places[i] = number & mask
        number = number * multiplier + increment


@njit("uint64(uint64[::1], uint32[::1], uint64, uint64)", nogil=True, cache=True)
def sum_listed(words: np.ndarray, places: np.ndarray, first: int, count: int) -> np.uint64:
    """Return the sum of `count` elements in the order of a list, from its `first` on, in laps."""
    one_at_a_time()
    size, total = np.uint64(places.size), np.uint64(0)
    place, left = first % size, np.uint64(count)
    while left > np.uint64(0):  # an inner loop of few instructions: more reads are under way
        stop = min(place + left, size)
        for i in range(place, stop):
            total += words[places[i]]
        left -= stop - place
        place = np.uint64(0)
    return total
