"""Handles over a plot, moved by mouse and keys: the points of a sketched line, or one marker."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen

from experiments.core.views import Axis
from widgets.plots.axes import Painted
from widgets.plots.drawing import Area
from widgets.plots.overlays.axes_of import holding
from widgets.plots.overlays.guess import SECOND, guess_pen
from widgets.plots.ranges import Room
from widgets.plots.sheet import LINE_PX, Sheet, line_pen, text_size, tinted
from widgets.plots.terms import Terms
from widgets.plots.ticks import from_axis, to_axis
from widgets.style.theme import STEP

COARSE, FINE = 1 / 20, 1 / 100  # of the axis, for a key press without and with Shift
RING_PX, CHOSEN_PX = 7.0, 17.0  # radius of a handle, and of the ring around the chosen one
ARROW_PX = 24.0
HIGH = 0.15  # of the area, from its top to the handle of a marker: few marks are there
CHOSEN_ALPHA = 140
KEYS = Qt.Key
SIDEWAYS = {KEYS.Key_Left: -1, KEYS.Key_Right: 1}
FARTHEST = {KEYS.Key_Home: 0, KEYS.Key_End: -1}  # of the handles, or of the ends of a marker
UPWARD = {KEYS.Key_Down: -1, KEYS.Key_Up: 1}


class Sketch:
    """Points of a guessed line at fixed x. Heights have the unit of the column.

    `press`, `drag` and `key` return whether a handle moved; `key` returns None for other keys.
    """

    cursor = Qt.CursorShape.SizeVerCursor

    def __init__(
        self,
        terms: Terms,
        axes: tuple[Axis, Axis],
        xs: Sequence[float],
        heights: Sequence[float],
        low: float,
        high: float,
    ) -> None:
        self._terms = terms
        self._x, self._y = axes
        self._xs = tuple(xs)
        self._places = np.array([to_axis(x, self._x.scale) for x in xs])
        self._ends = low, high
        self.heights = tuple(min(max(height, low), high) for height in heights)
        # What the axes must hold.
        self.room: Room = (holding(self._x, *xs), holding(self._y, low, high))
        self._chosen = 0
        self._grip = 0.0  # from the mouse to the middle of the handle, in pixels

    def press(self, area: Area, at: QPointF) -> bool:
        """Choose the handle of the nearest column, and move it to the mouse unless it is there."""
        self._chosen = int(np.abs(area.x_px(self._places) - at.x()).argmin())
        middle = self._at(area, self._chosen)
        away = middle - at
        is_on_it = abs(away.x()) <= RING_PX and abs(away.y()) <= RING_PX
        self._grip = away.y() if is_on_it else 0.0
        return not is_on_it and self.drag(area, at)

    def drag(self, area: Area, at: QPointF) -> bool:
        """Move the chosen handle up or down."""
        return self._set(area.y_at(at.y() + self._grip))

    def key(self, key: int, area: Area, *, is_fine: bool) -> bool | None:
        """Choose a handle sideways, move it up and down."""
        if key in SIDEWAYS:
            last = len(self._xs) - 1
            self._chosen = min(max(self._chosen + SIDEWAYS[Qt.Key(key)], 0), last)
            return False
        if key in FARTHEST:
            self._chosen = range(len(self._xs))[FARTHEST[Qt.Key(key)]]
            return False
        if key not in UPWARD:
            return None
        low, high = area.sight.y
        step = (high - low) * (FINE if is_fine else COARSE) * UPWARD[Qt.Key(key)]
        return self._set(to_axis(self.heights[self._chosen], self._y.scale) + step)

    def text(self) -> str:
        """Return x and height of the chosen handle."""
        x = self._terms.show(self._xs[self._chosen], self._x.column)
        return self._terms.joined(x, self._value())

    def paint(self, sheet: Painted) -> None:
        """Draw the dashed line, the rings, and arrow and value at the chosen one."""
        area = sheet.area
        points = [self._at(area, number) for number in range(len(self._xs))]
        with sheet.brushed(guess_pen(sheet)) as painter:
            painter.setClipRect(area.rect.adjusted(-RING_PX, -RING_PX, RING_PX, RING_PX))
            for start, end in pairwise(points):
                painter.drawLine(start, end)
        for number, at in enumerate(points):
            if area.rect.adjusted(-1, -1, 1, 1).contains(at):
                _ring(sheet, at, is_chosen=number == self._chosen)
        at = points[self._chosen]
        if area.rect.adjusted(-1, -1, 1, 1).contains(at):
            _value(sheet, at, self._value(), QPointF(0.0, -1.0))

    def _at(self, area: Area, number: int) -> QPointF:
        place = to_axis(self.heights[number], self._y.scale)
        return area.point(float(self._places[number]), place)

    def _value(self) -> str:
        return self._terms.show(self.heights[self._chosen], self._y.column)

    def _set(self, place: float) -> bool:
        """Give the chosen handle a height, a place on the axis; return whether it changed."""
        low, high = self._ends
        height = min(max(from_axis(place, self._y.scale), low), high)
        before = self.heights
        self.heights = (*before[: self._chosen], height, *before[self._chosen + 1 :])
        return self.heights != before


class Marker:
    """One place on the x axis, in the unit of its column; with a `step`, a multiple of it."""

    cursor = Qt.CursorShape.SizeHorCursor

    def __init__(
        self, terms: Terms, axis: Axis, x: float, low: float, high: float, step: float = 0.0
    ) -> None:
        self._terms, self._axis, self._ends, self._step = terms, axis, (low, high), step
        self.room: Room = (holding(axis, low, high), None)
        self.x = self._snapped(x)

    def press(self, area: Area, at: QPointF) -> bool:
        """Move to the mouse."""
        return self.drag(area, at)

    def drag(self, area: Area, at: QPointF) -> bool:
        """Move to the mouse."""
        return self._set(from_axis(area.x_at(at.x()), self._axis.scale))

    def key(self, key: int, area: Area, *, is_fine: bool) -> bool | None:
        """Move along the axis, by one step at least."""
        if key in FARTHEST:
            return self._set(self._ends[FARTHEST[Qt.Key(key)]])
        way = (SIDEWAYS | UPWARD).get(Qt.Key(key))
        if way is None:
            return None
        low, high = area.sight.x
        place = to_axis(self.x, self._axis.scale)
        place += way * (high - low) * (FINE if is_fine else COARSE)
        x = from_axis(place, self._axis.scale)
        if self._snapped(x) == self.x:
            x = self.x + way * self._step
        return self._set(x)

    def text(self) -> str:
        """Return the place."""
        return self._terms.show(self.x, self._axis.column)

    def paint(self, sheet: Painted) -> None:
        """Draw a dashed line with a handle in its middle, and its value."""
        rect = sheet.area.rect
        px = float(sheet.area.x_px(to_axis(self.x, self._axis.scale)))
        if not rect.left() - 1 <= px <= rect.right() + 1:
            return
        with sheet.brushed(guess_pen(sheet)) as painter:
            painter.drawLine(QPointF(px, rect.top()), QPointF(px, rect.bottom()))
        at = QPointF(px, rect.top() + max(HIGH * rect.height(), CHOSEN_PX * sheet.theme.zoom))
        _ring(sheet, at, is_chosen=True)
        _value(sheet, at, self.text(), QPointF(1.0, 0.0))

    def _snapped(self, x: float) -> float:
        low, high = self._ends
        x = min(max(x, low), high)
        return min(max(round(x / self._step) * self._step, low), high) if self._step else x

    def _set(self, x: float) -> bool:
        before, self.x = self.x, self._snapped(x)
        return self.x != before


Handles = Sketch | Marker  # what can be dragged over a plot


def _ring(sheet: Sheet, at: QPointF, *, is_chosen: bool) -> None:
    colour, zoom = sheet.colour(SECOND), sheet.theme.zoom
    pen = QPen(QColor(colour), LINE_PX * zoom)
    with sheet.brushed(pen, QColor(sheet.theme.panel)) as painter:
        painter.drawEllipse(at, RING_PX * zoom, RING_PX * zoom)
    if is_chosen:
        pen = QPen(tinted(colour, CHOSEN_ALPHA), LINE_PX / 2 * zoom)
        with sheet.brushed(pen) as painter:
            painter.drawEllipse(at, CHOSEN_PX * zoom, CHOSEN_PX * zoom)


def _value(sheet: Sheet, at: QPointF, text: str, way: QPointF) -> None:
    """Draw an arrow from the chosen handle, the way it moves, and its value where there is room."""
    theme, rect = sheet.theme, sheet.area.rect
    start = CHOSEN_PX * theme.zoom + STEP
    tip = at + way * (start + ARROW_PX * theme.zoom)
    if not rect.adjusted(-1, -1, 1, 1).contains(tip):
        way = -way
        tip = at + way * (start + ARROW_PX * theme.zoom)
    across, wing = QPointF(way.y(), way.x()), 1.5 * STEP * theme.zoom
    pen = line_pen(sheet.colour(SECOND), LINE_PX * 0.8 * theme.zoom)
    with sheet.brushed(pen) as painter:
        painter.drawLine(at + way * start, tip)
        for side in (-1.0, 1.0):
            painter.drawLine(tip, tip - way * wing + across * (side * wing))
    font = theme.bold()
    size = text_size(text, font)
    box = QRectF(QPointF(at.x() + start, at.y() - start - size.height()), size)
    if box.right() > sheet.bounds.right():
        box.moveRight(at.x() - start)
    if box.top() < rect.top():
        box.moveTop(at.y() + start)
    sheet.veil(box)
    sheet.write(text, font, sheet.colour(SECOND, word=True), box, 0.5)
