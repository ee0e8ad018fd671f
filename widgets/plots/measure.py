"""Two movable lines over a plot, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt

from experiments.core.units import digits, show
from widgets.plots import reading
from widgets.plots.axes import Painted
from widgets.plots.drawing import AxisPlan
from widgets.plots.frame import Box, guarded
from widgets.plots.overlays.handles import COARSE, FARTHEST, FINE, SIDEWAYS, UPWARD
from widgets.plots.sheet import text_size
from widgets.plots.terms import Terms
from widgets.plots.ticks import from_axis
from widgets.style.theme import STEP, Theme

AT_FIRST = (1 / 3, 2 / 3)  # of what is visible
HANDLE_PX, HANDLE_AT = 10.0, 0.5  # the mouse takes hold of a line this near to it
THIN_PX, CHOSEN_PX = 1.5, 3.0


class MeasuringLine(pg.InfiniteLine):
    """One of the lines."""

    @guarded
    def paint(self, *given: Any) -> None:
        """Paint it."""
        super().paint(*given)


class Measure:
    """Two lines across an axis, 0 for x, and the words about them.

    `told` is called with what to say aloud when a line was moved, with "" while it moves.
    """

    def __init__(
        self, box: Box, axis: int, plan: AxisPlan, terms: Terms, told: Callable[[str], None]
    ) -> None:
        self.axis, self._plan, self._terms, self._box, self._told = axis, plan, terms, box, told
        low, high = box.viewRange()[axis]
        self.lines = [
            MeasuringLine(
                low + share * (high - low), 90 - 90 * axis, movable=True, bounds=box.whole(axis)
            )
            for share in AT_FIRST
        ]
        self._chosen = 0
        shape = (Qt.CursorShape.SizeHorCursor, Qt.CursorShape.SizeVerCursor)[axis]
        for line in self.lines:
            line.setCursor(shape)
            line.addMarker("o", HANDLE_AT, HANDLE_PX)
            line.sigDragged.connect(self._drag)
            line.sigPositionChangeFinished.connect(lambda: told(self.text()))
            box.addItem(line, ignoreBounds=True)

    def close(self) -> None:
        """Take the lines away."""
        for line in self.lines:
            self._box.removeItem(line)

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme; the chosen line is thicker."""
        for number, line in enumerate(self.lines):
            width = CHOSEN_PX if number == self._chosen else THIN_PX
            line.setPen(theme.ink, width=width * theme.zoom)
            line.setHoverPen(theme.ink, width=CHOSEN_PX * theme.zoom)

    def key(self, key: int, *, is_fine: bool) -> bool:
        """Move the chosen line, or choose the other; return whether the key does either."""
        along, across = (UPWARD, SIDEWAYS) if self.axis else (SIDEWAYS, UPWARD)
        line, (low, high) = self.lines[self._chosen], self._box.viewRange()[self.axis]
        if key in across:
            self._chosen = 1 - self._chosen
            self._told(self._shown(self.lines[self._chosen].value()))
        elif key in along:
            step = (FINE if is_fine else COARSE) * (high - low)
            line.setValue(line.value() + along[Qt.Key(key)] * step)
            self._told(self.text())
        elif key in FARTHEST:
            line.setValue((low, high)[FARTHEST[Qt.Key(key)]])
            self._told(self.text())
        else:
            return False
        return True

    def text(self) -> str:
        """Return both places, how many times one is the other, and what is between them."""
        low, high = sorted(from_axis(line.value(), self._plan.scale) for line in self.lines)
        values = {"low": show(low, self._plan.unit), "high": show(high, self._plan.unit)}
        values["distance"] = show(high - low, self._plan.unit)
        if low <= 0.0:
            return self._terms.say("plot.measured", values)
        return self._terms.say("plot.measured_times", values | {"times": digits(high / low, 3)})

    def paint(self, sheet: Painted) -> None:
        """Write it between the lines."""
        area, text = sheet.area.rect, self.text()
        size = text_size(text, sheet.theme.font("note"))
        box = QRectF(0.0, 0.0, size.width() + 3 * STEP, size.height() + 2 * STEP)
        middle = sum(line.value() for line in self.lines) / 2
        if self.axis:
            box.moveCenter(QPointF(area.right() - box.width() / 2, sheet.area.y_px(middle)))
        else:
            box.moveCenter(QPointF(sheet.area.x_px(middle), area.top() + box.height()))
        box.moveLeft(max(min(box.left(), area.right() - box.width()), area.left()))
        box.moveTop(max(min(box.top(), area.bottom() - box.height()), area.top()))
        reading.paint_box(sheet, box, text)

    def _drag(self, line: MeasuringLine) -> None:
        self._chosen = self.lines.index(line)
        self._told("")

    def _shown(self, place: float) -> str:
        return show(from_axis(place, self._plan.scale), self._plan.unit)
