"""The heading above a plot in exported pictures: the caption and a banner."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from widgets.plots.axes import shortened
from widgets.plots.sheet import Sheet
from widgets.style.theme import STEP


def paint_heading(sheet: Sheet, bounds: QRectF, caption: str, band: str) -> QRectF:
    """Write caption and banner, and return the rectangle below them."""
    theme = sheet.theme
    top = bounds.top()
    if caption:
        fonts = [theme.bold("head"), theme.font("note")]
        for number, text in enumerate(caption.splitlines()):
            font = fonts[min(number, 1)]
            colour = theme.soft if number else theme.ink
            height = QFontMetricsF(font).height()
            rect = QRectF(bounds.left(), top, bounds.width(), height)
            sheet.write(shortened(text, font, rect.width()), font, colour, rect)
            top += height
        top += 2 * STEP
    if band:
        font = theme.bold("small")
        height = QFontMetricsF(font).height() + STEP
        rect = QRectF(bounds.left(), top, bounds.width(), height)
        with sheet.brushed(QPen(QColor(theme.line)), QColor(theme.ground)) as painter:
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0)
        inner = rect.adjusted(2 * STEP, 0, -2 * STEP, 0)
        sheet.write(shortened(band, font, inner.width()), font, theme.soft, inner)
        top += height + 2 * STEP
    return bounds.adjusted(0, top - bounds.top(), 0, 0)
