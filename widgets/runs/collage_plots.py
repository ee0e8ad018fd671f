"""The plots of a class collage: what was predicted, and the machines as a cloud; mine is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QSizeF

from experiments.core.declare import Experiment
from experiments.core.units import show
from experiments.core.views import Axis, Lines, Scale, View
from experiments.core.words import Words
from widgets.plots.chart import Chart
from widgets.plots.drawing import AxisPlan, Beside, Drawing, Plan, Range, Span, Track, square
from widgets.plots.labels import Anchor, Wish
from widgets.plots.ranges import around, reach
from widgets.plots.readable import ReadablePlot
from widgets.plots.sheet import Sheet, tinted
from widgets.plots.terms import Terms
from widgets.plots.ticks import to_axis
from widgets.runs.collage_data import Cloud, Numbers, Option, Point
from widgets.runs.collage_guesses import (
    GUESSED,
    MEASURED,
    NumbersDrawing,
    OptionsDrawing,
)
from widgets.style.look import Look
from widgets.style.theme import STEP, Theme

GUESSES, MACHINES = "views.collage_guesses", "views.collage_machines"  # their titles
DOT_ALPHA = 110
DOT_PX, MINE_PX = 5.0, 7.0  # radius
WIDE = 10.0  # times: from here on an axis is logarithmic
AIR = 0.06  # of an axis, beyond the outermost machines
FROM_ANYWHERE = ("celsius",)  # units whose 0 is no beginning

Given = Numbers | Sequence[Option] | Cloud


class CloudDrawing:
    """A dot for each machine; the cursor goes from the left to the right."""

    def __init__(self, terms: Terms, cloud: Cloud) -> None:
        self._terms, self._cloud = terms, cloud
        self._points: Sequence[Point] = ()
        self._scales: tuple[Scale, Scale] = ("linear", "linear")

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Sort the machines along x."""
        self._points = sorted(rows, key=lambda point: (point.x, point.y))
        if rows:
            self._scales = _scale([p.x for p in rows]), _scale([p.y for p in rows])

    def plan(self) -> Plan:
        """Return the two axes."""
        (x, y), (x_unit, y_unit), (x_scale, y_scale) = (
            self._cloud.titles,
            self._cloud.units,
            self._scales,
        )
        return Plan(
            x=AxisPlan(unit=x_unit, scale=x_scale, title=x),
            y=AxisPlan(unit=y_unit, scale=y_scale, title=y, has_grid=True),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return the ranges of the machines, with some air around."""
        xs, ys = self._places()
        (x, y), (x_unit, y_unit) = self._scales, self._cloud.units
        return Span(_aired(xs, x, x_unit), _aired(ys, y, y_unit))

    def paint(self, sheet: Sheet) -> None:
        """Draw the dots; this machine's stands above the others, with its name."""
        found = zip(*self._places(), self._points, strict=True)
        for x, y, each in sorted(found, key=lambda found: found[2].is_here):
            colour = sheet.colour(GUESSED if each.is_here else MEASURED)
            radius = (MINE_PX if each.is_here else DOT_PX) * sheet.theme.zoom
            at = sheet.area.point(x, y)
            with sheet.brushed(
                ground=tinted(colour, 255 if each.is_here else DOT_ALPHA)
            ) as painter:
                painter.drawEllipse(at, radius, radius)
            sheet.occupied.take_rect(square(at, radius))
            if each.is_here:
                aside, font = QPointF(radius + STEP, 0.0), sheet.theme.bold()
                anchors = (Anchor(at + aside), Anchor(at - aside, 1.0))
                here, word = self._terms.say("collage.here"), sheet.colour(GUESSED, word=True)
                sheet.wishes.append(Wish(here, anchors, word, font, stays_close=True))

    def tracks(self) -> Sequence[Track]:
        """Return one track through all machines."""
        xs, ys = self._places()
        return [Track("", MEASURED, np.array(xs), np.array(ys))] if xs else []

    def read(self, track: int, point: int) -> str:
        """Return a machine with both of its numbers."""
        each, units = self._points[point], self._cloud.units
        here = self._terms.say("collage.here") if each.is_here else ""
        numbers = (show(each.x, units[0]), show(each.y, units[1]))
        return self._terms.joined(here, each.said, *numbers)

    def summary(self) -> str:
        """Return how many machines there are, and what is drawn of them."""
        if not self._points:
            return ""
        x, y = self._cloud.titles
        told = self._terms.say("collage.cloud", {"count": len(self._points), "x": x, "y": y})
        here = [n for n, each in enumerate(self._points) if each.is_here]
        return " ".join([told, *(f"{self.read(0, n)}." for n in here)])

    def _places(self) -> tuple[list[float], list[float]]:
        x, y = self._scales
        return [to_axis(p.x, x) for p in self._points], [to_axis(p.y, y) for p in self._points]


def collage_plot(
    given: Given, experiment: Experiment[Any], words: Words, look: Look
) -> ReadablePlot:
    """Return the plot of what was predicted, or of the machines."""
    drawing, rows = _drawing(given)
    plot = ReadablePlot(experiment, _view(given, experiment), words, look, drawing)
    plot.draw(rows, {})
    return plot


def collage_chart(given: Given, experiment: Experiment[Any], words: Words) -> Chart:
    """Return the same without a widget, for a document."""
    drawing, rows = _drawing(given)
    chart = Chart(experiment, _view(given, experiment), words, drawing)
    chart.take(rows, {}, None)
    return chart


def title_of(given: Given, experiment: Experiment[Any], words: Words) -> str:
    """Return the title of such a plot."""
    return Terms(experiment, _view(given, experiment), words).title()


def _view(given: Given, experiment: Experiment[Any]) -> Lines:
    """Return a view that names the plot alone: what is drawn are no rows of a table."""
    key = MACHINES if isinstance(given, Cloud) else GUESSES
    table = next(iter(experiment.tables))
    return Lines(key=key.partition(".")[2], table=table, x=Axis(""), y=Axis(""))


def _drawing(given: Given) -> tuple[Callable[[View, Terms], Drawing], Sequence[Any]]:
    """Return what draws it, and its rows."""
    if isinstance(given, Cloud):
        return lambda _view, terms: CloudDrawing(terms, given), given.points
    if isinstance(given, Numbers):
        return lambda _view, terms: NumbersDrawing(terms, given), given.guesses
    return lambda _view, terms: OptionsDrawing(terms), given


def _scale(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    return "log10" if low > 0 and high / low >= WIDE else "linear"


def _aired(places: Sequence[float], scale: Scale, unit: str) -> Range:
    least, most = min(places, default=0.0), max(places, default=1.0)
    if scale == "linear" and least >= 0.0 and unit not in FROM_ANYWHERE:
        low, high = 0.0, reach(most)  # no time, share or rate begins below nothing
        return low, high + AIR * high
    low, high = around(least, most, scale)
    air = AIR * (high - low)
    return low - air, high + air
