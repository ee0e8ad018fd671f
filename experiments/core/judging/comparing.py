"""Compares samples of two ways: they differ, they are the same, or it is unclear.

Every comparison is a comparison of ratios, so it works on logarithms. If both ways were measured in
turn, each round gives one ratio: what disturbed a whole round cancels out. The estimate is that of
Hodges and Lehmann (1963): the median of all pairwise averages, or differences. Its interval comes
from the exact distribution of Wilcoxon's signed ranks, or of Mann's and Whitney's U for two runs.
If even the clearest samples could not reach the level that way, it is Student's interval, or
Welch's. If a sample is 0 or less, the differences are compared in place of the ratios.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import statistics
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from enum import StrEnum
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from experiments.core.judging.disturbed import DISTURBED_FRACTION
from machine.record import Record

K = TypeVar("K", bound=Hashable)
S = TypeVar("S")
Interval = tuple[float, float]

LEVEL = 0.01  # of false alarms, in one comparison or in a family of them
WITHIN = 0.05  # what counts as the same, unless an experiment says otherwise
ENOUGH = 3  # of two and two, one time in three all of the one lie below the other by chance
MOST = 200  # samples of one way; of more, neighbours are taken together
EXACT = 60  # samples of one way; with more, the normal distribution is as good


class Outcome(StrEnum):
    """The outcome of a comparison."""

    DIFFERS = "differs"
    SAME = "same"
    UNKNOWN = "unknown"


class Ratio(Record, kw_only=False):
    """The ratio of one way's figure to another's: estimate, interval, outcome.

    The estimate is NaN, and the interval (0, infinity), where a sample is 0 or less.
    """

    ratio: float
    low: float
    high: float
    count: int  # rounds; of two runs, samples of the one with fewer
    outcome: Outcome
    is_above: bool  # is the one's figure the larger, as far as one can tell?


_slower: ContextVar[float] = ContextVar("slower", default=1.0)


@contextlib.contextmanager
def beside_load(factor: float) -> Iterator[None]:
    """Let `held` count as a difference only what lies beyond this factor."""
    before = _slower.set(factor)
    try:
        yield
    finally:
        _slower.reset(before)


def load_factor() -> float:
    """Return how many times slower load may have made what is compared now; 1 without load."""
    return _slower.get()


def alike_within() -> float:
    """Return how far apart the same may be, where no text names 5 %.

    Beside load it is more by what a sample that counts may have lost.
    """
    return WITHIN + (DISTURBED_FRACTION if load_factor() > 1 else 0.0)


def held(found: Ratio, hampered: int = 0) -> Ratio:
    """Return a comparison as it may be claimed beside the load of other programs.

    `hampered` is above 0 if load raises the first figure more than the second. It is below 0 if
    load raises the first less. Load cannot have made a difference that it works against.
    """
    factor = load_factor()
    if factor <= 1 or found.outcome is not Outcome.DIFFERS:
        return found
    is_beyond = found.low > factor if found.is_above else found.high * factor < 1
    is_against = hampered < 0 if found.is_above else hampered > 0
    return found if is_beyond or is_against else replace(found, outcome=Outcome.UNKNOWN)


def paired(
    ones: Sequence[float], others: Sequence[float], *, level: float = LEVEL, within: float = WITHIN
) -> Ratio:
    """Compare two ways measured in turn: sample n of both is of round n.

    Raises ValueError where the numbers of rounds differ.
    """
    is_log, (a, b) = _scaled(ones, others)
    gaps = [one - other for one, other in zip(a, b, strict=True)]
    pairs = itertools.combinations_with_replacement(gaps, 2)
    averages = sorted([(one + other) / 2 for one, other in pairs])
    out = _out_of_rounds(len(gaps), level)
    return _judged(averages, out, partial(_student, gaps), len(gaps), is_log, level, within)


def unpaired(
    ones: Sequence[float], others: Sequence[float], *, level: float = LEVEL, within: float = WITHIN
) -> Ratio:
    """Compare samples of two runs."""
    is_log, (a, b) = _scaled(ones, others)
    gaps = sorted([one - other for one in a for other in b])
    out = _out_of_runs(len(a), len(b), level)
    count = min(len(a), len(b))
    return _judged(gaps, out, partial(_welch, a, b), count, is_log, level, within)


def family(
    pairs: Mapping[K, tuple[S, S]],
    compare: Callable[..., Ratio] = paired,
    *,
    level: float = LEVEL,
    within: float = WITHIN,
) -> dict[K, Ratio]:
    """Compare several pairs so that all of them together raise a false alarm as seldom as one.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    found: dict[K, Ratio] = {}
    left = dict(pairs)
    while left:
        judged = {
            key: compare(*pair, level=level / len(left), within=within)
            for key, pair in left.items()
        }
        differ = {key for key, ratio in judged.items() if ratio.outcome is Outcome.DIFFERS}
        found |= judged
        if not differ:
            break
        left = {key: pair for key, pair in left.items() if key not in differ}
    return {key: found[key] for key in pairs}


