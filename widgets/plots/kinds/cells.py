"""Painting of a table as cells coloured by cividis, with numbers where they fit.

Cells that were not measured are hatched. numpy assembles all pixels at once, so that 256 x 256
cells cost as little as four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QImage

from widgets.plots.drawing import Range
from widgets.plots.kinds.shades import cividis, inks
from widgets.plots.sheet import Sheet
from widgets.style.theme import STEP, Theme

GAP_FROM_PX = 10  # cells of at least this size have thin gaps
NUMBER_FROM_PX = 20  # narrower cells show no number


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells (row, column) centred at integers; `text` is called for visible cells only."""

    shades: npt.NDArray[np.uint8]
    is_missing: npt.NDArray[np.bool_]
    text: Callable[[int, int], str]
    left: float = 0.0  # place of the first column on the x axis

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of the cell at a place on the axes."""
        row, column = round(y), round(x - self.left)
        rows, columns = self.shades.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None


@dataclass(frozen=True, slots=True)
class _Edges:
    """The visible cells along one axis, and the pixels at which they begin and end."""

    first: int
    pixels: npt.NDArray[np.intp]

    @property
    def part(self) -> slice:
        return slice(self.first, self.first + len(self.pixels) - 1)

    @property
    def least_px(self) -> int:
        return int(np.diff(self.pixels).min())

    def places(self) -> range:
        return range(self.part.start, self.part.stop)

    def borders(self, place: int, scale: float) -> tuple[float, float]:
        begin, end = self.pixels[place - self.first : place - self.first + 2] / scale
        return float(begin), float(end)


def paint(sheet: Sheet, grid: Grid) -> None:
    """Draw the visible cells."""
    area, painter, (rows, columns) = sheet.area, sheet.painter, grid.shades.shape
    across = _edges(area.sight.x, columns, grid.left, area.x_px, sheet.scale)
    down = _edges(area.sight.y, rows, 0.0, area.y_px, sheet.scale)
    if across is None or down is None:
        return
    corner = QPointF(across.pixels[0], down.pixels[0])
    picture = _picture(grid, across, down, sheet.theme)
    painter.save()
    painter.scale(1 / sheet.scale, 1 / sheet.scale)  # from here on in device pixels
    hatch = QBrush(QColor(sheet.theme.line), Qt.BrushStyle.BDiagPattern)
    painter.fillRect(QRectF(corner, picture.size()), hatch)
    painter.drawImage(corner, picture)
    painter.restore()
    _write_numbers(sheet, grid, across, down)


def _edges(
    sight: Range, count: int, begin: float, to_px: Callable[[Any], Any], scale: float
) -> _Edges | None:
    first, last = max(round(sight[0] - begin), 0), min(round(sight[1] - begin), count - 1)
    if first > last:
        return None
    edges = to_px(np.arange(first, last + 2) - 0.5 + begin) * scale
    return _Edges(first, np.round(edges).astype(np.intp))


def _picture(grid: Grid, across: _Edges, down: _Edges, theme: Theme) -> QImage:
    part = down.part, across.part
    colours = cividis()[grid.shades[part]]
    colours[grid.is_missing[part]] = 0
    widths, heights = np.diff(across.pixels), np.diff(down.pixels)
    pixels = np.repeat(np.repeat(colours, widths, axis=1), heights, axis=0)
    if min(across.least_px, down.least_px) >= GAP_FROM_PX:
        line = QColor(theme.panel).rgba()
        pixels[:, across.pixels[1:] - across.pixels[0] - 1] = line
        pixels[down.pixels[1:] - down.pixels[0] - 1] = line
    height, width = pixels.shape
    image_format = QImage.Format.Format_ARGB32_Premultiplied
    return QImage(pixels.tobytes(), width, height, 4 * width, image_format)


def _write_numbers(sheet: Sheet, grid: Grid, across: _Edges, down: _Edges) -> None:
    width, height = across.least_px / sheet.scale, down.least_px / sheet.scale
    sizes = ("note", "small")
    fonts = [
        font for font in map(sheet.theme.font, sizes) if QFontMetricsF(font).height() <= height
    ]
    if width < NUMBER_FROM_PX or not fonts:
        return
    texts = {
        (row, column): grid.text(row, column)
        for row in down.places()
        for column in across.places()
        if not grid.is_missing[row, column]
    }
    font = _font_that_fits(fonts, set(texts.values()), width - STEP)
    if font is None:
        return
    for (row, column), text in texts.items():
        x, right = across.borders(column, sheet.scale)
        y, bottom = down.borders(row, sheet.scale)
        ink = inks()[grid.shades[row, column]]
        sheet.write(text, font, ink, QRectF(x, y, right - x, bottom - y), 0.5)


def _font_that_fits(fonts: Sequence[QFont], texts: set[str], width: float) -> QFont | None:
    for font in fonts:
        metrics = QFontMetricsF(font)
        if all(metrics.horizontalAdvance(text) <= width for text in texts):
            return font
    return None
