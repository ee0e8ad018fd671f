"""The share of copying time in which the GPU also computes.

These are pure functions of intervals (from, to) in seconds, on one clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments import api as x


def overlap_fraction(copies: Iterable[x.Interval], computing: Iterable[x.Interval]) -> float | None:
    """Return time copying while computing / time copying; None where nothing was copied.

    Source: the communication-computation overlap of Meta's Holistic Trace Analysis.
    """
    moves = x.merged(copies)
    copying_s = x.length_s(moves)
    return x.length_s(x.in_both(moves, computing)) / copying_s if copying_s > 0 else None


def one_after_another(intervals: Sequence[x.Interval]) -> list[x.Interval]:
    """Return, in the given order, when each really ran on an engine that does one at a time.

    The first mark of a piece of work passes when the work is next in its own queue. Its engine may
    still serve another queue then. So such an interval may start too early, by another's time.
    Shortening it changes nothing in what all intervals cover.
    """
    found, free_s = list(intervals), float("-inf")
    for place in sorted(range(len(intervals)), key=lambda n: (intervals[n][1], intervals[n][0])):
        start, end = intervals[place]
        found[place] = min(max(start, free_s), end), end
        free_s = max(free_s, end)
    return found
