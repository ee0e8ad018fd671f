"""Sizes a sample: how many fast operations the clock can time."""

from __future__ import annotations

from collections.abc import Callable

MOST_GROWTH = 100
TRIES = 10


def batch(taken_s: Callable[[int], float], at_least_s: float, *, start: int = 1) -> int:
    """Return a count for which `taken_s(count)` reaches `at_least_s`; also the warm-up.

    From ten on, a multiple of ten.
    """
    count = start
    for _ in range(TRIES):
        once_s = taken_s(count)
        if once_s >= at_least_s:
            break
        growth = min(1.2 * at_least_s / once_s, MOST_GROWTH) if once_s > 0 else MOST_GROWTH
        count = max(count + 1, int(count * growth))
        count = -(-count // 10) * 10 if count > 10 else count
    return count
