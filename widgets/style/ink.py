"""Shared parts of painted widgets: a smooth painter, boxes with round corners, and words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QWidget

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter


@contextmanager
def painting(widget: QWidget) -> Iterator[QPainter]:
    """Give a smooth painter of a widget."""
    with QPainter(widget) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        yield painter


def use_ink(
    painter: QPainter,
    edge: QColor | str | None = None,
    fill: QColor | str | None = None,
    width: float = 1.0,
) -> None:
    """Draw shapes with this edge and fill from now on; None for none."""
    painter.setPen(Qt.PenStyle.NoPen if edge is None else QPen(QColor(edge), width))
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else QColor(fill))


def draw_box(
    painter: QPainter,
    rect: QRectF,
    corner: float,
    edge: QColor | str | None = None,
    fill: QColor | str | None = None,
    width: float = 1.0,
) -> None:
    """Draw a box with round corners."""
    use_ink(painter, edge, fill, width)
    painter.drawRoundedRect(rect, corner, corner)


def draw_words(
    painter: QPainter,
    room: QRect | QRectF,
    text: str,
    font: QFont,
    colour: QColor | str,
    flags: Qt.AlignmentFlag | Qt.TextFlag = LEFT,
) -> None:
    """Write within a rectangle."""
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawText(room, int(flags), text)
