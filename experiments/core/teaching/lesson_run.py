"""A run as its lesson sees it, a guess about it, and a place in its plots.

Apart from the words of lessons, because every measurement loads this with the experiments' names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import field

from experiments.core.declare import Tables
from experiments.core.judging.disturbed import counting
from experiments.core.judging.trust import Trust
from machine.model import Machine
from machine.record import Record

BELOW = 0.95  # of an ideal: clearly below it


class Guess(Record):
    """A prediction: the number of an option, a number, heights, an order, or a place."""

    kind: Literal["choice", "magnitude", "sketch", "rank", "marker"]
    at: tuple[float, ...]
    sure: int | None = None  # 1 a guess, 2 fairly sure, 3 certain


class LessonRun(Record):
    """The rows of a run that count, and what was found."""

    params: Any
    tables: Tables
    machine: Machine
    message: str
    values: Mapping[str, float] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    trust: Trust = Trust.SOLID


def found(*messages: str) -> Callable[[LessonRun], bool]:
    """Return a function that says whether a run found one of these."""
    return lambda run: run.message in messages


def limited(*limits: str) -> Callable[[LessonRun], bool]:
    """Return a function that says whether one of these limits holds for a run."""
    return lambda run: not set(limits).isdisjoint(run.limits)


class Spot(Record):
    """The right place in a plot: bars, lines or lanes of these names, or a stretch of the axis.

    If one name is not enough, `pairs` names two: row and column of a cell in a map, or label and
    detail of a bar.
    """

    names: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    low: float | None = None
    high: float | None = None


def first_below(line: Mapping[int, float], ideal: Mapping[int, float]) -> Spot:
    """Return the stretch around the first point clearly below the ideal, or else the lowest."""
    shares = {n: line[n] / ideal[n] for n in line.keys() & ideal.keys()}
    if not shares:
        return Spot()
    lowest = min(shares, key=lambda n: shares[n])
    at = min((n for n, share in shares.items() if share < BELOW), default=lowest)
    before = max((n for n in shares if n < at), default=at - 1)
    after = min((n for n in shares if n > at), default=at + 1)
    return Spot(low=(before + at) / 2, high=(at + after) / 2)


def lesson_run(params: Any, tables: Tables, machine: Machine, finding: Any) -> LessonRun:
    """Return a run with its finding as its lesson sees it."""
    return LessonRun(
        params=params,
        tables={name: counting(rows) for name, rows in tables.items()},
        machine=machine,
        message=finding.message,
        values=dict(finding.values),
        limits=tuple(finding.limits),
        unclear=tuple(finding.unclear),
        trust=finding.trust,
    )
