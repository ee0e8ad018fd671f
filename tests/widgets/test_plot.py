from __future__ import annotations

import pytest
from PySide6.QtGui import QImage

from experiments import words
from experiments.memory import cache_ladder
from experiments.python_at_work import gil_threads
from widgets import theme
from widgets.items import FEW, Block, Blocks
from widgets.plot import Plot

TABLES = {
    "gil-threads": {
        "timings": [
            gil_threads.Timing(
                method=method, python="3.11", repeat=n, wall_s=wall_s + n / 100, gil=True
            )
            for method, wall_s in (("serial", 0.3), ("threads", 0.31), ("processes", 0.16))
            for n in range(3)
        ],
        "slices": [
            gil_threads.Slice(
                method="threads", python="3.11", worker=n % 2, start_s=n / 10, end_s=(n + 1) / 10
            )
            for n in range(6)
        ],
        "wakes": [gil_threads.Wake(burners=n, repeat=0, late_s=n * 5e-3) for n in range(3)],
    },
    "cache-ladder": {
        "steps": [
            cache_ladder.Step(size_bytes=4096 << n, order=order, repeat=0, latency_s=1e-9 * (n + 1))
            for order in ("random", "sequential")
            for n in range(10)
        ]
    },
}
VALUES = {"serial_s": 0.31, "perfect_s": 0.155, "l1_bytes": 32768, "in_a_row_latency_s": 2e-9}
EXPERIMENTS = {e.id: e for e in (gil_threads.EXPERIMENT, cache_ladder.EXPERIMENT)}


def views():
    return [(name, view) for name, e in EXPERIMENTS.items() for view in e.views]


def colours(picture: QImage) -> set[str]:
    return {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }


def plotted(qtbot, name, view, mode="dark") -> Plot:
    plot = Plot(EXPERIMENTS[name], view, words.load(), theme.load(mode))
    qtbot.addWidget(plot)
    plot.resize(700, 300)
    return plot


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize(("name", "view"), views(), ids=lambda v: getattr(v, "key", v))
def test_every_view_shows_its_rows_in_the_colours_of_the_theme(qtbot, name, view, mode):
    plot = plotted(qtbot, name, view, mode)
    empty = colours(plot.grab().toImage())

    plot.draw(TABLES[name][view.table], VALUES)
    plot.show()

    shown = colours(plot.grab().toImage())
    series = {colour.lower() for colour in theme.load(mode).series}
    assert series & shown
    assert not series & empty
    assert plot.accessibleName()


@pytest.mark.parametrize(("name", "view"), views(), ids=lambda v: getattr(v, "key", v))
def test_every_view_can_be_drawn_without_rows_and_again_with_more(qtbot, name, view):
    plot = plotted(qtbot, name, view)
    rows = TABLES[name][view.table]

    for count in (0, 1, len(rows)):
        plot.draw(rows[:count], {})
        plot.show()
        plot.grab()


def test_only_slices_in_sight_are_placed(qtbot):
    blocks = Blocks([Block(n, n + 0.5, n % 4, "#56b4e9") for n in range(FEW * 2)])

    assert blocks.boundingRect().width() == FEW * 2 - 0.5
    assert blocks.boundingRect().height() == 4
