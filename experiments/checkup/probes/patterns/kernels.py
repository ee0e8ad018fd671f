"""Patterns of bits that are written to memory, and read back word by word.

A word of a pattern follows from its number and a key alone, so nothing is kept to compare with.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .memory import ADDRESS, CHESS, WALKING

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_CHESS = np.uint64(0x5555555555555555)


@njit("uint64(int64, uint64, uint64)", nogil=True, cache=True, inline="always")
def word(kind: int, number: np.uint64, key: np.uint64) -> np.uint64:
    """Return the word of this number: one bit that walks, the number itself, or others.

    The random one is SplitMix64 (G. Steele, D. Lea, C. Flood, 2014) without its last step.
    """
    if kind == WALKING:
        return np.uint64(1) << ((number + key) & np.uint64(63))
    if kind == ADDRESS:
        return number
    if kind == CHESS:
        return _CHESS
    mixed = (number + key) * _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX
    return mixed ^ (mixed >> np.uint64(27))


@njit("void(uint64[::1], int64, uint64, uint64)", nogil=True, cache=True)
def write(words: np.ndarray, kind: int, first: np.uint64, key: np.uint64) -> None:
    """Write a pattern; `first` is the number of the first word."""
    for i in range(words.size):
        words[i] = word(kind, first + np.uint64(i), key)


@njit(
    "int64(uint64[::1], int64, uint64, uint64, uint64, boolean, int64[::1], uint64[::1])",
    nogil=True,
    cache=True,
)
def check(
    words: np.ndarray,
    kind: int,
    first: np.uint64,
    key: np.uint64,
    flip: np.uint64,
    invert: bool,
    places: np.ndarray,
    flipped: np.ndarray,
) -> int:
    """Count the words that are not those of the pattern, each xor `flip`.

    The first wrong ones go into `places` and, as found xor expected, into `flipped`. With `invert`
    each word is written again, inverted, as soon as it was read.
    """
    wrong = 0
    for i in range(words.size):
        expected = word(kind, first + np.uint64(i), key) ^ flip
        found = words[i]
        if invert:
            words[i] = ~expected
        if found != expected:
            if wrong < places.size:
                places[wrong], flipped[wrong] = i, found ^ expected
            wrong += 1
    return wrong
