"""How did one share go over the last minute? A line over a washed area, from 0 to the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from widgets.live.history import Moment
from widgets.live.minute import MinuteView
from widgets.live.ribbon import Ribbon
from widgets.look import Look
from widgets.theme import mixed

LINE_WIDTH = 1.5
WASH = 0.14  # how much of the line's colour the area has

Value = Callable[[Moment], float | None]


class Sparkline(MinuteView):
    """Draws `value` of each moment, a share of the height; what is unknown stays hatched."""

    def __init__(self, look: Look, value: Value, series: int = 0) -> None:
        super().__init__(look)
        self._value, self._series = value, series
        self._points: list[QPointF] = []  # the last two that hang together, in columns and pixels

    def begin(self) -> None:
        """Begin a new line."""
        self._points = []

    def add(self, ribbon: Ribbon, moments: Sequence[Moment]) -> None:
        """Paint the pieces of the line that are new."""
        with QPainter(ribbon.image) as painter:
            for moment in moments:
                self._add_one(ribbon, painter, moment)

    def _add_one(self, ribbon: Ribbon, painter: QPainter, moment: Moment) -> None:
        value = self._value(moment)
        if moment.after_gap or value is None:
            self._points = []
            self._paint(ribbon, painter, moment.at_s, [])
        if value is None:
            return
        room = ribbon.image.height() - LINE_WIDTH * ribbon.ratio
        height = min(max(value, 0.0), 1.0) * room
        y = ribbon.image.height() - LINE_WIDTH * ribbon.ratio / 2 - height
        self._points = [*self._points[-2:], QPointF(ribbon.column(moment.at_s), y)]
        if len(self._points) > 1:
            self._paint(ribbon, painter, moment.at_s, self._points)

    def _paint(
        self, ribbon: Ribbon, painter: QPainter, at_s: float, points: Sequence[QPointF]
    ) -> None:
        """Paint the columns up to `at_s`: unknown, or under the line through `points`."""
        end = math.floor(ribbon.column(at_s))
        for piece, first in ribbon.pieces(ribbon.end, end):
            if points:
                line = [QPointF(point.x() - first, point.y()) for point in points]
                self._paint_piece(painter, piece, line, ribbon.ratio)
            else:
                ribbon.hatch(painter, piece, first)
        ribbon.end = max(ribbon.end, end)

    def _paint_piece(
        self, painter: QPainter, piece: QRect, line: Sequence[QPointF], ratio: float
    ) -> None:
        theme = self.look.theme
        colour, floor = QColor(theme.series_colour(self._series)), float(piece.bottom() + 1)
        painter.setClipRect(piece)
        painter.fillRect(piece, QColor(theme.panel))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mixed(QColor(theme.panel), colour, WASH))
        painter.drawPolygon(
            QPolygonF([*line, QPointF(line[-1].x(), floor), QPointF(line[0].x(), floor)])
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, LINE_WIDTH * ratio))
        painter.drawPolyline(line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setClipping(False)
