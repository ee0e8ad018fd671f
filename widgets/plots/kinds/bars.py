"""Bars from zero, with a dot for every repeat and the value in bold beside each bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from experiments.core import marks
from experiments.core.views import Axis, Bars
from widgets.plots.drawing import GHOST, Area, AxisPlan, Beside, Name, Plan, Span, Track
from widgets.plots.labels import Anchor, Wish
from widgets.plots.ranges import reach
from widgets.plots.sheet import DOT_PX, Sheet, text_size
from widgets.plots.terms import Terms
from widgets.plots.ticks import placed
from widgets.style.theme import STEP, Theme

ROW_PX, LEAST_ROW_PX = 60.0, 19.0  # of a bar and the space around it
HALF_BAR = 0.24  # thickness in rows of each of two runs' bars
SCATTER = 0.266  # height in rows of the dots of one bar
GHOST_BAR = 0.6  # wider than the bar over it, which may be longer
APART = 0.21  # distance of two runs' bars from the middle of their row
SECOND_ALPHA = 130  # of the other run's bars
FAR = 3.0  # a limit beyond so many times the longest bar would dwarf the bars


@dataclass(frozen=True, slots=True)
class _Bar:
    """A placed bar; `side` is -1 for the upper of a pair, 1 for the lower, 0 for a single bar."""

    mark: marks.Bar
    name: str
    row: int
    side: int
    number: str  # the text beside it
    colour: int
    is_second: bool = False

    @property
    def is_ghost(self) -> bool:
        """Return whether it stands behind a bar."""
        return self.colour == GHOST

    @property
    def end(self) -> float:
        """The value at which it ends; without a quiet sample it has no length."""
        return 0.0 if self.mark.is_lost else self.mark.value

    @property
    def middle(self) -> float:
        """The place of the bar on the axis of names."""
        return self.row + self.side * APART

    def halves(self, bar: float) -> tuple[float, float]:
        """Return the distances from its middle to its edges; a single bar is `bar` thick."""
        half = (HALF_BAR if self.side else GHOST_BAR if self.is_ghost else bar) / 2
        return -half, half

    def scattered(self) -> list[float]:
        """Return places for the repeats around the middle, so that equal dots stay apart."""
        width = 0.7 * HALF_BAR if self.side else SCATTER
        count = len(self.mark.repeats)
        return [self.middle + ((n * 7) % 9 - 4) / 9 * width for n in range(count)]


class BarsDrawing:
    """Bars one below the other; another run's bars stand right below their counterparts."""

    def __init__(self, view: Bars, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._names: tuple[Name, ...] = ()
        self._bars: tuple[_Bar, ...] = ()
        self._values: tuple[Mapping[str, float], ...] = ({}, {})  # of both runs
        self._left_out = 0

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Group the rows into bars."""
        self._values = (values, beside.values if beside else {})
        ours = self._marks(rows)
        self._left_out = len(rows) - len(self._placed(rows))
        theirs = self._marks(beside.rows) if beside else []
        together = self._marks([*rows, *beside.rows]) if beside else ours
        keys = [(bar.label, bar.detail) for bar in together]
        is_detailed = len({detail for _, detail in keys}) > 1
        self._names = tuple(
            self._terms.name(label, self._view.detail, detail if is_detailed else "")
            for label, detail in keys
        )
        colours = marks.colours(self._view, (label for label, _ in keys))
        run_a, run_b = (beside.name_a, beside.name_b) if beside else ("", "")
        has_ghost = beside is not None and beside.is_ghost
        side = 1 if beside and not has_ghost else 0
        found = [(bar, -side, run_a, False) for bar in ours]
        found += [(bar, side, run_b, True) for bar in theirs]
        bars = []
        for bar, at, run, is_second in found:
            row = keys.index((bar.label, bar.detail))
            name = self._terms.of_run(run, self._terms.one_line(self._names[row]))
            number = self._terms.of_run(run, self._number(bar))
            colour = GHOST if has_ghost and is_second else colours[bar.label]
            bars.append(_Bar(bar, name, row, at, number, colour, is_second))
        self._bars = tuple(sorted(bars, key=lambda bar: (bar.row, not bar.is_ghost, bar.side)))

    def _number(self, bar: marks.Bar) -> str:
        if bar.is_lost:
            return self._terms.say("plot.no_quiet_sample")
        return self._terms.show(bar.value, self._view.value)

    def plan(self) -> Plan:
        """Return an axis of values below, and names at the left."""
        value = self._view.value
        title = self._terms.column(value)
        return Plan(
            x=AxisPlan(unit=self._terms.unit(value), title=title, has_grid=True),
            y=AxisPlan(names=self._names, can_zoom=False, row_px=ROW_PX),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return a range from zero that leaves room for the longest bar's number.

        Disturbed samples set it only where there are no others.
        """
        marks_of = [bar.mark for bar in self._bars]
        ends = [end for mark in marks_of for end in mark.repeats]
        ends = ends or [end for mark in marks_of for end in mark.disturbed]
        longest = max(ends, default=0.0)
        near = [value for value in self._limits() if 0.0 < value <= FAR * longest]
        font = _number_font(theme)
        widest = max((text_size(bar.number, font).width() for bar in self._bars), default=0.0)
        if any(bar.is_ghost for bar in self._bars):  # its number stands after another
            widest *= 2.0
        room = min((widest + 3 * STEP) / size.width(), 0.5)
        low = -reach(-min(ends)) if ends and min(ends) < 0.0 else 0.0
        high = reach(max(longest / (1.0 - room), *near, 0.0))
        return Span((low, high), (-0.5, max(len(self._names), 1) - 0.5))

    def least_px(self, area: Area, theme: Theme) -> float:
        """Return the height that gives each bar a line of text."""
        row_px = LEAST_ROW_PX * theme.zoom
        if any(bar.side for bar in self._bars):  # two lines of text, as far apart as their bars
            line_px = text_size(self._bars[0].number, _number_font(theme, "small")).height()
            row_px = max(row_px, line_px / (2 * APART))
        return len(self._names) * row_px

    def paint(self, sheet: Sheet) -> None:
        """Draw bars and dots, and each number in a gap after its bar, clear of dots and limits."""
        area, theme = sheet.area, sheet.theme
        limits = [area.x_px(limit) for limit in self._limits()]
        for bar in self._bars:
            top, bottom = (area.y_px(bar.middle + half) for half in bar.halves(theme.bar))
            zero, end = area.x_px(0.0), area.x_px(bar.end)
            rect = QRectF(QPointF(zero, top), QPointF(end, bottom)).normalized()
            alpha = SECOND_ALPHA if bar.is_second else 255
            sheet.block(rect, sheet.colour(bar.colour), alpha)
        for bar, track in zip(self._bars, self.tracks(), strict=True):
            if bar.is_ghost:
                continue
            sheet.dots(track.xs[1:], track.ys[1:], theme.ink)
            disturbed = np.array(bar.mark.disturbed)
            at = np.full(len(disturbed), bar.middle)
            sheet.dots(disturbed, at, theme.ink, is_hollow=True)
            font = _number_font(theme, "small" if bar.side else "note")
            aside = DOT_PX / 2 * theme.zoom + STEP  # from the middle of a dot
            room = text_size(bar.number, font).width() + 2 * aside
            end, *dots = (area.x_px(x) for x in track.xs)
            left = _first_gap(end, [*dots, *limits], room)
            is_full = left + room > area.rect.right() + aside  # then it rather covers dots
            left = end if is_full else left
            if area.rect.left() <= left <= area.rect.right():
                anchor = Anchor(QPointF(left + aside, area.y_px(bar.middle)))
                wish = Wish(
                    bar.number, (anchor,), theme.ink, font, stays_in_row=True, stays_put=is_full
                )
                sheet.wishes.append(wish)
        for bar in self._bars:
            if bar.is_ghost:  # its value stands after the numbers of those over it
                tip = area.point(bar.end, bar.middle) + QPointF(2.0 * STEP, 0.0)
                anchors, font = (Anchor(tip),), theme.font("small")
                wish = Wish(bar.number, anchors, theme.soft, font, stays_in_row=True)
                sheet.wishes.append(wish)

    def tracks(self) -> Sequence[Track]:
        """Return a track per bar: first its end, then its repeats."""
        return [
            Track(
                bar.name,
                bar.colour,
                np.array([bar.end, *bar.mark.repeats]),
                np.array([bar.middle, *bar.scattered()]),
                label=bar.mark.label,
                detail=bar.mark.detail,
            )
            for bar in self._bars
        ]

    def read(self, track: int, point: int) -> str:
        """Return name, round, value and the distance to the nearest limit."""
        bar, terms = self._bars[track], self._terms
        if bar.mark.is_lost:
            return terms.joined(bar.name, bar.number)
        if point == 0:
            value = bar.mark.value
            count = len(bar.mark.repeats)
            part = terms.of_count(self._view.statistic, count)
        else:
            value = bar.mark.repeats[point - 1]
            rounds = bar.mark.rounds  # a round may hold several dots
            part = terms.say("plot.round", {"round": rounds[point - 1] + 1}) if rounds else ""
        values = self._values[bar.is_second]
        shown = terms.with_limit(value, self._view.value, "linear", "x", values, bar.mark.label)
        return terms.joined(bar.name, part, shown)

    def summary(self) -> str:
        """Return the value of each bar."""
        said = [
            self._terms.say(
                "plot.bar",
                {"name": bar.name, "value": self._number(bar.mark)},
            )
            for bar in self._bars
        ]
        said.append(self._terms.left_out(self._left_out))
        return " ".join(part for part in said if part)

    def _limits(self) -> list[float]:
        known = [limit.value for limit in self._view.limits if limit.axis == "x"]
        return [values[name] for values in self._values for name in known if name in values]

    def _marks(self, rows: Sequence[Any]) -> list[marks.Bar]:
        return marks.bars(self._view, self._placed(rows), lost=True)

    def _placed(self, rows: Sequence[Any]) -> list[Any]:
        return placed(rows, Axis(self._view.value))


def _first_gap(end: float, taken: Sequence[float], room: float) -> float:
    """Return the first place at or after the bar's end that is followed by so much room."""
    behind = [end, *sorted(px for px in taken if px > end)]
    return next((a for a, b in pairwise(behind) if b - a >= room), behind[-1])


def _number_font(theme: Theme, size: str = "note") -> QFont:
    return theme.font(size, weight=QFont.Weight.Bold)
