"""Paints what a drawing is made of, without a plot around it."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from widgets.plots.drawing import Area, Span
from widgets.plots.sheet import Sheet
from widgets.style import theme

DARK = theme.load("dark")
PARTS = ("red", "green", "blue")


def painted(paint, x, y, size=(400, 120), scale=1.0, is_vector=False) -> QImage:
    """Return a picture that `paint(sheet)` has painted, with these ranges of places in sight."""
    image = QImage(
        round(size[0] * scale), round(size[1] * scale), QImage.Format.Format_ARGB32_Premultiplied
    )
    image.setDevicePixelRatio(scale)
    image.fill(QColor(DARK.panel))
    rect = QRectF(0, 0, *size)
    with QPainter(image) as painter:
        area = Area(rect, Span(x, y), is_downward=True)
        paint(Sheet(painter, area, DARK, rect, is_vector, scale))
    return image


def likeness(picture: QImage, x: float, y: float, colour: str) -> float:
    """Return how much of a colour there is at a pixel, against the panel: 0 to 1."""
    seen, full, ground = picture.pixelColor(int(x), int(y)), QColor(colour), QColor(DARK.panel)
    there = [getattr(seen, part)() - getattr(ground, part)() for part in PARTS]
    whole = [getattr(full, part)() - getattr(ground, part)() for part in PARTS]
    return sum(a * b for a, b in zip(there, whole, strict=True)) / sum(b * b for b in whole)
