"""How is text painted that must not take more than so many lines? The last one ends in dots."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QTextLayout

LEADING = 1.3  # a line, in heights of the font


def line_px(font: QFont) -> float:
    """Return the height of one line."""
    return round(font.pixelSize() * LEADING)


def draw_lines(
    painter: QPainter, room: QRectF, text: str, font: QFont, most: int, *, at_bottom: bool = False
) -> None:
    """Draw `text` into the width of `room`, wrapped to at most `most` lines."""
    lines = wrapped(text, font, room.width(), most)
    height = line_px(font)
    top = room.bottom() - len(lines) * height if at_bottom else room.top()
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    within = (height - metrics.height()) / 2 + metrics.ascent()
    for place, line in enumerate(lines):
        painter.drawText(QPointF(room.left(), top + place * height + within), line)


def wrapped(text: str, font: QFont, width: float, most: int) -> list[str]:
    """Return the lines of `text`; what does not fit into the last is cut."""
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
