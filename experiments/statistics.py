"""What do repeats say together? The statistics of contracts: best, median, spread."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ENOUGH = 3  # of two and two, one time in three all of the one lie below the other by chance
FEW = 8  # with fewer samples than this the whole range is the spread


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of one thing: their median, and the interval that a difference must leave."""

    median: float
    low: float
    high: float
    count: int

    def parts_from(self, other: Spread) -> bool:
        """Do the two intervals not touch? Only then, and of enough, is a difference claimed."""
        if min(self.count, other.count) < ENOUGH:
            return False
        return self.high < other.low or other.high < self.low


def spread(samples: Iterable[float]) -> Spread | None:
    """Return median and interval (min to max below 8 samples, else p10 to p90); None if empty."""
    ordered = sorted(samples)
    if not ordered:
        return None
    if len(ordered) < FEW:
        low, high = ordered[0], ordered[-1]
    else:
        low, high = quantile(ordered, 0.1), quantile(ordered, 0.9)
    return Spread(statistics.median(ordered), low, high, len(ordered))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the quantile of sorted samples, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
