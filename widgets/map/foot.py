"""Line below the map: the legend, or the data path between two parts; and the scale of load.

The line keeps its height, so that the map does not move under the mouse.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.controls.basics import set_role
from widgets.map.live import LOAD_STEPS
from widgets.style.look import Look
from widgets.style.theme import STEP, load_colour

LINES = 2
ALMOST = 0.9  # of the room can be filled, since words are not broken


class FootLine(QLabel):
    """Shows the data path while there is one, otherwise the legend."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_role(self, "soft")
        self._look, self._legend, self._hint, self._way = look, "", "", ""
        look.follow(self._fit)

    def show_legend(self, text: str, hint: str = "") -> None:
        """Set what the colours mean, and how to see a data path: shown only where there is room."""
        self._legend, self._hint = text, hint
        self._show()

    def show_way(self, text: str) -> None:
        """Set a data path in words; "" for none."""
        self._way = text
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show what fits."""
        super().resizeEvent(event)
        self._show()

    def _show(self) -> None:
        both = f"{self._legend} {self._hint}".strip()
        fits = self.fontMetrics().horizontalAdvance(both) < ALMOST * LINES * self.width()
        text = self._way or (both if fits else self._legend)
        self.setToolTip(self._way)
        set_role(self, "note" if self._way else "soft")
        self.setText(text)

    def _fit(self) -> None:
        line = QFontMetricsF(self._look.theme.font("note")).lineSpacing()
        self.setFixedHeight(round(LINES * line) + 2)
        self._show()


WIDTH, HEIGHT = 24 * STEP, 3 * STEP  # of the strip, at zoom 1
GAP = 2 * STEP


class LoadScale(QWidget):
    """Strip of all load colours, from idle to busy, with a word at each end."""

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
        """Paint strip and words."""
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
