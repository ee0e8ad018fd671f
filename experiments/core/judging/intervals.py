"""Intervals (from, to) on one clock: what they share, and what is left of them."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[float, float]


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return what is covered, in order and without overlaps; what has no length covers nothing."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def length_s(intervals: Iterable[Interval]) -> float:
    """Return how much time is covered, once where several overlap."""
    return sum(end - start for start, end in merged(intervals))


def in_both(first: Iterable[Interval], second: Iterable[Interval]) -> list[Interval]:
    """Return when both are under way."""
    ones, others = merged(first), merged(second)
    found: list[Interval] = []
    here = there = 0
    while here < len(ones) and there < len(others):
        start, end = max(ones[here][0], others[there][0]), min(ones[here][1], others[there][1])
        if start < end:
            found.append((start, end))
        if ones[here][1] < others[there][1]:
            here += 1
        else:
            there += 1
    return found


def without(first: Iterable[Interval], second: Iterable[Interval]) -> list[Interval]:
    """Return when the first is under way and the second is not."""
    edges = [edge for interval in merged(second) for edge in interval]
    gaps = zip([float("-inf"), *edges[1::2]], [*edges[::2], float("inf")], strict=True)
    return in_both(first, gaps)
