"""Exports a plot as PNG or SVG, to a file or the clipboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from widgets.controls import picture_files
from widgets.controls.wrapped import draw_lines, line_px, wrapped
from widgets.plots.chart import Chart
from widgets.style.theme import STEP, Theme

MARGIN_PX = 4.0 * STEP
MOST_LINES = 4  # of a verdict, and of its cause


def picture(
    chart: Chart, size: QSize, theme: Theme, scale: float, verdict: str = "", because: str = ""
) -> QImage:
    """Return the plot with its caption, on the theme's panel colour.

    Above it stand a verdict and its cause, for which the picture grows.
    """
    room = _bounds(size)
    said = [
        (part, font, wrapped(part, font, room.width(), MOST_LINES))
        for part, font in (
            (verdict, theme.font("verdict", weight=QFont.Weight.Bold)),
            (because, theme.font("text")),
        )
        if part
    ]
    heights = [len(lines) * line_px(font) + 2 * STEP for _, font, lines in said]
    head_px = round(sum(heights))
    whole = QSize(size.width(), size.height() + head_px)
    image = QImage(whole * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    with QPainter(image) as painter:
        painter.fillRect(QRectF(0, 0, whole.width(), whole.height()), theme.panel)
        painter.setPen(QColor(theme.ink))
        for (part, font, _), height in zip(said, heights, strict=True):
            draw_lines(painter, room, part, font, MOST_LINES)
            room.translate(0, height)
        chart.paint(painter, room, theme, scale=scale, has_head=True)
    return image


def svg(chart: Chart, size: QSize, theme: Theme) -> bytes:
    """Return the plot as an SVG file that needs no fonts."""

    def paint(painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), theme.panel)
        chart.paint(painter, _bounds(size), theme, is_vector=True, has_head=True)

    terms = {"title": chart.terms.title(), "description": chart.summary()}
    return picture_files.svg(size, paint, **terms)


def save(chart: Chart, size: QSize, theme: Theme, path: Path, scale: float) -> None:
    """Write a .png or .svg file. Raises OSError, or ValueError for another suffix."""
    match path.suffix.lower():
        case ".png":
            path.write_bytes(picture_files.png(picture(chart, size, theme, scale)))
        case ".svg":
            path.write_bytes(svg(chart, size, theme))
        case other:
            raise ValueError(f"neither .png nor .svg: {other}")


def _bounds(size: QSize) -> QRectF:
    whole = QRectF(0, 0, size.width(), size.height())
    return whole.adjusted(MARGIN_PX, MARGIN_PX, -MARGIN_PX, -MARGIN_PX)
