"""Sketch of a plot for a card: the marks of a run, or the kind of plot before the first run.

Pure data in a unit square, y downwards: it can be made in a thread, and `paint` paints it. Marks
have the same colours as in the plot. Before a run they are dashed outlines without colour, so that
they do not look like data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from experiments.core import marks
from experiments.core.declare import specs
from experiments.core.views import (
    Axis,
    Bars,
    Code,
    Field,
    Heatmap,
    Lines,
    Ruler,
    Scale,
    Timeline,
    View,
)
from widgets.plots.ticks import placed
from widgets.style.ink import use_ink
from widgets.style.theme import Theme

MOST_BARS, MOST_LANES = 6, 6  # more would be hairlines
GAP = 0.3  # of a row, between two bars or lanes
DASHES = (3.0, 3.0)  # of a sketch that only shows the kind of plot


@dataclass(frozen=True, slots=True)
class Block:
    """A filled rectangle, in the colour of a series or in a shade of its own."""

    left: float
    top: float
    right: float
    bottom: float
    series: int = 0
    shade: str = ""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    series: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    """A pin on the base line, up to `top`."""

    x: float
    top: float


Cell = tuple[str, str]  # row, column
Shapes = Sequence[Block | Stroke | Pin]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A sketch."""

    shapes: Shapes
    is_measured: bool = False


# --- what was measured --------------------------------------------------------------------------


def measured(view: View, rows: Sequence[Any]) -> Sketch | None:
    """Return the sketch of these rows; None if it cannot show them."""
    if not rows:
        return None
    shapes: Shapes = ()
    match view:
        case Bars():
            bars = marks.bars(view, placed(rows, Axis(view.value)))
            colours = marks.colours(view, (bar.label for bar in bars))
            shown = _of_one_detail(bars)
            shapes = _bars([bar.value for bar in shown], [colours[bar.label] for bar in shown])
        case Lines():
            lines = marks.lines(view, placed(rows, view.x, view.y))
            colours = marks.colours(view, (line.series for line in lines))
            shapes = _strokes(lines, colours, view.x.scale, view.y.scale)
        case Timeline():
            lanes = marks.lanes(view, rows)
            colours = marks.colours(view, (lane.group for lane in lanes))
            del lanes[MOST_LANES:]
            shapes = _lanes(
                [each.slices for each in lanes], [colours[each.group] for each in lanes]
            )
        case Heatmap():
            values = marks.cells(view, rows)
            shapes = _cells(list(values), _shades(values, specs(type(rows[0]))[view.value].scale))
        case Ruler():
            pins = marks.bars(view, placed(rows, Axis(view.value, "log10")))
            shapes = _pins([pin.value for pin in pins])
    return Sketch(shapes, is_measured=True) if shapes else None


def _of_one_detail(bars: Sequence[marks.Bar]) -> list[marks.Bar]:
    """Return the bars of the detail with the most bars."""
    details = [bar.detail for bar in bars]
    most = max(details, key=details.count, default="")
    return [bar for bar in bars if bar.detail == most][:MOST_BARS]


def _bars(values: Sequence[float], colours: Sequence[int]) -> tuple[Block, ...]:
    longest = max(values, default=0.0)
    if longest <= 0:
        return ()
    rows = max(4, len(values))
    return tuple(
        Block(0, row / rows, value / longest, (row + 1 - GAP) / rows, colour)
        for row, (value, colour) in enumerate(zip(values, colours, strict=True))
    )


def _strokes(
    lines: Sequence[marks.Line], colours: Mapping[str, int], x_scale: Scale, y_scale: Scale
) -> tuple[Stroke, ...]:
    """Return the lines in reverse, so that the first is on top."""
    points = [point for line in lines for point in line.points]
    if len(points) < 2:
        return ()
    across = _measure([x for x, _ in points], x_scale)
    up = _measure([y for _, y in points], y_scale)
    return tuple(
        Stroke(tuple((across(x), 1 - up(y)) for x, y in line.points), colours[line.series])
        for line in reversed(lines)
    )


def _lanes(
    lanes: Sequence[Sequence[tuple[float, float]]], colours: Sequence[int]
) -> tuple[Block, ...]:
    end = max((end for lane in lanes for _, end in lane), default=0.0)
    if end <= 0:
        return ()
    rows = max(3, len(lanes))
    return tuple(
        Block(start / end, row / rows, stop / end, (row + 1 - GAP) / rows, colour)
        for row, (lane, colour) in enumerate(zip(lanes, colours, strict=True))
        for start, stop in lane
    )


def _cells(places: Sequence[Cell], shades: Mapping[Cell, str]) -> tuple[Block, ...]:
    if not places:
        return ()
    rows = marks.in_order(row for row, _ in places)
    columns = marks.in_order(column for _, column in places)
    side = 1 / max(len(rows), len(columns))
    return tuple(
        Block(
            columns.index(column) * side,
            rows.index(row) * side,
            (columns.index(column) + 0.92) * side,
            (rows.index(row) + 0.92) * side,
            shade=shades.get((row, column), ""),
        )
        for row, column in places
    )


def _shades(values: Mapping[Cell, float], scale: Scale) -> dict[Cell, str]:
    from widgets.plots.kinds.colour_key import (
        shades_of,  # imports numpy, which the catalogue avoids
    )

    return dict(zip(values, shades_of(list(values.values()), scale), strict=True))


