"""Icons from `resources/icons`, drawn in one colour of the theme and cached per colour."""

from __future__ import annotations

import functools

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from experiments.core.resources import read_resource


def icon(name: str, colour: str, size: int = 24, ratio: float = 2.0) -> QIcon:
    """Return `resources/icons/NAME.svg` in one colour, `size` pixels high."""
    return QIcon(pixmap(name, colour, size, ratio))


@functools.lru_cache(maxsize=256)
def pixmap(name: str, colour: str, size: int = 24, ratio: float = 2.0) -> QPixmap:
    """Return the icon as a pixmap for screens with `ratio` device pixels per pixel."""
    text = read_resource("icons", f"{name}.svg")
    renderer = QSvgRenderer(QByteArray(text.replace("currentColor", colour).encode()))
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        renderer.render(painter, QRectF(0, 0, size * ratio, size * ratio))
    picture.setDevicePixelRatio(ratio)
    return picture
