"""Text wrapped into lines: painted text of limited height, and a link that wraps."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QPushButton, QSizePolicy

from widgets.style.theme import STEP

LEADING = 1.3  # a line, in heights of the font


def line_px(font: QFont) -> float:
    """Return the height of one line."""
    return round(font.pixelSize() * LEADING)


def draw_lines(
    painter: QPainter, room: QRectF, text: str, font: QFont, most: int, *, at_bottom: bool = False
) -> None:
    """Draw `text` wrapped to the width of `room`, in at most `most` lines."""
    lines = wrapped(text, font, room.width(), most)
    height = line_px(font)
    top = room.bottom() - len(lines) * height if at_bottom else room.top()
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    within = (height - metrics.height()) / 2 + metrics.ascent()
    for place, line in enumerate(lines):
        painter.drawText(QPointF(room.left(), top + place * height + within), line)


def wrapped(text: str, font: QFont, width: float, most: int) -> list[str]:
    """Return the wrapped lines of `text`; the last one ends in dots if it is cut."""
    layout = QTextLayout(text, font)
    found: list[str] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(1.0, width))
        start = line.textStart()
        if len(found) == most - 1:
            rest = text[start:]
            found.append(
                QFontMetricsF(font).elidedText(rest, Qt.TextElideMode.ElideRight, max(1.0, width))
            )
            break
        found.append(text[start : start + line.textLength()].rstrip())
    layout.endLayout()
    return found


def in_lines(
    words: Iterable[str], metrics: QFontMetricsF, width: float, most: int = 0
) -> list[str]:
    """Return words in lines, `most` at most if not 0; a single word or the last may be wide."""
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and (metrics.horizontalAdvance(longer) <= width or len(lines) == most):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


class WrappedLink(QPushButton):
    """A link whose text wraps."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setProperty("role", "flush-link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.tell(text)

    def tell(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self.setAccessibleName(text)
        self._wrap()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the text to the new width."""
        super().resizeEvent(event)
        self._wrap()

    def _wrap(self) -> None:
        lines = in_lines(self._text.split(), QFontMetricsF(self.font()), self.width() - 2 * STEP)
        text = "\n".join(lines).replace("&", "&&")
        if text != self.text():
            self.setText(text)
