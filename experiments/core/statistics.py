"""Statistics of repeats as the contract fixes them: best, median, spread."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from experiments.core.comparing import ENOUGH

K = TypeVar("K", bound=Hashable)

TOO_FEW = "too_few_rounds"  # what a finding says where it is `too_few`
FEW = 8  # with fewer samples than this the whole range is the spread


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of one thing: their median, and the interval that a difference must leave."""

    median: float
    low: float
    high: float
    count: int
    samples: tuple[float, ...] = field(default=(), compare=False)  # in order of the rounds

    def parts_from(self, other: Spread) -> bool:
        """Do the two intervals not touch? Only then, and of enough, is a difference claimed."""
        return self.is_below(other) or other.is_below(self)

    def is_below(self, other: Spread) -> bool:
        """Does this one part from the other, and is the smaller one?"""
        return min(self.count, other.count) >= ENOUGH and self.high < other.low


def spread(samples: Iterable[float]) -> Spread | None:
    """Return median and interval (min to max below 8 samples, else p10 to p90); None if empty."""
    samples = tuple(samples)
    ordered = sorted(samples)
    if not ordered:
        return None
    if len(ordered) < FEW:
        low, high = ordered[0], ordered[-1]
    else:
        low, high = quantile(ordered, 0.1), quantile(ordered, 0.9)
    return Spread(statistics.median(ordered), low, high, len(ordered), samples)


def spreads(samples: Iterable[tuple[K, float]]) -> dict[K, Spread]:
    """Return the spread of each kind; every sample comes with the kind that it belongs to."""
    of: dict[K, list[float]] = {}
    for kind, sample in samples:
        of.setdefault(kind, []).append(sample)
    return {kind: found for kind, each in of.items() if (found := spread(each))}


def medians(samples: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Return the median of each kind; every sample comes with the kind that it belongs to."""
    return {kind: found.median for kind, found in spreads(samples).items()}


def ratios(pairs: Mapping[str, tuple[Spread, Spread]]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return how often the second of each pair goes into the first, and which do not part."""
    values = {name: one.median / other.median for name, (one, other) in pairs.items()}
    return values, tuple(name for name, (one, other) in pairs.items() if not one.parts_from(other))


def too_few(compared: Iterable[Spread]) -> bool:
    """Was any of these measured so few times that no difference could be claimed?"""
    return any(found.count < ENOUGH for found in compared)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the quantile of sorted samples, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
