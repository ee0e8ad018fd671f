"""Pictures as files and for the clipboard: PNG of an image, SVG of what paints it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QPoint, QRect, QSize
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator

SVG_MIME = "image/svg+xml"
POINTS_AN_INCH = 96  # dots per inch as in CSS


def png(image: QImage) -> bytes:
    """Return a picture as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def svg(
    size: QSize, paint: Callable[[QPainter], None], *, title: str, description: str = ""
) -> bytes:
    """Return what is painted as an SVG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setResolution(POINTS_AN_INCH)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(0, 0), size))
    generator.setTitle(title)
    if description:
        generator.setDescription(description)
    with QPainter(generator) as painter:
        paint(painter)
    return bytes(buffer.data().data())


def as_mime(data: bytes) -> QMimeData:
    """Return an SVG file for the clipboard, as SVG and as text."""
    mime = QMimeData()
    mime.setData(SVG_MIME, QByteArray(data))
    mime.setText(data.decode("utf-8"))
    return mime
