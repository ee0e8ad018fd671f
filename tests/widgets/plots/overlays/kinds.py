"""One plot of each kind, and a mouse over it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from experiments.core.views import Ruler
from tests.gallery import plot_samples as samples
from tests.gallery.pictures import EXPERIMENT as PICTURES
from tests.widgets.plots.plots import look, plotted, view_of
from widgets.plots.plot import Plot

KEY = Qt.Key
BARS = ("gil-threads", view_of("gil-threads", "wall"))
LANES = ("gil-threads", view_of("gil-threads", "lanes"))
LADDER = ("cache-ladder", view_of("cache-ladder", "fetched_ahead"))
PINS = ("gil-threads", Ruler(key="wall", table="timings", label="method", value="wall_s"))
SIZES = (2.0**12, 2.0**16, 2.0**20, 2.0**24, 2.0**28)


def cells(qtbot, mode="dark") -> Plot:
    """Return a heat map of messages between eight cores."""
    plot = Plot(PICTURES, PICTURES.views[0], samples.words(), look(mode))
    qtbot.addWidget(plot)
    plot.resize(760, 330)
    plot.draw(samples.latencies(), {})
    plot.show()
    plot.grab()
    return plot


VIEWS = {"bars": BARS, "lanes": LANES, "lines": LADDER, "pins": PINS}
KINDS = (*VIEWS, "cells")
every_kind = pytest.mark.parametrize("kind", KINDS)


def of_kind(qtbot, kind: str) -> Plot:
    """Return a plot of a kind that lessons have."""
    return cells(qtbot) if kind == "cells" else plotted(qtbot, *VIEWS[kind])


def pixel(plot: Plot, x: float, y: float) -> QPoint:
    """Return the pixel of a place on the axes."""
    return plot.painted().area.point(x, y).toPoint()


def point_at(plot: Plot, at: QPoint) -> None:
    """Move the mouse there, from elsewhere in the plot."""
    QTest.mouseMove(plot.viewport(), at + QPoint(0, 1))
    QTest.mouseMove(plot.viewport(), at)


def click(plot: Plot, at: QPoint) -> None:
    """Click there."""
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at)


def drag(plot: Plot, *way: QPoint) -> None:
    """Press at the first of these pixels, and let go at the last."""
    QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=way[0])
    for at in way[1:]:
        QTest.mouseMove(plot.viewport(), at)
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=way[-1])


def press(plot: Plot, *keys: Qt.Key, held=Qt.KeyboardModifier.NoModifier) -> None:
    """Press keys one after the other."""
    for key in keys:
        QTest.keyClick(plot, key, held)


def shown(plot: Plot):
    """Return the picture of a plot."""
    return plot.grab().toImage()


def has_changed(one, other, around: QPointF | QPoint, reach: int = 2) -> bool:
    """Return whether two pictures differ around a pixel."""
    at = around.toPoint() if isinstance(around, QPointF) else around
    return any(
        one.pixelColor(at.x() + x, at.y() + y) != other.pixelColor(at.x() + x, at.y() + y)
        for x in range(-reach, reach + 1)
        for y in range(-reach, reach + 1)
    )
