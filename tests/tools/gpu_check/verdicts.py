"""Values beside their physical limits and beside what is expected of a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from experiments.core.units import show, unit_of

EXPECTED = Path(__file__).with_name("expected.json")
TOO_MUCH = 1.02  # of a physical limit: always wrong
WRONG, MISSING, OK = "ABOVE THE LIMIT", "look: missing", "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The range of a value of an experiment or a fact.

    The limit is a number of the card, or the name of another value of the same.
    """

    id: str
    value: str
    low: float | None = None
    high: float | None = None
    limit: str | float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is expected of `card`; `in_full` would leave out too much in a quick run."""

    card: str
    in_full: tuple[str, ...] = ()
    values: Sequence[Expectation] = field(default_factory=tuple)

    def order(self) -> list[str]:
        """Return the experiments, what matters most first."""
        return list(dict.fromkeys(each.id for each in self.values))


def expected(path: Path = EXPECTED) -> Expected:
    """Read the expectations."""
    found = json.loads(path.read_text())
    values = [
        Expectation(id=name, value=value, **about)
        for name, of in found["values"].items()
        for value, about in of.items()
    ]
    return Expected(card=found["card"], in_full=tuple(found["in_full"]), values=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; `verdict` is "" where nothing is expected of this card."""

    id: str
    value: str
    found: float | None
    limit: float | None
    ratio: float | None  # of the limit
    low: float | None
    high: float | None
    before: float | None
    verdict: str


def judged(
    values: Mapping[str, Mapping[str, float]],
    what: Expected,
    card: str,
    before: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[Row]:
    """Yield a row for each expectation of what was run; `values` by id."""
    is_card = what.card in card
    for each in what.values:
        of = values.get(each.id)
        if of is None:
            continue
        limit = of.get(each.limit) if isinstance(each.limit, str) else each.limit
        if not isinstance(each.limit, str) and not is_card:
            limit = None
        found = of.get(each.value)
        ratio = found / limit if found is not None and limit else None
        yield Row(
            id=each.id, value=each.value, found=found, limit=limit, ratio=ratio,
            low=each.low, high=each.high, before=(before or {}).get(each.id, {}).get(each.value),
            verdict=_verdict(found, ratio, each, is_card=is_card),
        )  # fmt: skip


def _verdict(found: float | None, ratio: float | None, each: Expectation, *, is_card: bool) -> str:
    if ratio is not None and ratio > TOO_MUCH:
        return WRONG
    if not is_card:
        return ""
    if found is None:
        return MISSING
    if each.low is not None and found < each.low:
        return "look: low"
    return OK if each.high is None or found <= each.high else "look: high"


def lines(rows: Sequence[Row], card: str) -> Iterator[str]:
    """Yield the table as text."""
    form = "{:50} {:>13} {:>13} {:>6} {:>13}  {:>25}  {}"
    yield form.format("", "value", "limit", "ratio", "before", f"expected of {card}", "verdict")
    for row in rows:
        unit, ends = unit_of(row.value), (row.low, row.high)
        found, limit, before, low, high = (
            "-" if number is None else show(number, unit)
            for number in (row.found, row.limit, row.before, *ends)
        )
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        name = f"{row.id}.{row.value}"
        yield form.format(name, found, limit, ratio, before, f"{low} to {high}", row.verdict)
