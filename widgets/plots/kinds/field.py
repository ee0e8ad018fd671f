"""The newest frame of a run as a picture: each value is a square, coloured by cividis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter

from experiments.core.views import Field
from experiments.engine import messages
from widgets.plots.drawing import AxisPlan, Beside, Plan, Span, Track
from widgets.plots.kinds.shades import cividis
from widgets.plots.sheet import Sheet
from widgets.plots.terms import Terms
from widgets.style.theme import Theme


class Picture:
    """The newest frame. Values are centred at integers: x is the column, y the row."""

    def __init__(self) -> None:
        self.shape = (0, 0)
        self._data = b""
        self._image: QImage | None = None

    def show(self, frame: messages.Frame) -> None:
        """Take a new frame."""
        self.show_values(frame.shape, frame.pixels())

    def show_values(self, shape: tuple[int, int], data: bytes) -> None:
        """Take values, one byte each, row by row."""
        rows, columns = shape
        self.shape, self._data = shape, data
        pixels = cividis()[np.frombuffer(data, dtype=np.uint8)]
        # Qt draws this format much faster than bytes with a colour table.
        self._image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)

    def value_at(self, x: float, y: float) -> int | None:
        """Return the value at a place; None outside."""
        row, column = round(y), round(x)
        rows, columns = self.shape
        if not (0 <= row < rows and 0 <= column < columns):
            return None
        return self._data[row * columns + column]

    def ends(self) -> tuple[int, int]:
        """Return the least and the greatest value."""
        return min(self._data), max(self._data)

    def paint(self, sheet: Sheet) -> None:
        """Draw the frame; values are blended only if there are more than pixels."""
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


class FieldDrawing:
    """A view of one picture whose values are squares."""

    def __init__(self, view: Field, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._picture = Picture()
        self._tracks: tuple[Track, ...] = ()

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Ignore rows: frames arrive by `take_frame`."""

    def take_frame(self, frame: messages.Frame) -> None:
        """Show this frame."""
        if frame.shape != self._picture.shape:
            self._tracks = ()
        self._picture.show(frame)

    def plan(self) -> Plan:
        """Return hidden axes; rows count downwards."""
        nothing = AxisPlan(names=(), is_shown=False)
        return Plan(x=nothing, y=nothing, is_square=True)

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return the whole picture."""
        rows, columns = self._picture.shape
        return Span((-0.5, max(columns, 1) - 0.5), (-0.5, max(rows, 1) - 0.5))

    def paint(self, sheet: Sheet) -> None:
        """Draw the picture."""
        self._picture.paint(sheet)

    def tracks(self) -> Sequence[Track]:
        """Return the rows of the picture."""
        rows, columns = self._picture.shape
        if not self._tracks:
            xs = np.arange(columns, dtype=np.float64)
            self._tracks = tuple(
                Track("", 0, xs, np.full(columns, float(row))) for row in range(rows)
            )
        return self._tracks

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of the value at a place."""
        return None if self._picture.value_at(x, y) is None else (round(y), round(x))

    def read(self, track: int, point: int) -> str:
        """Return the row, the column and the value."""
        value = self._picture.value_at(point, track)
        return self._terms.say(
            "plot.pixel", {"row": track + 1, "column": point + 1, "value": value}
        )

    def summary(self) -> str:
        """Return the size of the picture and its least and greatest value."""
        rows, columns = self._picture.shape
        if not rows:
            return ""
        least, greatest = self._picture.ends()
        return self._terms.say(
            "plot.picture",
            {"rows": rows, "columns": columns, "least": least, "greatest": greatest},
        )
