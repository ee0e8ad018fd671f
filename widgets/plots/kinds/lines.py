"""Lines through a statistic along an axis, with a dot for every repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF

from experiments.core import marks
from experiments.core.judging.disturbed import loss_of
from experiments.core.views import Axis, Lines, along
from widgets.plots.drawing import GHOST, Area, AxisPlan, Beside, Plan, Range, Span, Track, square
from widgets.plots.labels import Anchor, Wish
from widgets.plots.owners import Courses, Owner, Path
from widgets.plots.ranges import around
from widgets.plots.sheet import ROUND_DOTS, Curve, Sheet
from widgets.plots.terms import Terms
from widgets.plots.ticks import from_axis, has_place, placed, to_axis
from widgets.style.theme import STEP, Theme

FEW = 12  # so many labels are always shown, even over a line; of more, those that fit
FAR = 3.0  # a linear axis leaves out limits so many times beyond the data
LABELS_AT = tuple(tenths / 10 for tenths in range(10, -1, -1))  # fractions of what is visible


@dataclass(frozen=True, slots=True)
class _Line:
    """One series in places on the axes: the line and the dots."""

    series: str
    label: str  # in words
    colour: int
    is_second: bool
    xs: np.ndarray
    ys: np.ndarray
    dots: Path  # xs and ys of every repeat
    disturbed: Path


@dataclass(frozen=True, slots=True)
class _Newest:
    """The point that was measured last over a ghost, in places on the axes."""

    x: float
    y: float
    colour: int
    is_disturbed: bool
    said: str  # its value


class LinesDrawing:
    """Lines with direct labels; another run's lines are dashed."""

    def __init__(self, view: Lines, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._lines: tuple[_Line, ...] = ()
        self._newest: _Newest | None = None
        self._values: tuple[Mapping[str, float], ...] = ({}, {})  # of both runs
        self._left_out = 0  # repeats that do not fit on a logarithmic axis
        self._along = along(view, terms.experiment.views)
        self._others_xs: tuple[float, ...] = ()

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Group the rows into series."""
        self._values, self._left_out = (values, beside.values if beside else {}), 0
        ours, theirs = self._marks(rows), self._marks(beside.rows) if beside else []
        colours = marks.colours(self._view, (line.series for line in [*ours, *theirs]))
        run_a, run_b = (beside.name_a, beside.name_b) if beside else ("", "")
        is_ghost = beside is not None and beside.is_ghost
        self._lines = tuple(
            self._line(
                line, GHOST if is_second and is_ghost else colours[line.series], run, is_second
            )
            for found, run, is_second in ((ours, run_a, False), (theirs, run_b, True))
            for line in found
        )
        self._newest = self._last_of(rows) if is_ghost else None
        every = [*rows, *beside.rows] if beside else rows
        others = [other for other in self._along if other is not self._view]
        elsewhere = {x for other in others for x in _xs(other, every)}
        self._others_xs = tuple(to_axis(x, self._view.x.scale) for x in elsewhere)

    def plan(self) -> Plan:
        """Return two axes with units, with grid lines at the y ticks."""
        return Plan(x=self._axis(self._view.x), y=self._axis(self._view.y, has_grid=True))

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return a round range around all dots, with room above for labels.

        Disturbed samples set it only where there are no others.
        """
        dots = [line.dots for line in self._lines if len(line.dots[0])]
        if self._newest is not None:
            dots.append((np.array([self._newest.x]), np.array([self._newest.y])))
        dots = dots or [line.disturbed for line in self._lines if len(line.disturbed[0])]
        if not dots:
            return Span((0.0, 1.0), (0.0, 1.0), is_passing=True)
        xs, ys = zip(*dots, strict=True)
        x, y = self._view.x, self._view.y
        every = [*xs, np.array(self._others_xs)] if self._others_xs else xs
        x_low, x_high = self._with_limits(_extent(every), "x", x, self._along)
        y_low, y_high = self._with_limits(_extent(ys), "y", y, [self._view])
        line = QFontMetricsF(theme.font("note")).height()
        room = (y_high - y_low) * min(1.5 * line / size.height(), 0.3)
        is_one_count = x_low == x_high and x.scale == "linear" and self._terms.is_count(x.column)
        return Span(
            (x_low - 0.5, x_high + 0.5) if is_one_count else around(x_low, x_high, x.scale),
            around(y_low, y_high + room, y.scale),
            is_passing=x_low == x_high or y_low == y_high,
        )

    def least_px(self, area: Area, theme: Theme) -> float:
        """Return the height that holds all labels one below the other."""
        return min(len(self._lines), FEW) * QFontMetricsF(theme.font("note")).height()

    def paint(self, sheet: Sheet) -> None:
        """Draw dots, lines and labels; the first line is on top."""
        theme, upward = sheet.theme, self._lines[::-1]
        paths = sheet.lines(
            [
                Curve(
                    xs=line.xs,
                    ys=line.ys,
                    colour=sheet.colour(line.colour),
                    is_dashed=line.is_second and line.colour != GHOST,
                )
                for line in upward
            ]
        )
        crowd = sum(len(line.dots[0]) for line in self._lines)
        for line in upward:
            colour = sheet.colour(line.colour)
            if len(line.xs) == 1:  # no line is drawn through one point
                sheet.dots(line.xs, line.ys, colour, alpha=255)
            if line.colour == GHOST:
                continue
            if crowd <= ROUND_DOTS or len(line.dots[0]) > len(line.xs):  # else the line shows all
                sheet.dots(*line.dots, colour, crowd=crowd, is_hollow=line.is_second)
            sheet.dots(*line.disturbed, colour, is_hollow=True)
        if self._newest is not None:
            _paint_newest(sheet, self._newest)
        away = 1.0 + 1.5 * STEP * theme.zoom / QFontMetricsF(theme.font("note")).height()
        are_few = len(self._lines) <= FEW
        courses = Courses(paths[::-1])
        for number, (line, path) in enumerate(zip(self._lines, paths[::-1], strict=True)):
            along = _along(path, sheet.area.rect, LABELS_AT if are_few else (1.0, 0.0))
            word, font = sheet.colour(line.colour, word=True), theme.bold()
            if line.label and not len(line.xs) and len(line.disturbed[0]):
                lost = self._terms.joined(line.label, self._terms.say("plot.no_quiet_sample"))
                anchors = [Anchor(sheet.area.rect.topRight(), 1.0, 1.0 - away)]
                sheet.wishes.append(Wish(lost, anchors, word, font))
            if line.label and along:
                owner = Owner(courses, number, list(along.values())[::2])
                anchors = _anchors(along, away)
                # Beside a newest point the number counts; a name that finds no room stays away.
                must = are_few and (self._newest is None or line.is_second)
                sheet.wishes.append(Wish(line.label, anchors, word, font, must, owner=owner))

    def tracks(self) -> Sequence[Track]:
        """Return the points of each line."""
        return [
            Track(line.label, line.colour, line.xs, line.ys, is_aligned=False, label=line.series)
            for line in self._lines
        ]

    def read(self, track: int, point: int) -> str:
        """Return series, x and y, with their distances to the nearest limits."""
        line, view, terms = self._lines[track], self._view, self._terms
        values = self._values[line.is_second]
        x = from_axis(float(line.xs[point]), view.x.scale)
        y = from_axis(float(line.ys[point]), view.y.scale)
        return terms.joined(
            line.label,
            terms.with_limit(x, view.x.column, view.x.scale, "x", values),
            terms.with_limit(y, view.y.column, view.y.scale, "y", values),
        )

    def summary(self) -> str:
        """Return first, last, least and greatest value of each line."""
        said = [self._describe(line) for line in self._lines if len(line.xs)]
        said.append(self._terms.left_out(self._left_out))
        return " ".join(part for part in said if part)

    def _describe(self, line: _Line) -> str:
        terms, x, y = self._terms, self._view.x, self._view.y

        def shown(axis: Axis, place: float) -> str:
            return terms.show(from_axis(float(place), axis.scale), axis.column)

        values = {
            "name": line.label or terms.column(y.column),
            "first_x": shown(x, line.xs[0]),
            "first_y": shown(y, line.ys[0]),
        }
        if len(line.xs) == 1:
            return terms.say("plot.point", values)
        values |= {
            "last_x": shown(x, line.xs[-1]),
            "last_y": shown(y, line.ys[-1]),
            "least": shown(y, line.ys.min()),
            "most": shown(y, line.ys.max()),
        }
        return terms.say("plot.line", values)

    def _last_of(self, rows: Sequence[Any]) -> _Newest | None:
        """Return the point of the last row, as high as its line, else as it was measured."""
        view = self._view
        shown = marks.shown(view, placed(rows[-1:], view.x, view.y))
        if not shown:
            return None
        series = str(getattr(shown[-1], view.series)) if view.series else ""
        value = getattr(shown[-1], view.y.column)
        x, y = (
            to_axis(getattr(shown[-1], view.x.column), view.x.scale),
            to_axis(value, view.y.scale),
        )
        for line in self._lines:
            if line.series == series and not line.is_second and (line.xs == x).any():
                y = float(line.ys[line.xs == x][0])
        said = self._terms.show(from_axis(y, view.y.scale), view.y.column)
        is_disturbed = bool(loss_of(shown[-1]))
        if is_disturbed:
            said = self._terms.say("plot.point_disturbed", {"value": said})
        colours = marks.colours(view, [*(line.series for line in self._lines), series])
        return _Newest(x, y, colours[series], is_disturbed, said)

    def _marks(self, rows: Sequence[Any]) -> list[marks.Line]:
        found = placed(rows, self._view.x, self._view.y)
        self._left_out += len(rows) - len(found)
        return marks.lines(self._view, found, lost=True)

    def _line(self, line: marks.Line, colour: int, run: str, is_second: bool) -> _Line:
        name = self._terms.choice(line.series) if line.series else ""
        points, dots, disturbed = (
            (_places(found[:, 0], self._view.x), _places(found[:, 1], self._view.y))
            for each in (line.points, line.dots, line.disturbed)
            for found in [np.array(each, dtype=float).reshape(-1, 2)]
        )
        label = self._terms.of_run(run, name)
        return _Line(line.series, label, colour, is_second, *points, dots, disturbed)

    def _axis(self, axis: Axis, *, has_grid: bool = False) -> AxisPlan:
        return AxisPlan(
            unit=self._terms.unit(axis.column),
            scale=axis.scale,
            title=self._terms.column(axis.column),
            is_whole=self._terms.is_count(axis.column),
            has_grid=has_grid,
        )

    def _with_limits(self, extent: Range, axis: str, of: Axis, views: Sequence[Lines]) -> Range:
        """Return a range that also holds the views' limits, except those far away."""
        low, high = extent
        limits = [limit for view in views for limit in view.limits]
        for limit, values in product(limits, self._values):
            value = values.get(limit.value)
            if limit.axis != axis or value is None or not has_place(value, of.scale):
                continue
            place = to_axis(value, of.scale)
            if of.scale != "linear" or abs(place) <= FAR * max(abs(low), abs(high)):
                low, high = min(low, place), max(high, place)
        return low, high


def _paint_newest(sheet: Sheet, newest: _Newest) -> None:
    """Draw a ring around the newest point, and its value close by."""
    at, colour = sheet.area.point(newest.x, newest.y), sheet.colour(newest.colour)
    sheet.ring(at, colour)
    if not newest.is_disturbed:
        sheet.dots(np.array([newest.x]), np.array([newest.y]), colour, alpha=255)
    font = sheet.theme.bold()
    reach = 2 * STEP * sheet.theme.zoom
    sheet.occupied.take_rect(square(at, reach))
    away = 1.0 + reach / QFontMetricsF(font).height()
    above, below = (at + QPointF(0.0, down * reach) for down in (-1.0, 1.0))
    anchors = [
        *(Anchor(above, left, 1.0) for left in (0.5, 0.0, 1.0)),
        *(Anchor(below, left, 0.0) for left in (0.5, 0.0, 1.0)),
        *_anchors({0.0: at}, away),
    ]
    word = sheet.colour(newest.colour, word=True)
    sheet.wishes.append(Wish(newest.said, anchors, word, font, stays_close=True))


def _xs(view: Lines, rows: Sequence[Any]) -> set[float]:
    return {getattr(row, view.x.column) for row in marks.shown(view, placed(rows, view.x, view.y))}


def _places(values: np.ndarray, axis: Axis) -> np.ndarray:
    if axis.scale == "linear":
        return values
    return np.asarray(np.log2(values) if axis.scale == "log2" else np.log10(values))


def _extent(parts: Sequence[np.ndarray]) -> Range:
    return min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)


def _along(path: Path, within: QRectF, shares: Sequence[float]) -> dict[float, QPointF]:
    """Return the visible points at these fractions of a line, from its end to its start."""
    xs, ys = path
    reach = within.adjusted(-1.0, -1.0, 1.0, 1.0)
    points = {}
    for share in shares[: len(xs)] if len(xs) < 2 else shares:
        x = float(xs[0] + share * (xs[-1] - xs[0]))
        at = QPointF(x, float(ys[-1] if share == 1.0 else np.interp(x, xs, ys)))
        if reach.contains(at):
            points[share] = at
    return points


def _anchors(along: Mapping[float, QPointF], away: float) -> list[Anchor]:
    """Return label places `away` heights above and below each point of a line."""
    return [
        Anchor(at, left, above)
        for share, at in along.items()
        for above in (away, 1.0 - away)
        for left in (share, 0.5, 1.0 - share)
    ]
