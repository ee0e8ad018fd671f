"""How does any view look? One renderer for all of them, live and replayed.

Direct labels instead of a legend, every repeat a faint dot, the headline statistic a line or bar,
limits dashed and named in words. Every plot has a name and a summary for those who do not see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from experiments import marks
from experiments.declare import Experiment, specs
from experiments.units import show
from experiments.views import Bars, Limit, Lines, Scale, Timeline, View
from experiments.words import Words
from widgets.axis import UnitAxis
from widgets.items import Block, Blocks
from widgets.theme import Theme
from widgets.ticks import to_axis

BAR_HEIGHT, LANE_HEIGHT = 0.44, 0.7
DOT_ALPHA = 90
HEADROOM = 1.18  # beyond the longest bar, for its number


class Plot(QWidget):
    """One view of an experiment. `draw` may be called as often as there are new rows."""

    def __init__(self, experiment: Experiment[Any], view: View, words: Words, theme: Theme) -> None:
        super().__init__()
        self._experiment, self._view, self._words, self._theme = experiment, view, words, theme
        self._widget = pg.PlotWidget(background=theme.panel)
        self._widget.hideButtons()
        self._widget.setMenuEnabled(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._widget)
        self.setAccessibleName(self._word("views", view.key))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def draw(self, rows: Sequence[Any], values: Mapping[str, float]) -> None:
        """Draw the rows of the view's table and the limits that are known."""
        self._widget.plotItem.clear()
        match self._view:
            case Bars():
                self._draw_bars(self._view, marks.bars(self._view, rows))
            case Lines():
                self._draw_lines(self._view, marks.lines(self._view, rows))
            case Timeline():
                self._draw_lanes(self._view, marks.lanes(self._view, rows))
        for limit in self._view.limits:
            if limit.value in values:
                self._draw_limit(limit, values[limit.value])

    def _draw_bars(self, view: Bars, bars: Sequence[marks.Bar]) -> None:
        detailed = len({bar.detail for bar in bars}) > 1
        names = {
            place: self._label(bar.label, view.detail, bar.detail if detailed else "")
            for place, bar in enumerate(bars)
        }
        unit = self._unit(view.value)
        self._axes(
            UnitAxis("bottom", self._theme, unit=unit), UnitAxis("left", self._theme, names=names)
        )
        blocks, dots = [], []
        for place, bar in enumerate(bars):
            blocks.append(Block(0.0, bar.value, place, self._theme.series_colour(place)))
            dots += [(repeat, place + _jitter(number)) for number, repeat in enumerate(bar.repeats)]
        self._add(Blocks(blocks, BAR_HEIGHT))
        self._add_dots(dots, self._theme.ink)
        for place, bar in enumerate(bars):
            reach = max(bar.repeats)
            self._add_words(
                show(bar.value, unit), reach, place, self._theme.ink, anchor=(-0.1, 0.5)
            )
        longest = max((max(bar.repeats) for bar in bars), default=1.0) or 1.0
        self._range(
            (-0.01 * longest, longest * HEADROOM),
            (-0.6, max(len(bars) - 0.4, 0.6)),
            upside_down=True,
        )

    def _draw_lines(self, view: Lines, series: Sequence[marks.Line]) -> None:
        x, y = view.x, view.y
        self._axes(
            UnitAxis("bottom", self._theme, unit=self._unit(x.column), scale=x.scale),
            UnitAxis("left", self._theme, unit=self._unit(y.column), scale=y.scale),
        )
        for place, line in enumerate(series):
            colour = self._theme.series_colour(place)
            points = [_on_axes(point, x.scale, y.scale) for point in line.points]
            self._add_dots([_on_axes(dot, x.scale, y.scale) for dot in line.dots], colour)
            self._add(
                pg.PlotCurveItem(
                    [point[0] for point in points],
                    [point[1] for point in points],
                    pen=pg.mkPen(colour, width=2),
                    antialias=True,
                )
            )
            if points and line.series:
                words = self._theme.series_colour(place, word=True)
                self._add_words(self._choice(line.series), *points[-1], words, anchor=(1.0, 1.2))
        everything = [_on_axes(dot, x.scale, y.scale) for line in series for dot in line.dots]
        if everything:
            xs, ys = zip(*everything, strict=True)
            pad = (max(ys) - min(ys)) * 0.12 or 0.5
            side = (max(xs) - min(xs)) * 0.03 or 0.5
            self._range(
                (min(xs) - side, max(xs) + side), (min(ys) - pad, max(ys) + pad), upside_down=False
            )

    def _draw_lanes(self, view: Timeline, lanes: Sequence[marks.Lane]) -> None:
        detailed = len({lane.detail for lane in lanes}) > 1
        names, blocks = {}, []
        groups: dict[str, int] = {}
        for place, lane in enumerate(lanes):
            group = self._label(lane.group, view.detail, lane.detail if detailed else "")
            number = int(lane.lane) + 1 if lane.lane.isdigit() else lane.lane
            names[place] = f"{group} {number}"
            colour = self._theme.series_colour(groups.setdefault(group, len(groups)))
            blocks += [Block(start, end, place, colour) for start, end in lane.slices]
        unit = self._unit(view.end)
        self._axes(
            UnitAxis("bottom", self._theme, unit=unit), UnitAxis("left", self._theme, names=names)
        )
        self._add(Blocks(blocks, LANE_HEIGHT))
        end = max((block.end for block in blocks), default=1.0)
        self._range((-0.01 * end, end * 1.03), (-0.6, max(len(lanes) - 0.4, 0.6)), upside_down=True)

    def _draw_limit(self, limit: Limit, value: float) -> None:
        scale: Scale = "linear"
        if isinstance(self._view, Lines):
            scale = (self._view.x if limit.axis == "x" else self._view.y).scale
        line = pg.InfiniteLine(
            to_axis(value, scale),
            angle=90 if limit.axis == "x" else 0,
            pen=pg.mkPen(self._theme.soft, width=1, style=Qt.PenStyle.DashLine),
            label=self._word("lines", limit.key),
            labelOpts={
                "position": 0.97,
                "color": self._theme.soft,
                "anchors": [(0, 0), (0, 0)] if limit.axis == "x" else [(1, 1), (1, 1)],
            },
        )
        line.label.textItem.setFont(self._theme.font("note"))
        self._add(line, ignore_bounds=True)

    def _axes(self, bottom: UnitAxis, left: UnitAxis) -> None:
        self._widget.plotItem.setAxisItems({"bottom": bottom, "left": left})

    def _range(self, x: tuple[float, float], y: tuple[float, float], *, upside_down: bool) -> None:
        box = self._widget.plotItem.vb
        box.invertY(upside_down)
        box.setRange(xRange=x, yRange=y, padding=0.0)

    def _add(self, item: Any, *, ignore_bounds: bool = False) -> None:
        self._widget.plotItem.addItem(item, ignoreBounds=ignore_bounds)

    def _add_dots(self, dots: Sequence[tuple[float, float]], colour: str) -> None:
        brush = QColor(colour)
        brush.setAlpha(DOT_ALPHA)
        self._add(pg.ScatterPlotItem(pos=list(dots), size=5, pen=None, brush=brush))

    def _add_words(
        self, text: str, x: float, y: float, colour: str, *, anchor: tuple[float, float]
    ) -> None:
        item = pg.TextItem(text, color=colour, anchor=anchor)
        item.setFont(self._theme.font("note", weight=600))
        item.setPos(x, y)
        self._add(item, ignore_bounds=True)

    def _label(self, label: str, column: str | None, detail: str) -> str:
        text = self._choice(label)
        return f"{text}, {self._word('columns', column)} {detail}" if column and detail else text

    def _choice(self, text: str) -> str:
        key = f"{self._experiment.id}.choices.{text}"
        return self._words.say(key) if self._words.has(key) else text

    def _word(self, section: str, key: str) -> str:
        return self._words.say(f"{self._experiment.id}.{section}.{key}")

    def _unit(self, column: str) -> str:
        return specs(self._experiment.tables[self._view.table])[column].unit


def _on_axes(point: tuple[float, float], x: Scale, y: Scale) -> tuple[float, float]:
    return to_axis(point[0], x), to_axis(point[1], y)


def _jitter(number: int) -> float:
    """Return a small distance from the middle of a bar: dots of one value stay apart."""
    return ((number * 7) % 9 - 4) / 9 * BAR_HEIGHT * 0.7
