"""The ways that a view compares, and whether each has a quiet sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.core.judging.disturbed import counting
from experiments.core.views import Bars, Lines, View

Way = tuple[object, ...]


def is_one_lost(views: Iterable[View], table: str, rows: Sequence[Any]) -> bool:
    """Has a bar, or an end of a line, only disturbed samples? Then a comparison lacks a side."""
    of_table = [view for view in views if view.table == table]
    left = counting(rows)
    return any(
        not compared(view, rows) <= ways(view, left)
        for view in of_table
        if isinstance(view, Bars | Lines)
    )


def ways(view: Bars | Lines, rows: Iterable[Any]) -> set[Way]:
    """Return the bars, or the points of the lines, that these rows make."""
    return {tuple(getattr(row, name) for name in columns_of(view)) for row in rows}


def columns_of(view: Bars | Lines) -> tuple[str, ...]:
    """Return the columns that name a way."""
    names = (view.label, view.detail) if isinstance(view, Bars) else (view.series, view.x.column)
    return tuple(name for name in names if name)


def compared(view: Bars | Lines, rows: Iterable[Any]) -> set[Way]:
    """Return the ways that must have a sample: each bar, and both ends of each line.

    A point that came up in some rounds only, as a bin of a histogram does, is no end.
    """
    if isinstance(view, Bars):
        return ways(view, rows)
    if view.point is not None:  # where x is measured, no two are alike
        return set()
    lines: dict[Way, dict[Way, set[int]]] = {}
    for row in rows:
        (way,) = ways(view, [row])
        lines.setdefault(way[:-1], {}).setdefault(way, set()).add(row.repeat)
    return {end for line in lines.values() for end in _ends(line)}


def _ends(line: Mapping[Way, set[int]]) -> tuple[Way, Way]:
    """Return the first and the last way of a line; the last round may have been cut short."""
    most = max(map(len, line.values()))
    often = [way for way, rounds in line.items() if len(rounds) >= min(most, max(2, most - 1))]
    return min(often), max(often)
