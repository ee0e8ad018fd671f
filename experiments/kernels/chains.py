"""A chain of dependent reads through memory, in random order or in a row.

Each node is one 64-byte line that holds the address of the next. The random order is one cycle
through all nodes: node number `scramble(i)` is followed by `scramble(i + 1)`. `scramble` is a
bijection on the numbers below a power of two; numbers past the end are left out. So the order needs
no array, and no prefetcher can guess a step.

Signatures are given because an address that returns to Python is a plain int: numba would unite
int64 with uint64 to float64, in the middle of the chain.

Source: the method of multichase (Google) and lmbench `lat_mem_rd -t`, with raw addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from experiments.kernels.atomics import write

LINE_BYTES = 64
_WORDS = LINE_BYTES // 8
_STEPS = 16  # unrolled by hand: an inner loop would send the address through memory


@intrinsic  # type: ignore[misc,unused-ignore]
def load(_typing: Any, _address: Any) -> Any:
    """Return the uint64 at an address: `*(uint64_t *)address`.

    An index into an array costs one more cycle a step in the first-level cache (measured: 1.36 ns
    against 1.09 ns), which a latency must not contain.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        return builder.load(builder.inttoptr(arguments[0], word.as_pointer()))

    return types.uint64(types.uint64), generate


@njit("uint64(uint64, uint64, uint64)", nogil=True, cache=True)
def scramble(number: np.uint64, bits: np.uint64, key: np.uint64) -> np.uint64:
    """Return a bijection of `number` on 0 .. 2^bits - 1, different for each key.

    Odd factors and shifts to the right are bijections, as in the finalizer of MurmurHash3 (A.
    Appleby). Its two factors mix a dozen bits badly: the walk was 3.5 % faster in the L2 cache than
    in a shuffled order. With four factors there is no difference.
    """
    mask = (np.uint64(1) << bits) - np.uint64(1)
    half, third = bits // np.uint64(2) + np.uint64(1), bits - bits // np.uint64(3)
    number = (number + key) & mask
    number ^= number >> half
    number = (number * np.uint64(0xFF51AFD7ED558CCD)) & mask
    number ^= number >> half
    number = (number * np.uint64(0xC4CEB9FE1A85EC53)) & mask
    number ^= number >> half
    number = (number * np.uint64(0x9E3779B97F4A7C15) + key) & mask
    number ^= number >> third
    number = (number * np.uint64(0xD6E8FEB86659FD93)) & mask
    number ^= number >> half
    return number


@njit("uint64(uint64[::1], int64, uint64, uint64)", nogil=True, cache=True)
def link_random(words: np.ndarray, nodes: int, base: np.uint64, key: np.uint64) -> np.uint64:
    """Chain the first `nodes` lines of `words` (uint64, at address `base`) in one random cycle.

    Returns the address of a node.
    """
    bits = np.uint64(1)
    while (np.uint64(1) << bits) < np.uint64(nodes):
        bits += np.uint64(1)
    first = previous = np.uint64(nodes)
    for i in range(1 << bits):
        node = scramble(np.uint64(i), bits, key)
        if node >= np.uint64(nodes):
            continue
        if previous == np.uint64(nodes):
            first = node
        else:
            words[previous * np.uint64(_WORDS)] = base + node * np.uint64(LINE_BYTES)
        previous = node
    words[previous * np.uint64(_WORDS)] = base + first * np.uint64(LINE_BYTES)
    return base + first * np.uint64(LINE_BYTES)


@njit("uint64(uint64[::1], int64, uint64)", nogil=True, cache=True)
def link_in_a_row(words: np.ndarray, nodes: int, base: np.uint64) -> np.uint64:
    """Chain the first `nodes` lines one after another, the last to the first."""
    for node in range(nodes - 1):
        words[node * _WORDS] = base + np.uint64((node + 1) * LINE_BYTES)
    words[(nodes - 1) * _WORDS] = base
    return base


@njit("uint64(uint64, int64, int64, boolean, uint64)", nogil=True, cache=True)
def link_apart(
    base: np.uint64, nodes: int, apart_bytes: int, spread: bool, key: np.uint64
) -> np.uint64:
    """Chain `nodes` lines in one random cycle, `apart_bytes` apart in memory.

    With `spread`, each lies at another line within its `apart_bytes`. So they do not all fall into
    the same few sets of a cache. Returns the address of a node.
    """
    bits = np.uint64(1)
    while (np.uint64(1) << bits) < np.uint64(nodes):
        bits += np.uint64(1)
    lines = np.uint64(apart_bytes // LINE_BYTES)
    first = previous = np.uint64(0)
    for i in range(1 << bits):
        node = scramble(np.uint64(i), bits, key)
        if node >= np.uint64(nodes):
            continue
        place = base + node * np.uint64(apart_bytes)
        if spread:
            place += scramble(node, np.uint64(32), key) % lines * np.uint64(LINE_BYTES)
        if previous == np.uint64(0):
            first = place
        else:
            write(previous, np.int64(place))
        previous = place
    write(previous, np.int64(first))
    return first


@njit("uint64(int64, uint64)", nogil=True, cache=True)
def walk(steps: int, address: np.uint64) -> np.uint64:
    """Take `steps`, rounded up to a multiple of 16; return the address after them."""
    for _ in range((steps + _STEPS - 1) // _STEPS):
        address = load(load(load(load(load(load(load(load(address))))))))
        address = load(load(load(load(load(load(load(load(address))))))))
    return address


def rounded_steps(steps: int) -> int:
    """Return how many steps `walk` really takes."""
    return -(-steps // _STEPS) * _STEPS
