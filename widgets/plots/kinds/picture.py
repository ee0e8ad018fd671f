"""How is the newest frame of a run shown? Each value a square, coloured by cividis."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from experiments.engine import messages as wire
from widgets.plots.kinds.shades import cividis
from widgets.plots.sheet import Sheet


class Picture:
    """Holds the newest frame. Values lie around whole places: x is the column, y the row."""

    def __init__(self) -> None:
        self.shape = (0, 0)
        self._data = b""
        self._image: QImage | None = None

    def show(self, frame: wire.Frame) -> None:
        """Show this frame from now on."""
        self.show_values(frame.shape, frame.pixels())

    def show_values(self, shape: tuple[int, int], data: bytes) -> None:
        """Show values, one byte each, row by row."""
        rows, columns = shape
        self.shape, self._data = shape, data
        pixels = cividis()[np.frombuffer(data, dtype=np.uint8)]
        # Qt draws this format much faster than bytes with a table of colours.
        self._image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)

    def value_at(self, x: float, y: float) -> int | None:
        """Return the value at a place on the axes."""
        row, column = round(y), round(x)
        rows, columns = self.shape
        if not (0 <= row < rows and 0 <= column < columns):
            return None
        return self._data[row * columns + column]

    def ends(self) -> tuple[int, int]:
        """Return the least and the greatest value."""
        return min(self._data), max(self._data)

    def paint(self, sheet: Sheet) -> None:
        """Draw the frame; only where it is smaller than its values are they mixed."""
        if self._image is None:
            return
        rows, columns = self.shape
        corners = sheet.area.point(-0.5, -0.5), sheet.area.point(columns - 0.5, rows - 0.5)
        place = QRectF(*corners).normalized()
        sheet.painter.save()
        is_smaller = place.width() * sheet.scale < columns
        sheet.painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smaller)
        sheet.painter.drawImage(place, self._image)
        sheet.painter.restore()
