"""Statistics of repeats as the contract fixes them: best, median, spread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

from experiments.core.judging.comparing import (
    ENOUGH,
    LEVEL,
    WITHIN,
    Outcome,
    Ratio,
    family,
    held,
    load_factor,
    paired,
)

K = TypeVar("K", bound=Hashable)

# What a finding says where it cannot compare; the words are shared by all experiments.
TOO_FEW = "too_few_rounds"
CANNOT_TELL = "cannot_tell"
FEW = 8  # with fewer samples than this the whole range is the spread


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeats of one thing: their median, the interval of most of them, and each by its round.

    `busy_cores` is how many cores the thing keeps busy: the more, the more the load of other
    programs raises its time. Of a rate, which load lowers, it stands with a minus.
    """

    median: float
    low: float
    high: float
    count: int
    by_round: Mapping[int, float] = field(default_factory=dict, compare=False)
    busy_cores: int = 1

    @property
    def samples(self) -> tuple[float, ...]:
        """Every sample, in order of the rounds."""
        return tuple(self.by_round[number] for number in sorted(self.by_round))

    def against(
        self, other: Spread, *, level: float = LEVEL, within: float = WITHIN, is_alike: bool = False
    ) -> Ratio:
        """Compare round by round, in the rounds that both have.

        `is_alike`: load meets both alike, so that it makes no difference beyond chance.
        """
        both = sorted(self.by_round.keys() & other.by_round.keys())
        ones, others = ([each.by_round[n] for n in both] for each in (self, other))
        found = paired(ones, others, level=level, within=within)
        return found if is_alike else held(found, self.busy_cores - other.busy_cores)

    def is_below(self, other: Spread, *, is_alike: bool = False) -> bool:
        """Is it clear that this one is the smaller? `is_alike`: see `against`."""
        found = self.against(other, is_alike=is_alike)
        return found.outcome is Outcome.DIFFERS and not found.is_above

    def is_no_lower(self, other: Spread, *, within: float = WITHIN, is_alike: bool = False) -> bool:
        """Is it clear that this one is lower by no more than that, if at all?

        Load slows both, which makes unlike figures alike. So beside load a result counts only
        beyond the load's factor. The exceptions: load is known to raise one of the two more, or
        both alike (`is_alike`, see `against`).
        """
        found = self.against(other)
        is_hidden = self.busy_cores == other.busy_cores and not is_alike
        factor = load_factor() if is_hidden else 1.0
        return found.count >= ENOUGH and found.low * (1 + within) >= factor

    def is_as(self, other: Spread) -> bool:
        """Is it clear that the two are the same within 5 %?"""
        return self.against(other).outcome is Outcome.SAME


def spread(samples: Iterable[float]) -> Spread | None:
    """Return median and interval of one sample a round, in order; None if empty."""
    return _spread(dict(enumerate(samples)))


def spreads(
    samples: Iterable[tuple[K, float] | tuple[K, float, int]],
    busy_cores: Callable[[K], int] = lambda _: 1,
) -> dict[K, Spread]:
    """Return the spread of each kind; every sample comes with its kind, and with its round.

    Of several samples of a kind in one round their median counts. Without rounds the samples of a
    kind are those of round 0, 1, 2, ... `busy_cores` gives each kind the `busy_cores` of its
    Spread.
    """
    of: dict[K, dict[int, list[float]]] = {}
    for kind, sample, *number in samples:
        rounds = of.setdefault(kind, {})
        rounds.setdefault(number[0] if number else len(rounds), []).append(sample)
    middles = {k: {n: statistics.median(s) for n, s in each.items()} for k, each in of.items()}
    return {
        kind: found for kind, each in middles.items() if (found := _spread(each, busy_cores(kind)))
    }


def spreads_of(
    rows: Iterable[Any],
    value: str,
    *by: str,
    busy_cores: Callable[[Any], int] = lambda _: 1,
    **only: object,
) -> dict[Any, Spread]:
    """Return the spread of one column for each kind of rows, as in `collected`.

    A row belongs to the round of its `repeat`.
    """
    samples = collected(rows, (value, "repeat"), *by, **only)
    return spreads(((kind, *each) for kind, of in samples.items() for each in of), busy_cores)


def best_of(
    rows: Iterable[Any],
    value: str,
    *by: str,
    choose: Callable[[Iterable[Any]], Any] = min,
    **only: object,
) -> dict[Any, Any]:
    """Return the least of one column for each kind of rows, as in `collected`; or the greatest."""
    return {kind: choose(each) for kind, each in collected(rows, value, *by, **only).items()}


def collected(
    rows: Iterable[Any], value: str | tuple[str, ...], *by: str, **only: object
) -> dict[Any, list[Any]]:
    """Return what one column holds, or several, for each kind of rows, in order.

    `by` names the columns that say which kind; of several it is a tuple. Rows count where the
    columns of `only` hold these values.
    """
    kind_of, value_of = attrgetter(*by), attrgetter(*([value] if isinstance(value, str) else value))
    found: dict[Any, list[Any]] = {}
    for row in rows:
        if all(getattr(row, name) == wanted for name, wanted in only.items()):
            found.setdefault(kind_of(row), []).append(value_of(row))
    return found


def _spread(by_round: Mapping[int, float], busy_cores: int = 1) -> Spread | None:
    """Return median and interval (min to max below 8 samples, else p10 to p90); None if empty."""
    ordered = sorted(by_round.values())
    if not ordered:
        return None
    if len(ordered) < FEW:
        low, high = ordered[0], ordered[-1]
    else:
        low, high = quantile(ordered, 0.1), quantile(ordered, 0.9)
    return Spread(statistics.median(ordered), low, high, len(ordered), by_round, busy_cores)


def medians(samples: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Return the median of each kind; every sample comes with the kind that it belongs to."""
    return {kind: found.median for kind, found in spreads(samples).items()}


def ratios(
    pairs: Mapping[str, tuple[Spread, Spread]], verdict: Collection[str] = ()
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return each pair's ratio, first to second, and the names of those that are unclear.

    The ratio is that of the medians. All pairs are one family: together they raise a false alarm
    as seldom as one. The pairs of the `verdict` are a family of their own, as `unsure` judges them:
    else the verdict could state a ratio that is unclear among the others.
    """
    values = {name: one.median / other.median for name, (one, other) in pairs.items()}
    families = ({n: pairs[n] for n in pairs if (n in verdict) is own} for own in (True, False))
    found = {n: each for of in families for n, each in family(of, Spread.against).items()}
    return values, tuple(n for n in pairs if found[n].outcome is Outcome.UNKNOWN)


def standing(of: Mapping[K, Spread], best: K) -> Outcome:
    """Return how the best stands to the others: it differs from all, is as some, or unknown."""
    pairs = {key: (of[best], other) for key, other in of.items() if key != best}
    outcomes = {each.outcome for each in family(pairs, Spread.against).values()}
    return next((o for o in (Outcome.UNKNOWN, Outcome.SAME) if o in outcomes), Outcome.DIFFERS)


def unsure(*pairs: tuple[Spread, Spread]) -> str | None:
    """Return what a finding says where it cannot compare one of the pairs; None where it can."""
    if too_few(each for pair in pairs for each in pair):
        return TOO_FEW
    found = family(dict(enumerate(pairs)), Spread.against)
    is_unknown = any(each.outcome is Outcome.UNKNOWN for each in found.values())
    return CANNOT_TELL if is_unknown else None


def too_few(compared: Iterable[Spread]) -> bool:
    """Was any of these measured so few times that no difference could be claimed?"""
    return any(found.count < ENOUGH for found in compared)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the quantile of sorted samples, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
