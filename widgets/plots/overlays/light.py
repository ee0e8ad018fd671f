"""Light over a plot: pale bands that seem to lie behind the marks, and dashed frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from widgets.plots.sheet import Sheet, envelope, polygon, text_size
from widgets.style.theme import STEP

CORNER_PX, FRAME_PX = 6.0, 1.3
HALO_PX = 16.0  # width of the light along a line, at zoom 1
DASHES = (3.0, 2.5)


def shine(
    sheet: Sheet, rects: Iterable[QRectF], lines: Sequence[tuple[np.ndarray, np.ndarray]] = ()
) -> None:
    """Light up rectangles and lines in pixels; marks and words keep their colours.

    The wash only darkens a light panel, and only lightens a dark one, so it seems to lie behind.
    """
    painter, theme = sheet.painter, sheet.theme
    modes = QPainter.CompositionMode
    is_light = QColor(theme.panel).lightness() > QColor(theme.ink).lightness()
    wash = QColor(theme.accent_wash)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setCompositionMode(
        modes.CompositionMode_Darken if is_light else modes.CompositionMode_Lighten
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(wash)
    for rect in rects:
        painter.drawRoundedRect(rect, CORNER_PX, CORNER_PX)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(wash, HALO_PX * theme.zoom)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setClipRect(sheet.area.rect.adjusted(-HALO_PX, -HALO_PX, HALO_PX, HALO_PX))
    for xs, ys in lines:
        painter.drawPolyline(polygon(*envelope(xs, ys, 0.25)))  # it is too wide for more
    painter.restore()


def frame(sheet: Sheet, rect: QRectF, text: str = "") -> None:
    """Draw a dashed frame around a rectangle in pixels, with a word at its top."""
    painter, theme = sheet.painter, sheet.theme
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(theme.accent), FRAME_PX * theme.zoom)
    pen.setDashPattern(list(DASHES))
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), CORNER_PX, CORNER_PX)
    painter.restore()
    if text:
        font = theme.font("note", weight=QFont.Weight.DemiBold)
        size = text_size(text, font)
        corner = QPointF(rect.center().x() - size.width() / 2, rect.top() + STEP)
        is_narrow = size.width() > rect.width()
        if is_narrow or size.height() > rect.height() / 2:
            return
        sheet.write(text, font, theme.accent_word, QRectF(corner, size), 0.5)
