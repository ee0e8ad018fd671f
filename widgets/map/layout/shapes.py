"""Shapes of the map: paths of lines, their bounds, and places of small tiles."""

from __future__ import annotations

import functools

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from widgets.map.layout.boxes import Rect, Wire
from widgets.map.layout.gpus import CELL_GAP, cell_grid


def path_of(wire: Wire) -> QPainterPath:
    """Return the path of a link: a curve to its second point, then straight lines."""
    start, knee, *further = (QPointF(*point) for point in wire.points)
    path = QPainterPath(start)
    if start.y() == knee.y() or start.x() == knee.x():
        path.lineTo(knee)
    elif abs(knee.y() - start.y()) > 2 * abs(knee.x() - start.x()):
        corner = QPointF(start.x(), knee.y())
        path.cubicTo(corner, corner, knee)
    else:
        middle = (start.x() + knee.x()) / 2
        path.cubicTo(QPointF(middle, start.y()), QPointF(middle, knee.y()), knee)
    for point in further:
        path.lineTo(point)
    return path


def bounds(wire: Wire) -> Rect:
    """Return the bounding rectangle of a line."""
    xs, ys = zip(*wire.points, strict=True)
    half = wire.thickness / 2 + 1
    x, y = min(xs) - half, min(ys) - half
    return Rect(x, y, max(xs) + half - x, max(ys) + half - y)


@functools.lru_cache(maxsize=64)
def cells(grid: Rect, count: int) -> list[QRectF]:
    """Return the places of small tiles that fill a rectangle."""
    rows, across = cell_grid(count, grid.width)
    wide = (grid.width + CELL_GAP) / across - CELL_GAP
    high = (grid.height + CELL_GAP) / rows - CELL_GAP
    return [
        QRectF(
            grid.x + n % across * (wide + CELL_GAP),
            grid.y + n // across * (high + CELL_GAP),
            wide,
            high,
        )
        for n in range(count)
    ]


def touch(one: Rect, other: Rect) -> bool:
    """Return whether two rectangles overlap."""
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.bottom
        and other.y < one.bottom
    )
