"""Values beside their physical limits and beside what is expected of a card."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiments.core.units import show, unit_of

EXPECTED = Path(__file__).with_name("expected")  # one file a card, named as the driver names it
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
    """The expected values of `card`, "" for an unknown card; `in_full` are never run quickly.

    `about` says where the ranges come from.
    """

    card: str
    about: str = ""
    in_full: tuple[str, ...] = ()
    values: Sequence[Expectation] = field(default_factory=tuple)

    def order(self) -> list[str]:
        """Return the experiments, what matters most first."""
        return list(dict.fromkeys(each.id for each in self.values))


def expected(card: str, folder: Path = EXPECTED) -> Expected:
    """Return what is expected of a card by its name.

    Of an unknown one no range is, and only those limits hold that are measured or read with it.
    """
    known = [_read(file) for file in sorted(folder.glob("*.json"))]
    found = next((each for each in known if each.card == card), None)
    return found or replace(
        known[0], card="", values=[_without_numbers(v) for v in known[0].values]
    )


def _read(path: Path) -> Expected:
    found = json.loads(path.read_text())
    values = [
        Expectation(id=name, value=value, **about)
        for name, of in found["values"].items()
        for value, about in of.items()
    ]
    if unknown := found.keys() - {"card", "about", "in_full", "values"}:
        raise ValueError(f"{path.name} has what nobody reads: {', '.join(sorted(unknown))}")
    return Expected(
        card=found["card"],
        about=found.get("about", ""),
        in_full=tuple(found["in_full"]),
        values=values,
    )


def _without_numbers(each: Expectation) -> Expectation:
    limit = each.limit if isinstance(each.limit, str) else None
    return replace(each, low=None, high=None, limit=limit)


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
    before: Mapping[str, Mapping[str, float]] | None = None,
    in_cache: Container[str] = (),
) -> Iterator[Row]:
    """Yield a row for each expectation of what was run; `values` by id.

    `in_cache` are the ids whose run says that a cache answered: no limit of memory holds them.
    """
    for each in what.values:
        of = values.get(each.id)
        if of is None:
            continue
        limit = of.get(each.limit) if isinstance(each.limit, str) else each.limit
        if each.id in in_cache and "memory" in str(each.limit):
            limit = None
        found = of.get(each.value)
        ratio = found / limit if found is not None and limit else None
        yield Row(
            id=each.id, value=each.value, found=found, limit=limit, ratio=ratio,
            low=each.low, high=each.high, before=(before or {}).get(each.id, {}).get(each.value),
            verdict=_verdict(found, ratio, each, is_known=bool(what.card)),
        )  # fmt: skip


def _verdict(found: float | None, ratio: float | None, each: Expectation, *, is_known: bool) -> str:
    if ratio is not None and ratio > TOO_MUCH:
        return WRONG
    if not is_known:
        return ""
    if found is None:
        return MISSING
    if each.low is not None and found < each.low:
        return "look: low"
    return OK if each.high is None or found <= each.high else "look: high"


def lines(rows: Sequence[Row], card: str) -> Iterator[str]:
    """Yield the table as text."""
    form = "{:50} {:>13} {:>13} {:>6} {:>13}  {:>33}  {}"
    of = f"expected of {card or 'it'}"
    yield form.format("", "value", "limit", "ratio", "before", of, "verdict")
    for row in rows:
        unit, ends = unit_of(row.value), (row.low, row.high)
        found, limit, before, low, high = (
            "-" if number is None else show(number, unit)
            for number in (row.found, row.limit, row.before, *ends)
        )
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        name = f"{row.id}.{row.value}"
        yield form.format(name, found, limit, ratio, before, f"{low} to {high}", row.verdict)
