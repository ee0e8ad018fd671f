"""Twice the work takes about twice as long where none of it was optimised away."""

from __future__ import annotations

from collections.abc import Callable

TRIES = 12  # a neighbour that comes and goes may spoil some


def takes_twice_as_long(seconds: Callable[[int], float], count: int) -> bool:
    """Compare the least of several times, since all disturbance only adds."""
    for _ in range(TRIES):
        pairs = [(seconds(count), seconds(2 * count)) for _ in range(9)]
        ratio = min(twice for _, twice in pairs) / min(once for once, _ in pairs)
        if 0.8 * 2 < ratio < 1.25 * 2:
            return True
    return False
