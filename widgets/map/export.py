"""How does the map get out of the window? As a picture of pixels, or as a vector file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QImageWriter, QPainter, QPainterPath, Qt
from PySide6.QtSvg import QSvgGenerator

from widgets.style.theme import STEP, Theme

MARGIN = 6.0 * STEP
SCALE = 2.0  # pixels of a picture for one of the map: sharp on paper, too
SVG_MIME = "image/svg+xml"
POINTS_AN_INCH = 96  # of CSS: one pixel is one pixel

Paint = Callable[[QPainter], object]  # all of the map, in its own units


def picture(paint: Paint, width: float, height: float, theme: Theme, caption: str) -> QImage:
    """Return the whole map on the ground of the theme, below it of what machine it is."""
    size = _size(width, height)
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    with QPainter(image) as painter:
        _paint(painter, paint, size, theme, caption)
    return image


def svg(paint: Paint, width: float, height: float, theme: Theme, title: str, caption: str) -> bytes:
    """Return the same as one SVG file that needs no font."""
    size, buffer = _size(width, height), QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setResolution(POINTS_AN_INCH)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    with QPainter(generator) as painter:
        _paint(painter, paint, size, theme, caption)
    return bytes(buffer.data().data())


def as_mime(data: bytes) -> QMimeData:
    """Return a vector file for the clipboard, as such and as text."""
    mime = QMimeData()
    mime.setData(SVG_MIME, QByteArray(data))
    mime.setText(data.decode("utf-8"))
    return mime


def write_png(image: QImage, path: Path) -> None:
    """Write a picture. Raises OSError."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    path.write_bytes(bytes(buffer.data().data()))


def _paint(painter: QPainter, paint: Paint, size: QSize, theme: Theme, caption: str) -> None:
    painter.fillRect(QRectF(0, 0, size.width(), size.height()), theme.ground)
    _write(painter, caption, size, theme)
    painter.translate(MARGIN, MARGIN)
    paint(painter)


def _write(painter: QPainter, caption: str, size: QSize, theme: Theme) -> None:
    """Write the caption into the margin at the foot, as an outline."""
    font = theme.font("small")
    metrics = QFontMetricsF(font)
    room = size.width() - 2 * MARGIN
    outline = QPainterPath()
    base = size.height() - MARGIN / 2 + (metrics.ascent() - metrics.descent()) / 2
    outline.addText(
        MARGIN, base, font, metrics.elidedText(caption, Qt.TextElideMode.ElideRight, room)
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillPath(outline, QColor(theme.soft))


def _size(width: float, height: float) -> QSize:
    return QSize(round(width + 2 * MARGIN), round(height + 2 * MARGIN))
