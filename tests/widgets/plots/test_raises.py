"""An error in an item's painting is reported, and the window lives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.widgets.plots.plots import plotted, view_of

LADDER = ("cache-ladder", view_of("cache-ladder", "fetched_ahead"))
# In a process of its own: where an exception leaves an item, PySide6 ends by a segmentation fault.
PAINTED = """
import sys
from PySide6.QtWidgets import QApplication
application = QApplication([])
from tests.widgets.plots.plots import EXPERIMENTS, ENGLISH, TABLES, look, view_of
import pyqtgraph as pg
from widgets.plots import axes
from widgets.plots.chart import Chart
from widgets.plots.canvas import Canvas
from widgets.plots.plot import Plot

seen = []
sys.excepthook = lambda kind, *_: seen.append(kind)


def value(*_):
    raise ValueError("as planned")


def index(*_):
    return [][1]


def call(*_):
    application.setApplicationName(application, 1, 2)


places = [
    (axes, "paint_down"), (axes, "paint_across"), (Chart, "paint_marks"),
    (Canvas, "_paint_picture"), (Plot, "paint_over"),
    (pg.InfiniteLine, "paint"),  # the lines that measure
]
wrong = []
rows = TABLES["cache-ladder"]["steps"]
for owner, name in places:
    whole = getattr(owner, name)
    for broken, kind in ((value, ValueError), (index, IndexError), (call, TypeError)):
        setattr(owner, name, broken)
        plot = Plot(
            EXPERIMENTS["cache-ladder"], view_of("cache-ladder", "fetched_ahead"), ENGLISH, look()
        )
        plot.draw(rows, {})
        plot.show()
        if owner is pg.InfiniteLine:
            plot.measure()
        for paint in (application.processEvents, plot.grab):
            plot.draw(rows, {})
            paint()
            if kind not in seen:
                wrong.append(f"{name} {kind} {paint} {seen}")
            seen.clear()
        setattr(owner, name, whole)
        plot.close()
sys.exit("; ".join(wrong) or 0)
"""


def test_what_an_item_raises_is_told_and_the_window_lives():
    done = subprocess.run(
        [sys.executable, "-c", PAINTED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("export", ["svg", "picture"])
def test_what_is_raised_in_an_export_is_raised_to_its_caller(qtbot, monkeypatch, export):
    plot = plotted(qtbot, *LADDER)
    monkeypatch.setattr(plot.chart.drawing, "paint", lambda _sheet: {}["no sheet"])

    with pytest.raises(KeyError):
        getattr(plot, export)()
