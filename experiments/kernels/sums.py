"""The sum of an array of 8-byte elements, read in order or at random.

A linear congruential generator gives the random positions, so no list of positions is read besides.
Its period is the whole array (Hull and Dobell 1962), so each lap reads each element once. The next
position does not wait for the read, so the processor overlaps as many reads as it can. Constants:
D. E. Knuth, MMIX.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)


@intrinsic  # type: ignore[misc,unused-ignore]
def vectors_of_256_bits(_typing: Any) -> Any:
    """Limit the calling function's loops to vectors of 256 bits.

    With vectors of 512 bits LLVM fetches four cache lines of one array before it turns to the next.
    On an AMD Zen 4 (family 25, model 17) that costs a fifth of the bandwidth of a triad and a tenth
    of a sum's. The same loop with 256 bits reaches what C does. For Intel's processors with AVX-512
    LLVM chooses 256 bits by itself; others do not notice.
    """

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        # llvmlite's own `add` knows the attributes without a value only
        set.add(builder.function.attributes, '"prefer-vector-width"="256"')
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


@njit("uint64(uint64[::1], int64, uint64[::1], int64)", nogil=True, cache=True)
def sum_at_random(words: np.ndarray, bits: int, place: np.ndarray, count: int) -> np.uint64:
    """Return the sum of the next `count` of 2^bits elements; `place[0]` holds the position."""
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    number, total = place[0], np.uint64(0)
    for _ in range(count):
        total += words[number & mask]
        number = number * _MULTIPLIER + _INCREMENT
    place[0] = number
    return total
