"""Sparkline of one share over the last minute, with a washed area below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from experiments.presentation.load.history import SPAN_S, History, Moment
from widgets.live.minute import MinuteView
from widgets.live.ribbon import Ribbon
from widgets.style.look import Look
from widgets.style.theme import mixed

LINE_WIDTH = 1.5
LATER_S = 2.0  # beyond a level minute, until the last slope has left the picture
WASH = 0.14  # opacity of the area

Value = Callable[[Moment], float | None]


class Sparkline(MinuteView):
    """Draws `value` of each moment as a share of the height; unknown parts stay hatched."""

    def __init__(self, look: Look, value: Value, series: int = 0) -> None:
        super().__init__(look)
        self._value, self._series = value, series
        self._level: int | None = None  # the height in pixels since `_level_s`
        self._level_s = self._seen_s = -math.inf
        self._is_plain = True  # no mark or cursor over it
        self._points: list[QPointF] = []  # the last two connected ones, in columns and pixels

    def stays(self, history: History) -> bool:
        """Return whether the line has been level for a minute, with nothing over it."""
        new = history.since(self._seen_s) if history.now_s > self._seen_s else history.moments
        for moment in new:
            value = self._value(moment)
            level = None if value is None else round(value * self.height())
            if level is None or level != self._level or moment.after_gap:
                self._level, self._level_s = level, moment.at_s
        self._seen_s = history.now_s
        is_level = self._level is not None and self._drawn_s - self._level_s > SPAN_S + LATER_S
        was_plain, self._is_plain = self._is_plain, not history.marks and self._cursor_s is None
        return super().stays(history) or (is_level and was_plain and self._is_plain)

    def begin(self) -> None:
        """Begin a new line in the theme's colours."""
        self._points = []
        theme = self.look.theme
        colour, self._behind = QColor(theme.series_colour(self._series)), QColor(theme.panel)
        self._pen = QPen(colour, LINE_WIDTH * self.devicePixelRatioF())
        self._wash = mixed(self._behind, colour, WASH)

    def add(self, ribbon: Ribbon, moments: Sequence[Moment]) -> None:
        """Paint the new pieces of the line; connected points form one piece."""
        line = LINE_WIDTH * ribbon.ratio
        with QPainter(ribbon.image) as painter:
            for moment in moments:
                value, x = self._value(moment), ribbon.column(moment.at_s)
                if moment.after_gap or value is None:
                    self._paint(ribbon, painter)
                    self._points = []
                    for piece, first in _taken(ribbon, x):
                        ribbon.hatch(painter, piece, first)
                if value is not None:
                    share = min(max(value, 0.0), 1.0)
                    y = ribbon.height - line / 2 - share * (ribbon.height - line)
                    self._points.append(QPointF(x, y))
            self._paint(ribbon, painter)

    def _paint(self, ribbon: Ribbon, painter: QPainter) -> None:
        """Paint the columns under the line so far."""
        if len(self._points) > 1:
            for piece, first in _taken(ribbon, self._points[-1].x()):
                line = [QPointF(point.x() - first, point.y()) for point in self._points]
                self._paint_piece(painter, piece, line)
            self._points = self._points[-2:]

    def _paint_piece(self, painter: QPainter, piece: QRect, line: Sequence[QPointF]) -> None:
        floor = float(piece.bottom() + 1)
        painter.setClipRect(piece)
        painter.fillRect(piece, self._behind)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._wash)
        painter.drawPolygon([*line, QPointF(line[-1].x(), floor), QPointF(line[0].x(), floor)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._pen)
        painter.drawPolyline(line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setClipping(False)


def _taken(ribbon: Ribbon, x: float) -> list[tuple[QRect, int]]:
    """Return the unpainted pieces up to a column, and count them as painted."""
    end = math.floor(x)
    pieces = ribbon.pieces(ribbon.end, end)
    ribbon.end = max(ribbon.end, end)
    return pieces
