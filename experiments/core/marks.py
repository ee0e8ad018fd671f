"""The marks of a view: the statistic of every group, and every repeat as a dot.

Disturbed repeats are dots of their own and outside of every statistic. A group of them alone has
none, and keeps its name where a view asks for it (`lost`).
Pure: the window draws these marks, large and as stamps, and the terminal prints them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments.core.judging.disturbed import counting, loss_of
from experiments.core.views import Bars, Heatmap, Lines, Ruler, Statistic, Timeline
from machine.record import Record

_STATISTICS: Mapping[Statistic, Callable[[Iterable[float]], float]] = {
    "median": statistics.median,
    "least": min,
    "greatest": max,
}

Dot = tuple[float, float]


class Bar(Record, kw_only=False):
    """One bar or pin: its label, the smaller word beside it, its value and all repeats."""

    label: str
    detail: str
    value: float
    repeats: tuple[float, ...]
    rounds: tuple[int, ...] = ()  # of each repeat, from 0; none where rows do not say it
    disturbed: tuple[float, ...] = ()

    @property
    def is_lost(self) -> bool:
        """Is there no quiet sample of it? Then its value is NaN."""
        return not self.repeats


class Line(Record, kw_only=False):
    """One series: points (x, y) in order of x, and the repeats behind each as dots (x, y)."""

    series: str
    points: tuple[Dot, ...]
    repeats: tuple[tuple[Dot, ...], ...]
    disturbed: tuple[Dot, ...] = ()

    @property
    def dots(self) -> tuple[Dot, ...]:
        """Return all repeats."""
        return tuple(dot for dots in self.repeats for dot in dots)


class Lane(Record, kw_only=False):
    """One lane of a timeline: the slices (start, end) in seconds, in order."""

    group: str
    detail: str
    lane: str
    slices: tuple[tuple[float, float], ...]


def bars(view: Bars | Ruler, rows: Sequence[Any], *, lost: bool = False) -> list[Bar]:
    """Return a bar for each label and detail; a ruler's pins from the least to the greatest.

    With `lost` those are among them that have no quiet sample.
    """
    disturbed = _groups(view, [row for row in rows if loss_of(row)], view.value)
    summary, rows = _STATISTICS[view.statistic], counting(rows)
    groups = _groups(view, rows, view.value)
    ends = {key: summary(repeats) for key, repeats in groups.items()}
    if isinstance(view, Bars) and view.ratio:
        parts = {key: summary(of) for key, of in _groups(view, rows, view.ratio.column).items()}
        for (label, extra), part in parts.items():
            if whole := parts.get((view.ratio.of, extra)):
                ends[label, extra] = part / whole
    rounds = _groups(view, rows, "repeat") if all(hasattr(row, "repeat") for row in rows) else {}
    found = [
        Bar(
            *key,
            ends[key],
            tuple(repeats),
            tuple(rounds.get(key, ())),
            tuple(disturbed.get(key, ())),
        )
        for key, repeats in groups.items()
    ]
    if lost:
        gone = {key: of for key, of in disturbed.items() if key not in groups}
        found += [Bar(*key, math.nan, (), (), tuple(of)) for key, of in gone.items()]
    if isinstance(view, Ruler):
        return sorted(found, key=lambda bar: bar.value)
    order = view.order
    return sorted(found, key=lambda bar: (_place(bar.label, order), _place(bar.detail, order)))


def _groups(
    view: Bars | Ruler, rows: Sequence[Any], column: str
) -> dict[tuple[str, str], list[Any]]:
    """Return the values of a column by label and detail."""
    detail = view.detail if isinstance(view, Bars) else None
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        key = (str(getattr(row, view.label)), str(getattr(row, detail)) if detail else "")
        groups.setdefault(key, []).append(getattr(row, column))
    return groups


def shown(view: Lines, rows: Sequence[Any]) -> Sequence[Any]:
    """Return the rows of the series that a view shows."""
    if not view.only or view.series is None:
        return rows
    return [row for row in rows if str(getattr(row, view.series)) in view.only]


def lines(view: Lines, rows: Sequence[Any], *, lost: bool = False) -> list[Line]:
    """Return a line for each series; with `lost` also where it has no quiet sample."""
    groups: dict[str, dict[object, list[Dot]]] = {}
    disturbed: dict[str, list[Dot]] = {}
    for row in shown(view, rows):
        series = str(getattr(row, view.series)) if view.series else ""
        dot = (getattr(row, view.x.column), getattr(row, view.y.column))
        point = getattr(row, view.point) if view.point else dot[0]
        if loss_of(row):
            disturbed.setdefault(series, []).append(dot)
        else:
            groups.setdefault(series, {}).setdefault(point, []).append(dot)
    if lost:
        groups |= {series: {} for series in disturbed if series not in groups}
    in_turn = sorted(groups.items(), key=lambda group: _place(group[0], view.order))
    return [
        _line(series, points.values(), view.statistic, disturbed.get(series, ()))
        for series, points in in_turn
    ]


def _line(
    series: str, found: Iterable[list[Dot]], statistic: Statistic, disturbed: Sequence[Dot]
) -> Line:
    """Return the line through the middle of each group of dots in x, and their statistic in y."""
    summary = _STATISTICS[statistic]
    points = sorted(
        (statistics.median(x for x, _ in dots), summary(y for _, y in dots), tuple(dots))
        for dots in found
    )
    return Line(
        series,
        tuple((x, y) for x, y, _ in points),
        tuple(repeats for _, _, repeats in points),
        tuple(disturbed),
    )


def lanes(view: Timeline, rows: Sequence[Any]) -> list[Lane]:
    """Return the lanes, those of one group together."""
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for row in counting(rows):
        group = str(getattr(row, view.group)) if view.group else ""
        detail = str(getattr(row, view.detail)) if view.detail else ""
        key = (group, detail, str(getattr(row, view.lane)))
        groups.setdefault(key, []).append((getattr(row, view.start), getattr(row, view.end)))

    def place(key: tuple[str, str, str]) -> tuple[object, ...]:
        group, detail, lane = key
        return _place(group, view.order), _place(detail, ()), _place(lane, ())

    return [Lane(*key, tuple(sorted(groups[key]))) for key in sorted(groups, key=place)]


def cells(view: Heatmap, rows: Sequence[Any]) -> dict[tuple[str, str], float]:
    """Return the value of every (row, column)."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in counting(rows):
        key = (str(getattr(row, view.row)), str(getattr(row, view.column)))
        groups.setdefault(key, []).append(getattr(row, view.value))
    summary = _STATISTICS[view.statistic]
    return {key: summary(repeats) for key, repeats in groups.items()}


def colours(view: Bars | Lines | Timeline, labels: Iterable[str]) -> dict[str, int]:
    """Return the place in the series colours of each label; in all views of one order the same.

    Bars without an order are all alike: what they are stands beside each.
    """
    if isinstance(view, Bars) and not view.order:
        return dict.fromkeys(labels, 0)
    order = view.order
    found: dict[str, int] = {}
    for label in labels:
        if label not in found:
            others = sum(known not in order for known in found)
            found[label] = order.index(label) if label in order else len(order) + others
    return found


def in_order(labels: Iterable[str], order: Sequence[str] = ()) -> list[str]:
    """Return each label once: as declared, then numbers by value, then words."""
    return sorted(set(labels), key=lambda label: _place(label, order))


def _place(label: str, order: Sequence[str]) -> tuple[int, float, str]:
    """Return the key to sort labels by: as declared, then numbers by value, then words."""
    if label in order:
        return (0, order.index(label), "")
    try:
        return (1, float(label), "")
    except ValueError:
        return (2, 0.0, label)
