"""Plots with invented rows of every experiment, and what can be seen of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication

from experiments.core import words
from experiments.memory.burst_random import experiment as burst_random
from experiments.memory.cache_ladder import experiment as cache_ladder
from experiments.python_at_work.gil_threads import experiment as gil_threads
from tests.gallery import plot_samples as samples
from widgets.plots.plot import Plot
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load()
EXPERIMENTS = {
    e.id: e for e in (gil_threads.EXPERIMENT, cache_ladder.EXPERIMENT, burst_random.EXPERIMENT)
}
VALUES = {
    "gil-threads": {"serial_s": 0.62, "perfect_s": 0.31},
    "cache-ladder": samples.LADDER_VALUES,
    "burst-random": {"dependent_s": 1.9e-7, "bandwidth_limit_s": 4e-10},
}


def reads() -> list[burst_random.Read]:
    """Return rows of burst-random."""
    most_s = {"sequential": 3e-10, "random": 9e-9, "dependent": 1.9e-7}
    return [
        burst_random.Read(
            size_bytes=2**power,
            order=order,
            repeat=repeat,
            element_s=2e-10 * (most / 2e-10) ** ((power - 14) / 13) * (1 + repeat / 20),
            useful_bytes_per_s=8 / most * (1 + repeat / 20),
        )
        for power in range(14, 28)
        for order, most in most_s.items()
        for repeat in range(3)
    ]


TABLES: dict[str, dict[str, Any]] = {
    "gil-threads": samples.gil_tables(),
    "cache-ladder": {"steps": samples.ladder_steps()},
    "burst-random": {"reads": reads()},
}
VIEWS = [(name, view) for name, e in EXPERIMENTS.items() for view in e.views]


def view_of(name: str, key: str):
    """Return a view by its name."""
    return next(view for view in EXPERIMENTS[name].views if view.key == key)


def look(mode: str = "dark", zoom: float = 1.0) -> Look:
    """Return a look that no other widget has."""
    return Look(themes.load(mode, zoom))


def plotted(
    qtbot, name, view, *, wears=None, size: Any = (850, 330), rows=None, values=None
) -> Plot:
    """Return a plot that shows all rows of its view."""
    plot = Plot(EXPERIMENTS[name], view, ENGLISH, wears or look())
    qtbot.addWidget(plot)
    plot.resize(*size)
    rows = TABLES[name][view.table] if rows is None else rows
    plot.draw(rows, VALUES[name] if values is None else values)
    plot.show()
    plot.grab()
    return plot


def texts(plot: Plot) -> list[str]:
    """Return what its labels say."""
    return [label.text for label in plot.painted().labels]


def reading(plot: Plot) -> str:
    """Return what the reading cursor says, "" without one."""
    said = plot.accessibleDescription()
    return "" if said == plot.summary() else said


def wheel(plot, at: QPointF, turned: int, held=Qt.KeyboardModifier.NoModifier) -> QWheelEvent:
    """Turn the wheel over a pixel of a plot."""
    event = QWheelEvent(
        at,
        plot.mapToGlobal(at),
        QPoint(),
        QPoint(0, turned),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot.viewport(), event)
    return event


def colours(picture) -> set[str]:
    """Return every colour of an image or pixmap."""
    image = picture.toImage() if hasattr(picture, "toImage") else picture
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32)
    return {f"#{colour & 0xFFFFFF:06x}" for colour in np.unique(pixels).tolist()}
