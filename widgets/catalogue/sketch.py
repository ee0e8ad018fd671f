"""How does a plot look as a stamp? The kind of view, or the real marks of a run once there is one.

Pure data in a unit square, y downwards: it can be made in a thread, and is painted by `paint`.
What was not measured is outlined in dashes and has no colour, so that nobody takes it for data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from experiments import marks
from experiments.views import Bars, Code, Field, Heatmap, Lines, Ruler, Scale, Timeline, View
from widgets.theme import Theme

MOST_BARS, MOST_LANES = 6, 6  # more would be hairlines
GAP = 0.3  # of a row, between two bars or lanes
DASHES = (3.0, 3.0)  # of a stamp that only shows what kind of plot there will be
BASE, NEXT = 1, 0  # series: the first bar, which the others are compared with, and the others


@dataclass(frozen=True, slots=True)
class Block:
    """A filled rectangle; `share` is its opacity."""

    left: float
    top: float
    right: float
    bottom: float
    series: int = 0
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    series: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    """A pin on the ground line, up to `top`."""

    x: float
    top: float


Shapes = Sequence[Block | Stroke | Pin]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A stamp."""

    shapes: Shapes
    is_measured: bool = False


# --- what was measured --------------------------------------------------------------------------


def measured(view: View, rows: Sequence[Any]) -> Sketch | None:
    """Return the stamp of these rows; None where a stamp cannot show them."""
    if not rows:
        return None
    shapes: Shapes = ()
    match view:
        case Bars():
            shapes = _bars([bar.value for bar in _of_one_detail(marks.bars(view, rows))])
        case Lines():
            lines = [line.points for line in marks.lines(view, rows)]
            shapes = _strokes(lines, view.x.scale, view.y.scale)
        case Timeline():
            shapes = _lanes([lane.slices for lane in marks.lanes(view, rows)[:MOST_LANES]])
        case Heatmap():
            shapes = _cells(marks.cells(view, rows))
        case Ruler():
            shapes = _pins([bar.value for bar in marks.bars(view, rows)])
    return Sketch(shapes, is_measured=True) if shapes else None


def _of_one_detail(bars: Sequence[marks.Bar]) -> list[marks.Bar]:
    """Return the bars of the detail that has most of them."""
    details = [bar.detail for bar in bars]
    most = max(details, key=details.count)
    return [bar for bar in bars if bar.detail == most][:MOST_BARS]


def _bars(values: Sequence[float]) -> tuple[Block, ...]:
    longest = max(values, default=0.0)
    if longest <= 0:
        return ()
    rows = max(4, len(values))
    return tuple(
        Block(0, row / rows, value / longest, (row + 1 - GAP) / rows, NEXT if row else BASE)
        for row, value in enumerate(values)
    )


def _strokes(
    lines: Sequence[Sequence[tuple[float, float]]], x_scale: Scale, y_scale: Scale
) -> tuple[Stroke, ...]:
    points = [point for line in lines for point in line]
    if len(points) < 2:
        return ()
    across = _measure([x for x, _ in points], x_scale)
    up = _measure([y for _, y in points], y_scale)
    return tuple(
        Stroke(tuple((across(x), 1 - up(y)) for x, y in line), series)
        for series, line in enumerate(lines)
    )


def _lanes(lanes: Sequence[Sequence[tuple[float, float]]]) -> tuple[Block, ...]:
    end = max((end for lane in lanes for _, end in lane), default=0.0)
    if end <= 0:
        return ()
    rows = max(3, len(lanes))
    return tuple(
        Block(start / end, row / rows, stop / end, (row + 1 - GAP) / rows, row)
        for row, lane in enumerate(lanes)
        for start, stop in lane
    )


def _cells(values: dict[tuple[str, str], float]) -> tuple[Block, ...]:
    rows = sorted({row for row, _ in values})
    columns = sorted({column for _, column in values})
    shade = _measure(list(values.values()), "linear")
    side = 1 / max(len(rows), len(columns))
    return tuple(
        Block(
            columns.index(column) * side,
            rows.index(row) * side,
            (columns.index(column) + 0.92) * side,
            (rows.index(row) + 0.92) * side,
            share=0.15 + 0.85 * shade(value),
        )
        for (row, column), value in values.items()
    )


def _pins(values: Sequence[float]) -> tuple[Pin, ...]:
    place = _measure(values, "log10")
    return tuple(Pin(0.04 + 0.92 * place(value), 0.3) for value in values)


def _text(lines: Sequence[tuple[float, float]]) -> tuple[Stroke, ...]:
    """Return lines of text, each from here to there."""
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
_CELLS = (0.15, 0.3, 0.2, 0.9, 0.8, 0.95, 0.3, 0.15, 0.25, 0.85, 0.9, 0.8)


def expected(view: View) -> Sketch:
    """Return the stamp of an experiment that was not measured: the kind of its plot, no result."""
    match view:
        case Bars():
            return Sketch(_bars((0.92, 1.0, 0.5, 0.54)))
        case Lines() if view.series is None or view.only is not None:
            return Sketch((Stroke((*_STEPS, (1, 0.1))),))
        case Lines():
            return Sketch((Stroke(_RISE), Stroke(_SLOWER, 1)))
        case Timeline():
            starts = (0.0, 0.08, 0.16)
            return Sketch(_lanes([[(s + n * 0.26, s + n * 0.26 + 0.17) for n in range(4)]
                                  for s in starts]))  # fmt: skip
        case Heatmap() | Field():
            values = {(str(n // 4), str(n % 4)): value for n, value in enumerate(_CELLS)}
            values |= {("3", str(n)): values["0", str(n)] for n in range(4)}
            return Sketch(_cells(values))
        case Ruler():
            heights = (0.35, 0.2, 0.75, 0.1, 0.2, 0.4, 0.45)
            return Sketch(tuple(Pin(0.04 + 0.15 * place, top) for place, top in enumerate(heights)))
        case Code():
            return Sketch(_text(((0.0, 0.4), (0.1, 0.8), (0.1, 0.6), (0.2, 0.95), (0.0, 0.3))))


# --- on paper -----------------------------------------------------------------------------------


def paint(painter: QPainter, room: QRectF, sketch: Sketch, theme: Theme) -> None:
    """Paint a stamp into a rectangle."""
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
    """What a stamp is drawn with."""

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
        colour = ink.colour(block.series)
        colour.setAlphaF(block.share)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
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
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.colour(0))
    painter.drawEllipse(head, radius, radius)


def _within(room: QRectF, unit: QRectF) -> QRectF:
    return QRectF(
        room.left() + unit.left() * room.width(),
        room.top() + unit.top() * room.height(),
        unit.width() * room.width(),
        unit.height() * room.height(),
    )
