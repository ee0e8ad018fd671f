"""An axis of pyqtgraph that knows its unit: ticks at 1-2-5 steps or powers, in real units."""

from __future__ import annotations

from collections.abc import Mapping

import pyqtgraph as pg

from experiments.views import Scale
from widgets.theme import Theme
from widgets.ticks import from_axis, label, ticks, to_axis

PIXELS_A_TICK = {"bottom": 90, "left": 44}


class UnitAxis(pg.AxisItem):  # type: ignore[misc]
    """Places on it are those of `to_axis`; `names` are words that stand at whole places instead."""

    def __init__(
        self,
        orientation: str,
        theme: Theme,
        *,
        unit: str = "",
        scale: Scale = "linear",
        names: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(orientation, pen=theme.line, textPen=theme.soft, tickPen=theme.line)
        self._unit, self._scale, self._names = unit, scale, names
        self.setStyle(tickFont=theme.font("note"), tickLength=0, autoExpandTextSpace=True)
        self.enableAutoSIPrefix(False)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Return one level of ticks, as places on the axis; upside down, `low` is the higher."""
        low, high = sorted((low, high))
        if self._names is not None:
            return [(1.0, [float(place) for place in self._names if low <= place <= high])]
        most = max(2, int(size / PIXELS_A_TICK[self.orientation]))
        values = ticks(from_axis(low, self._scale), from_axis(high, self._scale), self._scale, most)
        return [(1.0, [to_axis(value, self._scale) for value in values])]

    def tickStrings(self, places: list[float], scale: float, spacing: float) -> list[str]:
        """Return what the ticks say."""
        if self._names is not None:
            return [self._names[round(place)] for place in places]
        return [label(_tidy(from_axis(place, self._scale)), self._unit) for place in places]


def _tidy(value: float) -> float:
    """Return a tick without the dust of logarithms: 100 ns, not 99.99999 ns."""
    return float(f"{value:.9g}")
