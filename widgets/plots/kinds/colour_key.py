"""The colour key: a strip of colours beside the cells, with ticks in real units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QImage

from experiments.core.views import Scale
from widgets.plots.drawing import Range
from widgets.plots.kinds.shades import cividis, shade
from widgets.plots.ranges import around
from widgets.plots.sheet import Sheet
from widgets.plots.ticks import from_axis, labels, ticks, to_axis
from widgets.style.theme import STEP

WIDTH_PX = 3 * STEP
ROOM_PX = 92.0  # reserved at the right of the drawing
TALLEST_PX = 260.0
TICK_PX = 40.0  # least distance between ticks
LEAST_SPREAD = 0.1  # fraction of the median; cells that differ by less look alike


def with_place(values: npt.NDArray[np.float64], scale: Scale) -> npt.NDArray[np.float64]:
    """Return the values that fit on an axis of this scale."""
    known = values[np.isfinite(values)]
    return known if scale == "linear" else known[known > 0.0]


def shades_of(values: Sequence[float], scale: Scale) -> list[str]:
    """Return the colour of each value in the range of all, as #RRGGBB."""
    every = np.array(values, dtype=np.float64)
    known = with_place(every, scale)
    key = key_of(known, scale, "") if len(known) else ColourKey((0.0, 1.0), scale, "")
    return [shade(int(step)).name() for step in key.shades(every)]


def key_of(known: npt.NDArray[np.float64], scale: Scale, unit: str) -> ColourKey:
    """Return the colour key of these values, all of which fit on the axis."""
    middle = float(np.median(known))
    spread = LEAST_SPREAD * abs(middle)
    low = to_axis(min(float(known.min()), middle - spread), scale)
    high = to_axis(max(float(known.max()), middle + spread), scale)
    return ColourKey(around(low, high, scale), scale, unit)


@dataclass(frozen=True, slots=True)
class ColourKey:
    """Maps values between two places of an axis to colours."""

    places: Range
    scale: Scale
    unit: str

    def shades(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
        """Return the colour step of each value; the lowest for missing ones."""
        low, high = self.places
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.scale != "linear":
                values = np.log2(values) if self.scale == "log2" else np.log10(values)
            shares = np.nan_to_num(np.clip((values - low) / (high - low), 0.0, 1.0))
        steps: npt.NDArray[np.uint8] = (shares * 255.0).astype(np.uint8)
        return steps

    def paint(self, sheet: Sheet) -> None:
        """Draw the strip right of the area."""
        painter, theme, area = sheet.painter, sheet.theme, sheet.area
        height = min(area.rect.height(), TALLEST_PX * theme.zoom)
        left = area.rect.right() + 4 * STEP
        strip = QRectF(left, area.rect.top(), WIDTH_PX, height)
        colours = np.ascontiguousarray(cividis()[::-1])
        image = QImage(colours.data, 1, len(colours), 4, QImage.Format.Format_RGB32)
        painter.save()
        painter.setClipping(False)
        painter.drawImage(strip, image)
        low, high = self.places
        font = theme.font("note")
        line = QFontMetricsF(font).height()
        most = max(2, int(height / (TICK_PX * theme.zoom)))
        values = ticks(from_axis(low, self.scale), from_axis(high, self.scale), self.scale, most)
        for value, text in zip(values, labels(values, self.unit, self.scale), strict=True):
            share = (to_axis(value, self.scale) - low) / (high - low)
            middle = strip.bottom() - line / 2 - share * (height - line)
            right = strip.right() + 2 * STEP
            rect = QRectF(right, middle - line / 2, sheet.bounds.right() - right, line)
            sheet.write(text, font, theme.soft, rect)
        painter.restore()