def _pins(values: Sequence[float]) -> tuple[Pin, ...]:
    if not values:
        return ()
    place = _measure(values, "log10")
    return tuple(Pin(0.04 + 0.92 * place(value), 0.3) for value in values)


def _text(lines: Sequence[tuple[float, float]]) -> tuple[Stroke, ...]:
    """Return lines of text as strokes."""
    rows = len(lines)
    return tuple(
        Stroke(((start, (row + 0.5) / rows), (end, (row + 0.5) / rows)))
        for row, (start, end) in enumerate(lines)
    )


def _measure(values: Sequence[float], scale: Scale) -> Callable[[float], float]:
    """Return a function that maps the least of `values` to 0 and the greatest to 1."""
    is_log = scale != "linear" and min(values) > 0
    through: Callable[[float], float] = math.log if is_log else float
    low, high = through(min(values)), through(max(values))
    span = high - low
    return lambda value: (through(value) - low) / span if span > 0 else 0.5


# --- what will be measured ----------------------------------------------------------------------

_STEPS = ((0, 1), (0.2, 1), (0.24, 0.82), (0.45, 0.82), (0.5, 0.58), (0.66, 0.55), (0.72, 0.2))
_RISE = ((0, 1), (0.18, 0.64), (0.36, 0.38), (0.54, 0.24), (0.72, 0.18), (1, 0.14))
_SLOWER = ((0, 1), (0.2, 0.92), (0.4, 0.74), (0.6, 0.62), (0.8, 0.56), (1, 0.54))


def expected(view: View) -> Sketch:
    """Return the sketch of an unmeasured experiment: the kind of its plot, without data."""
    match view:
        case Bars():
            return Sketch(_bars((0.92, 1.0, 0.5, 0.54), (0,) * 4))
        case Lines() if view.series is None or view.only:
            return Sketch((Stroke((*_STEPS, (1, 0.1))),))
        case Lines():
            return Sketch((Stroke(_RISE), Stroke(_SLOWER, 1)))
        case Timeline():
            starts = (0.0, 0.08, 0.16)
            return Sketch(_lanes([[(s + n * 0.26, s + n * 0.26 + 0.17) for n in range(4)]
                                  for s in starts], (0,) * 3))  # fmt: skip
        case Heatmap() | Field():
            return Sketch(_cells([(row, column) for row in "0123" for column in "0123"], {}))
        case Ruler():
            heights = (0.35, 0.2, 0.75, 0.1, 0.2, 0.4, 0.45)
            return Sketch(tuple(Pin(0.04 + 0.15 * place, top) for place, top in enumerate(heights)))
        case Code():
            return Sketch(_text(((0.0, 0.4), (0.1, 0.8), (0.1, 0.6), (0.2, 0.95), (0.0, 0.3))))


# --- on paper -----------------------------------------------------------------------------------


def paint(painter: QPainter, room: QRectF, sketch: Sketch, theme: Theme) -> None:
    """Paint a sketch into a rectangle."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink = _Ink(theme, sketch.is_measured)
    ground = QRectF(0.0, 1.0, 1.0, 0.0)
    if any(isinstance(shape, Pin) for shape in sketch.shapes):
        line = _within(room, ground)
        painter.setPen(QPen(QColor(theme.soft), 1.2))
        painter.drawLine(line.topLeft(), line.topRight())
    for shape in sketch.shapes:
        match shape:
            case Block():
                _paint_block(painter, room, shape, ink)
            case Stroke():
                _paint_stroke(painter, room, shape, ink)
            case Pin():
                _paint_pin(painter, room, shape, ink)
    painter.restore()


@dataclass(frozen=True, slots=True)
class _Ink:
    """Pens and brushes of a sketch."""

    theme: Theme
    is_measured: bool

    def colour(self, series: int) -> QColor:
        return QColor(self.theme.series_colour(series) if self.is_measured else self.theme.soft)

    def pen(self, series: int, width: float) -> QPen:
        pen = QPen(self.colour(series), width * self.theme.zoom)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if self.is_measured:
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        else:
            pen.setWidthF(self.theme.zoom)
            pen.setDashPattern(DASHES)
        return pen


def _paint_block(painter: QPainter, room: QRectF, block: Block, ink: _Ink) -> None:
    size = QRectF(block.left, block.top, block.right - block.left, block.bottom - block.top)
    place, corner = _within(room, size), 2 * ink.theme.zoom
    if ink.is_measured:
        use_ink(painter, fill=block.shade or ink.colour(block.series))
    else:
        painter.setPen(ink.pen(block.series, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(place, corner, corner)


def _paint_stroke(painter: QPainter, room: QRectF, stroke: Stroke, ink: _Ink) -> None:
    painter.setPen(ink.pen(stroke.series, 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(
        QPolygonF([_within(room, QRectF(x, y, 0, 0)).topLeft() for x, y in stroke.points])
    )


def _paint_pin(painter: QPainter, room: QRectF, pin: Pin, ink: _Ink) -> None:
    radius = 3 * ink.theme.zoom
    head = _within(room, QRectF(pin.x, pin.top, 0, 0)).topLeft()
    painter.setPen(ink.pen(0, 1.6))
    painter.drawLine(head, QPointF(head.x(), room.bottom()))
    use_ink(painter, fill=ink.colour(0))
    painter.drawEllipse(head, radius, radius)


def _within(room: QRectF, unit: QRectF) -> QRectF:
    return QRectF(
        room.left() + unit.left() * room.width(),
        room.top() + unit.top() * room.height(),
        unit.width() * room.width(),
        unit.height() * room.height(),
    )
