"""Scrolling picture of the last minute, of which only new columns are painted.

It is a ring buffer: each sample overwrites the oldest columns with a few new ones, and showing it
copies its two halves. Columns are numbered without end: column `c` lies at `c` modulo the width.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from experiments.presentation.load.history import SPAN_S

PATTERN = 8  # pixels, of Qt's hatch


class Ribbon:
    """A ring of one minute. `end` is the column after the newest painted one."""

    def __init__(
        self, size: QSize, ratio: float, unknown: tuple[str, str], *, end_s: float
    ) -> None:
        """Make one for `size`, with `ratio` device pixels per pixel, empty up to `end_s`.

        `unknown` are background and foreground of the hatch for unknown values.
        """
        self.width = max(1, round(size.width() * ratio))  # the columns of a minute
        self.height = max(1, round(size.height() * ratio))
        self.image = QImage(self.width, self.height, QImage.Format.Format_RGB32)
        self.ratio = ratio
        self.end = math.floor(self.column(end_s))
        self._behind = QColor(unknown[0])
        self._hatch = QBrush(QColor(unknown[1]), Qt.BrushStyle.BDiagPattern)
        self.image.fill(self._behind)
        floor = max(1, round(ratio))  # before the first sample there is only an axis
        with QPainter(self.image) as painter:
            painter.fillRect(0, self.height - floor, self.width, floor, QColor(unknown[1]))

    def column(self, at_s: float) -> float:
        """Return the column of a time, with its fraction."""
        return at_s * self.width / SPAN_S

    def skip_to(self, at_s: float) -> None:
        """Hatch everything up to a time as unknown."""
        column = math.floor(self.column(at_s))
        with QPainter(self.image) as painter:
            for piece, first in self.pieces(self.end, column):
                self.hatch(painter, piece, first)
        self.end = max(self.end, column)

    def pieces(self, start: int, end: int) -> list[tuple[QRect, int]]:
        """Return the pieces with the columns from `start` to before `end`: usually one, or two.

        With each comes the column number at x = 0 of that piece.
        """
        pieces = []
        start = max(start, end - self.width)
        while start < end:
            place = start % self.width
            count = min(end - start, self.width - place)
            pieces.append((QRect(place, 0, count, self.height), start - place))
            start += count
        return pieces

    def hatch(self, painter: QPainter, piece: QRect, first: int) -> None:
        """Paint a piece as unknown; the hatch is continuous across the ends of the ring."""
        painter.fillRect(piece, self._behind)
        painter.setBrushOrigin(-first % PATTERN, 0)
        painter.fillRect(piece, self._hatch)

    def show(self, painter: QPainter, corner: QPoint) -> None:
        """Paint the minute, the newest column at the right."""
        x = corner.x() * 1.0
        for piece, _ in self.pieces(self.end, self.end + self.width):
            if self.ratio == 1:
                painter.drawImage(QPoint(round(x), corner.y()), self.image, piece)
                x += piece.width()
                continue
            width, height = piece.width() / self.ratio, piece.height() / self.ratio
            painter.drawImage(QRectF(x, corner.y(), width, height), self.image, QRectF(piece))
            x += width
