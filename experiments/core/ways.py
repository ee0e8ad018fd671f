"""The ways that a view compares, and whether each has a quiet sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from experiments.core.disturbed import counting
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
    names = (view.label, view.detail) if isinstance(view, Bars) else (view.series, view.x.column)
    return {tuple(getattr(row, name) for name in names if name) for row in rows}


def compared(view: Bars | Lines, rows: Iterable[Any]) -> set[Way]:
    """Return the ways that must have a sample: each bar, and both ends of each line."""
    found = ways(view, rows)
    if isinstance(view, Bars) or view.point is not None:  # where x is measured, no two are alike
        return found if isinstance(view, Bars) else set()
    lines: dict[Way, list[Way]] = {}
    for way in found:
        lines.setdefault(way[:-1], []).append(way)
    return {end for line in lines.values() for end in (min(line), max(line))}
