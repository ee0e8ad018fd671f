"""A button and a label that shorten their text to fit, with the whole text as a tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy

LEAST_CHARACTERS = 12


class ElidedButton(QPushButton):
    """A button that shortens its text to fit; `say` sets the text."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._words = ""
        self.setProperty("role", role)
        # Qt's own buttons are never narrower than their text.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def say(self, words: str) -> None:
        """Set the text."""
        if words == self._words:
            return
        self._words = words
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the size that holds the whole text."""
        size = super().sizeHint()
        metrics = self.fontMetrics()
        more = metrics.horizontalAdvance(self._words) - metrics.horizontalAdvance(self.text())
        return QSize(size.width() + more, size.height())

    def minimumSizeHint(self) -> QSize:
        """Return the size that holds the fewest letters."""
        least = self.fontMetrics().averageCharWidth() * LEAST_CHARACTERS
        return self.sizeHint().boundedTo(QSize(least, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        edges = self.sizeHint().width() - self.fontMetrics().horizontalAdvance(self._words)
        room = self.width() - edges + 1  # widths of texts are rounded down
        self.setText(self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room))


class ElidedLabel(QLabel):
    """One line of plain text; at least `least` characters stay visible."""

    def __init__(self, role: str, *, least: int = LEAST_CHARACTERS) -> None:
        super().__init__()
        self._least = least
        self._about = ""
        self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def explain(self, about: str) -> None:
        """Set a tooltip, shown only while the text itself is not shortened."""
        if about != self._about:
            self._about = about
            self.update()

    def minimumSizeHint(self) -> QSize:
        """Return the size that holds the fewest letters."""
        whole = self.sizeHint()
        least = self.fontMetrics().averageCharWidth() * self._least
        return whole.boundedTo(QSize(least, whole.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, shortened to the width."""
        room = self.contentsRect()
        mode = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.text(), mode, room.width() + 1)
        self.setToolTip(self._about if shown == self.text() else self.text())
        with QPainter(self) as painter:
            painter.drawText(room, self.alignment(), shown)
