"""How is a long link shown where there is little room? In as many lines as it takes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from widgets.style.theme import STEP


class WrappedLink(QPushButton):
    """A link whose text goes on in the next line where it is too long."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text
        self.setProperty("role", "flush-link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the text anew."""
        super().resizeEvent(event)
        metrics, width = QFontMetricsF(self.font()), self.width() - 2 * STEP
        lines: list[str] = []
        for word in self._text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and metrics.horizontalAdvance(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        text = "\n".join(lines).replace("&", "&&")
        if text != self.text():
            self.setText(text)
