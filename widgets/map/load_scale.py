"""Which colour is which load? A strip of all of them, from idle to busy."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.map.live import LOAD_STEPS
from widgets.style.look import Look
from widgets.style.theme import STEP, load_colour

WIDTH, HEIGHT = 24 * STEP, 3 * STEP  # of the strip, at zoom 1
GAP = 2 * STEP


class LoadScale(QWidget):
    """Between the words for both of its ends."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._look = look
        ends = words.say("map.legend_idle"), words.say("map.legend_busy")
        self._texts = f"{words.say('map.legend_load')} {ends[0]}", ends[1]
        self.setAccessibleName(" – ".join(self._texts))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.updateGeometry)
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the size of strip and words."""
        metrics = self._metrics()
        words = sum(metrics.horizontalAdvance(text) + 1 for text in self._texts)
        return QSize(round(WIDTH * self._look.theme.zoom) + words + 2 * GAP, metrics.height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint them."""
        del event
        theme, (idle, busy) = self._look.theme, self._texts
        x = self._metrics().horizontalAdvance(idle) + 1 + GAP
        wide, high = round(WIDTH * theme.zoom), round(HEIGHT * theme.zoom)
        strip = QRectF(x, (self.height() - high) / 2, wide, high)
        with QPainter(self) as painter:
            painter.setFont(theme.font("note"))
            painter.setPen(QColor(theme.soft))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, idle)
            end = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(self.rect(), end, busy)
            each = strip.width() / (LOAD_STEPS + 1)
            for step in range(LOAD_STEPS + 1):
                left = strip.x() + step * each
                rest = QRectF(QPointF(left, strip.y()), strip.bottomRight())
                painter.fillRect(rest, load_colour(theme, step / LOAD_STEPS))
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawRect(strip.adjusted(0.5, 0.5, -0.5, -0.5))

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self._look.theme.font("note"))
