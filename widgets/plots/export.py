"""Exports a plot as PNG or SVG, to a file or the clipboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QRect, QRectF, QSize
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator

from widgets.plots.scene import Scene
from widgets.style.theme import STEP, Theme

MARGIN_PX = 4.0 * STEP
SVG_MIME = "image/svg+xml"
POINTS_AN_INCH = 96  # dots per inch as in CSS


def picture(scene: Scene, size: QSize, theme: Theme, scale: float) -> QImage:
    """Return the plot with its caption, on the theme's panel colour."""
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    with QPainter(image) as painter:
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), theme.panel)
        scene.paint(painter, _bounds(size), theme, scale=scale, has_head=True)
    return image


def svg(scene: Scene, size: QSize, theme: Theme) -> bytes:
    """Return the plot as an SVG file that needs no fonts."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setResolution(POINTS_AN_INCH)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(scene.terms.title())
    generator.setDescription(scene.summary())
    with QPainter(generator) as painter:
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), theme.panel)
        scene.paint(painter, _bounds(size), theme, is_vector=True, has_head=True)
    return bytes(buffer.data().data())


def png(image: QImage) -> bytes:
    """Return a picture as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def save(scene: Scene, size: QSize, theme: Theme, path: Path, scale: float) -> None:
    """Write a .png or .svg file. Raises OSError, or ValueError for another suffix."""
    match path.suffix.lower():
        case ".png":
            path.write_bytes(png(picture(scene, size, theme, scale)))
        case ".svg":
            path.write_bytes(svg(scene, size, theme))
        case other:
            raise ValueError(f"neither .png nor .svg: {other}")


def as_mime(data: bytes) -> QMimeData:
    """Return an SVG file for the clipboard, as SVG and as text."""
    mime = QMimeData()
    mime.setData(SVG_MIME, QByteArray(data))
    mime.setText(data.decode("utf-8"))
    return mime


def _bounds(size: QSize) -> QRectF:
    whole = QRectF(0, 0, size.width(), size.height())
    return whole.adjusted(MARGIN_PX, MARGIN_PX, -MARGIN_PX, -MARGIN_PX)
