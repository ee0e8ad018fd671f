"""What a plot is made of that pyqtgraph does not have: rounded bars, and slices on lanes.

Both draw in device pixels at places of the data, so that corners stay round at any zoom.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

CORNER = 4.0
FEW = 2000  # slices with round corners; more are plain, and fast


@dataclass(frozen=True, slots=True)
class Block:
    """A bar or slice from `start` to `end` at `row`, in data coordinates."""

    start: float
    end: float
    row: float
    colour: str


class Blocks(pg.GraphicsObject):  # type: ignore[misc]
    """Horizontal blocks, each `height` rows high; of 100 000 only those in sight are drawn."""

    def __init__(self, blocks: Sequence[Block], height: float = 0.6) -> None:
        super().__init__()
        self._height = height
        self._groups: list[tuple[float, str, np.ndarray, np.ndarray]] = []
        self._bounds = QRectF()
        self.set_blocks(blocks)

    def set_blocks(self, blocks: Sequence[Block]) -> None:
        """Show other blocks."""
        self.prepareGeometryChange()
        ordered = sorted(blocks, key=lambda block: (block.row, block.colour, block.start))
        self._groups = []
        for (row, colour), group in itertools.groupby(ordered, lambda b: (b.row, b.colour)):
            found = list(group)
            starts = np.array([block.start for block in found])
            self._groups.append((row, colour, starts, np.array([block.end for block in found])))
        if blocks:
            left = min(block.start for block in blocks)
            right = max(block.end for block in blocks)
            top = min(block.row for block in blocks) - 0.5
            bottom = max(block.row for block in blocks) + 0.5
            self._bounds = QRectF(left, top, right - left, bottom - top)
        else:
            self._bounds = QRectF()
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the rectangle of all blocks, in data coordinates."""
        return self._bounds

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the blocks in sight."""
        transform = painter.worldTransform()
        sight = self.viewRect() or self._bounds
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        total = sum(len(starts) for _, _, starts, _ in self._groups)
        for row, colour, starts, ends in self._groups:
            painter.setBrush(QColor(colour))
            first = int(np.searchsorted(ends, sight.left()))
            last = int(np.searchsorted(starts, sight.right(), side="right"))
            for rect in self._rects(transform.map, row, starts[first:last], ends[first:last]):
                if total <= FEW:
                    corner = min(CORNER, rect.width() / 2, rect.height() / 2)
                    painter.drawRoundedRect(rect, corner, corner)
                else:
                    painter.drawRect(rect)
        painter.restore()

    def _rects(self, place, row: float, starts: np.ndarray, ends: np.ndarray) -> list[QRectF]:  # type: ignore[no-untyped-def]  # noqa: ANN001
        top = place(QPointF(0.0, row - self._height / 2)).y()
        bottom = place(QPointF(0.0, row + self._height / 2)).y()
        left, right = place(QPointF(0.0, 0.0)).x(), place(QPointF(1.0, 0.0)).x()
        return [
            QRectF(
                QPointF(left + (right - left) * start, top),
                QPointF(left + (right - left) * end, bottom),
            ).normalized()
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
