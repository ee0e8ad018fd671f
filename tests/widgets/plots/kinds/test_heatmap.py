from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QSizeF

from tests.gallery import plot_samples as samples
from tests.gallery.pictures import EXPERIMENT as PICTURES
from tests.gallery.plot_samples import Latency
from tests.widgets.plots.plots import colours
from widgets.plots.drawing import Beside
from widgets.plots.kinds.colour_key import key_of
from widgets.plots.kinds.heatmap import HeatmapDrawing
from widgets.plots.kinds.shades import shade
from widgets.plots.plot import Plot
from widgets.plots.terms import Terms
from widgets.style import theme
from widgets.style.look import Look

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured
VIEW = PICTURES.views[0]
SIZE, DARK = QSizeF(600, 400), theme.load("dark")


def message(to_core, from_core, latency_ns, repeat=0):
    return Latency(to_core=to_core, from_core=from_core, repeat=repeat, latency_s=latency_ns * 1e-9)


ROWS = [
    message(0, 10, 100),
    message(0, 2, 40),
    message(1, 2, 60),
    message(1, 2, 80, repeat=1),
    message(1, 2, 70, repeat=2),
]


def drawing(rows=ROWS, beside=None):
    made = HeatmapDrawing(VIEW, Terms(PICTURES, VIEW, samples.words()))
    made.take(rows, {}, beside)
    return made


def names(axis):
    return [name.text for name in axis.names]


def test_rows_and_columns_are_numbered_as_numbers_are():
    plan = drawing().plan()

    assert names(plan.y) == ["0", "1"]
    assert names(plan.x) == ["2", "10"]
    assert plan.x.title == "from core (across), to core (down)"


def test_a_cell_is_read_with_its_statistic():
    assert drawing().read(1, 0) == "to core 1 · from core 2 · 70 ns"


def test_a_cell_that_was_not_measured_says_so():
    assert drawing().read(1, 1) == "to core 1 · from core 10 · not measured"


def test_the_summary_names_the_ends():
    assert drawing().summary() == (
        "3 cells, from 40 ns (to core 0 · from core 2) to 100 ns (to core 0 · from core 10)."
    )
    assert drawing([message(0, 1, 5)]).summary() == "One cell: 5 ns (to core 0 · from core 1)."
    assert drawing([]).summary() == ""


def test_two_runs_stand_side_by_side_and_each_says_how_it_stands_to_the_other():
    other = [message(0, 2, 80), message(2, 2, 90)]
    made = drawing(beside=Beside("A", "B", other))
    plan = made.plan()

    assert names(plan.x) == ["2", "10", "2", "10"]
    assert names(plan.y) == ["0", "1", "2"]
    assert plan.x.places[2] > plan.x.places[1] + 1.2
    assert made.read(0, 0) == "A · to core 0 · from core 2 · 40 ns · 0.50 times B"
    assert made.read(0, 2) == "B · to core 0 · from core 2 · 80 ns · 2 times A"
    assert made.read(2, 0) == "A · to core 2 · from core 2 · not measured"
    assert made.span(SIZE, DARK).y[0] < -0.5  # room for the names of the runs


def test_the_mouse_finds_the_cell_it_is_in():
    made = drawing(beside=Beside("A", "B", ROWS))
    second = made.plan().x.places[2]

    assert made.point_at(0.4, 1.4) == (1, 0)
    assert made.point_at(second - 0.4, 0.0) == (0, 2)
    assert made.point_at(1.7, 0.0) is None
    assert made.point_at(0.0, -0.8) is None


def test_the_tracks_are_the_rows_of_all_runs():
    made = drawing(beside=Beside("A", "B", ROWS))

    assert [track.xs.tolist() for track in made.tracks()] == [list(made.plan().x.places)] * 2
    assert made.tracks()[1].ys.tolist() == [1.0] * 4


def test_cells_that_hardly_differ_look_alike():
    def apart(*values):
        shades = key_of(np.array(values), "linear", "").shades(np.array(values))
        return int(shades.max()) - int(shades.min())

    assert apart(36.3, 36.4) < 8
    assert apart(36.3, 80.0) > 128


def test_rows_that_come_one_by_one_lead_to_the_same_cells():
    rows, growing, seen = samples.latencies(6), drawing([]), []
    for row in rows:
        seen.append(row)
        growing.take(seen, {}, None)
    whole = drawing(rows)

    for track in range(6):
        for point in range(6):
            assert growing.read(track, point) == whole.read(track, point)
    assert growing.summary() == whole.summary()


def test_another_run_replaces_the_cells():
    made = drawing(samples.latencies(6))
    made.take(ROWS, {}, None)

    assert names(made.plan().y) == ["0", "1"]
    assert made.summary() == drawing().summary()


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("mode", theme.MODES)
def test_a_plot_of_it_has_cells_names_and_a_key(qtbot, mode, beside):
    plot = Plot(PICTURES, VIEW, samples.words(), Look(theme.load(mode)))
    qtbot.addWidget(plot)
    plot.resize(900, 400)
    rows = samples.latencies()
    plot.draw(rows, {}, beside=Beside("A", "B", rows) if beside else None)

    key = {shade(step).name() for step in range(0, 256)}
    assert len(key & colours(plot.grab())) > 128  # the key shows them all, or every second
    assert plot.summary().startswith("A 56 cells" if beside else "56 cells")