def _scaled(*samples: Sequence[float]) -> tuple[bool, list[list[float]]]:
    """Return whether these are logarithms now, and the samples, not more than MOST of a way."""
    is_log = all(sample > 0 for each in samples for sample in each)
    scaled = [[math.log(s) for s in each] if is_log else list(each) for each in samples]
    return is_log, [_fewer(each) for each in scaled]


def _fewer(samples: list[float]) -> list[float]:
    size = math.ceil(len(samples) / MOST)
    if size <= 1:
        return samples
    return [statistics.median(samples[at : at + size]) for at in range(0, len(samples), size)]


def _judged(
    gaps: list[float],
    out: int,
    other_interval: Callable[[float], Interval],
    count: int,
    is_log: bool,
    level: float,
    within: float,
) -> Ratio:
    middle = statistics.median(gaps) if gaps else 0.0
    if count < ENOUGH:
        low, high = -math.inf, math.inf
    elif out:
        low, high = gaps[out - 1], gaps[-out]
    else:
        low, high = other_interval(level)
    if max(-low, high) <= (math.log1p(within) if is_log else 0.0):
        outcome = Outcome.SAME
    elif low > 0 or high < 0:
        outcome = Outcome.DIFFERS
    else:
        outcome = Outcome.UNKNOWN
    ratio, low, high = map(_exp, (middle, low, high)) if is_log else (math.nan, 0.0, math.inf)
    return Ratio(ratio, low, high, count, outcome, is_above=middle > 0)


def _exp(log: float) -> float:
    return math.exp(log) if log < 700 else math.inf


def _out_of_rounds(n: int, level: float) -> int:
    """Return the place of the average from each end that bounds the interval; 0: none does."""
    if n > EXACT:
        return _place(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, level)
    return _place_among(_signed_ranks(n), level)


def _out_of_runs(n: int, m: int, level: float) -> int:
    """Return the place of the difference from each end that bounds the interval; 0: none does."""
    if max(n, m) > EXACT:
        return _place(n * m / 2, n * m * (n + m + 1) / 12, level)
    return _place_among(_u(n, m), level)


def _place_among(ways: list[int], level: float) -> int:
    """Return how many of the lowest values have together no more than half of the level."""
    most = sum(ways) * level / 2
    return next(place for place, sum_ in enumerate(itertools.accumulate(ways)) if sum_ > most)


def _place(mean: float, variance: float, level: float) -> int:
    """Return the same by the normal distribution."""
    return max(0, int(mean + statistics.NormalDist().inv_cdf(level / 2) * math.sqrt(variance)))


@functools.cache
def _signed_ranks(rounds: int) -> list[int]:
    """Return how many subsets of the ranks 1 to `rounds` add up to 0, 1, 2 and so on."""
    ways = [1]
    for rank in range(1, rounds + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    return ways


@functools.cache
def _u(few: int, many: int) -> list[int]:
    """Return in how many orders of two samples the first is above the other 0, 1, 2, ... times."""
    ways = [1] + [0] * (few * many)
    for rank in range(1, few + 1):
        for total in range(len(ways) - 1, many + rank - 1, -1):
            ways[total] -= ways[total - many - rank]
        for total in range(rank, len(ways)):
            ways[total] += ways[total - rank]
    return ways


def _student(logs: list[float], level: float) -> Interval:
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    return _around(statistics.fmean(logs), error, len(logs) - 1, level)


def _welch(ones: list[float], others: list[float], level: float) -> Interval:
    parts = [statistics.variance(each) / len(each) for each in (ones, others)]
    error = math.sqrt(sum(parts))
    freedom = (
        sum(parts) ** 2
        / sum(part**2 / (len(each) - 1) for part, each in zip(parts, (ones, others), strict=True))
        if error
        else 1.0
    )
    return _around(statistics.fmean(ones) - statistics.fmean(others), error, freedom, level)


def _around(middle: float, error: float, freedom: float, level: float) -> Interval:
    far = error * _reach(max(1, int(freedom)), level)  # rounded down, the interval is the wider
    return middle - far, middle + far


@functools.cache
def _reach(freedom: int, level: float) -> float:
    """Return beyond how many standard errors, up and down, Student's t lies with this chance.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4. SciPy has
    it too, but takes a quarter of a second to import, in the window's thread as well.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _chance_within(angle, freedom) < 1 - level:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan(low)


def _chance_within(angle: float, freedom: int) -> float:
    """Return the chance that the size of Student's t is below sqrt(freedom) * tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2
    total, term = 0.0, cosine if is_odd else 1.0
    for k in range(1, freedom // 2 + 1):
        total += term
        term *= cosine**2 * (2 * k / (2 * k + 1) if is_odd else (2 * k - 1) / (2 * k))
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
