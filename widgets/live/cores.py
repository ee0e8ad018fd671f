"""Body of the cores' tile: the load of all cores, and below it that of each thread."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from experiments.presentation.load.history import History
from widgets.live.core_strip import CoreStrip
from widgets.live.minute import move
from widgets.live.sparkline import Sparkline
from widgets.style.look import Look
from widgets.style.theme import STEP

LINE_HEIGHT = 12 * STEP  # least height of the line, at zoom 1


class CoresBody(QWidget):
    """A sparkline above a heat strip, on one axis of time."""

    pointed = Signal(object, object)  # seconds before the newest sample, place of the thread

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look = look
        self.line = Sparkline(look, lambda moment: moment.busy_fraction)
        self.strip = CoreStrip(look, words)
        for view in (self.line, self.strip):
            view.setParent(self)
            view.pointed.connect(self.pointed)
        self.strip.moved.connect(self._place)

    def draw(self, history: History) -> None:
        """Show this history."""
        self.line.draw(history)
        self.strip.draw(history)

    def point_at(self, ago_s: float | None, words: str = "", row_words: str = "") -> None:
        """Show the reading cursor, with the words of one thread if given."""
        self.line.point_at(ago_s, "" if row_words else words)
        self.strip.point_at(ago_s, row_words)

    def minimumSizeHint(self) -> QSize:
        """Return the least size at which line and threads are visible."""
        least = self.strip.minimumSizeHint()
        return QSize(least.width(), least.height() + 2 * STEP + self._line_height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the height between line and strip."""
        super().resizeEvent(event)
        self._place()

    def _line_height(self) -> int:
        return round(LINE_HEIGHT * self._look.theme.zoom)

    def _place(self) -> None:
        strip = self.strip.height_within(self.height() - self._line_height() - 2 * STEP)
        self.strip.setGeometry(0, self.height() - strip, self.width(), strip)
        left = self.strip.left
        line = self.height() - strip - 2 * STEP
        move(self.line, QRect(left, 0, self.width() - left, line))
