from __future__ import annotations

import itertools

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPointF, QSizeF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from experiments.core import marks, words
from experiments.core.views import Limit, Timeline
from experiments.python_at_work.gil_threads.experiment import EXPERIMENT, Slice
from tests.gallery import plot_samples as samples
from widgets.plots.drawing import Beside
from widgets.plots.kinds.timeline import FEW, TimelineDrawing
from widgets.plots.plot import Plot
from widgets.plots.terms import Terms
from widgets.style import theme
from widgets.style.look import Look

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured
VIEW = next(view for view in EXPERIMENT.views if isinstance(view, Timeline))
DARK = theme.load("dark")


def cut(method, worker, start_s, end_s, python="3.11"):
    return Slice(method=method, python=python, worker=worker, start_s=start_s, end_s=end_s)


ROWS = [
    cut("processes", 0, 0.01, 0.15),
    cut("threads", 1, 0.1, 0.2),
    cut("threads", 0, 0.0, 0.1),
    cut("threads", 0, 0.2, 0.3),
    cut("serial", 0, 0.0, 0.3),
]


def drawing(rows=ROWS, values=None, beside=None, view=VIEW):
    made = TimelineDrawing(view, Terms(EXPERIMENT, view, words.load()))
    made.take(rows, values or {}, beside)
    return made


def lanes(made):
    return [float(track.ys[0]) for track in made.tracks()]


def names(made):
    return [" / ".join(filter(None, (n.text, n.detail))) for n in made.plan().y.names]


def test_groups_come_in_their_order_each_named_once_in_its_middle():
    made = drawing()

    assert names(made) == ["one after another", "threads", "processes / kept warm"]
    assert made.plan().y.places == (0.0, 2.0, 4.0)
    assert [track.name for track in made.tracks()][1:3] == ["threads 1", "threads 2"]


def test_there_is_air_between_groups_and_none_within():
    places = lanes(drawing())

    steps = [b - a for a, b in itertools.pairwise(places)]
    assert steps[0] == 1.5
    assert steps[1] == 1.0
    assert steps[2] == 1.5


def test_many_lanes_stand_without_gaps_and_each_with_its_whole_name():
    made = drawing([cut("threads", n, 0.0, 1.0) for n in range(FEW + 1)])

    assert made.plan().y.places == tuple(float(n) for n in range(FEW + 1))
    assert names(made)[:2] == ["threads 1", "threads 2"]


def test_another_python_is_said_only_where_there_are_two():
    made = drawing([*ROWS, cut("threads", 0, 0.0, 0.1, python="3.13")])

    assert "threads / Python 3.13" in names(made)
    assert "threads / Python 3.11" in names(made)
    assert not any("Python" in name for name in names(drawing()))


def test_the_other_runs_lanes_stand_right_below_those_of_the_same_group():
    made = drawing(beside=Beside("A", "B", ROWS))

    assert names(made) == [
        "A, B: one after another",
        "A, B: threads",
        "A, B: processes / kept warm",
    ]
    tracks = made.tracks()
    assert [track.name for track in tracks[:3]] == [
        "A one after another",
        "B one after another",
        "A threads 1",
    ]
    assert tracks[0].colour == tracks[1].colour


def test_of_two_runs_with_many_lanes_each_group_is_named_once_too():
    rows = [cut(method, n, 0.0, 1.0) for method in ("threads", "serial") for n in range(FEW)]

    made = drawing(rows, beside=Beside("A", "B", rows))
    assert names(made) == ["A, B: one after another", "A, B: threads"]
    made = drawing(rows, beside=Beside("A", "B", rows[:1]))
    assert names(made) == [
        "A: one after another",
        "A, B: threads",
    ]  # of B nothing one after another is there


def test_time_begins_at_zero_and_ends_after_the_last_slice():
    made = drawing()
    span = made.span(QSizeF(600, 200), DARK)

    assert span.x[0] == 0.0
    assert 0.3 <= span.x[1] < 0.45
    assert span.y[1] == lanes(made)[-1] + 0.5


def test_a_reading_says_lane_times_length_and_limit():
    made = drawing()
    text = made.read(1, 1)

    assert text == "threads 1 · from 200 ms to 300 ms · 100 ms"


def test_the_lanes_of_each_run_are_told_against_its_own_limit():
    view = msgspec.structs.replace(VIEW, limits=(Limit("perfect", "perfect_s", "x"),))
    beside = Beside("A", "B", ROWS, {"perfect_s": 0.3})
    made = drawing(values={"perfect_s": 0.2}, beside=beside, view=view)

    assert "to 300 ms (100 ms above “perfect”)" in made.read(0, 0)
    assert "to 300 ms (at “perfect”)" in made.read(1, 0)


def test_a_slice_is_read_wherever_the_mouse_is_in_it():
    made = drawing()
    place = lanes(made)[1]

    assert made.point_at(0.201, place + 0.3) == (1, 1)
    assert made.point_at(0.299, place - 0.3) == (1, 1)
    assert made.point_at(0.15, place) is None
    assert made.point_at(0.05, place + 0.5) is None


def test_the_tracks_are_the_middles_of_the_slices():
    track = drawing().tracks()[1]

    assert track.xs.tolist() == pytest.approx([0.05, 0.25])
    assert not track.is_aligned


def test_the_summary_says_how_busy_each_group_was():
    assert drawing().summary() == (
        "one after another: 100 % busy, until 300 ms. "
        "threads: 2 lanes, 50 % busy on average, until 300 ms. "
        "processes, kept warm: 93.3 % busy, until 150 ms."
    )


def test_rows_that_come_one_by_one_lead_to_the_same_lanes():
    rows, growing = samples.slices(), drawing([])
    seen = []
    for row in rows:
        seen.append(row)
        growing.take(seen, {}, None)
    whole = drawing(rows)

    assert names(growing) == names(whole)
    for one, other in zip(growing.tracks(), whole.tracks(), strict=True):
        assert one.xs.tolist() == other.xs.tolist()
    assert [len(track.xs) for track in whole.tracks()] == [
        len(lane.slices) for lane in marks.lanes(VIEW, rows)
    ]


def test_another_run_replaces_the_lanes():
    made = drawing(samples.slices())
    made.take(ROWS, {}, None)

    assert len(made.tracks()) == 4


def test_without_rows_there_is_nothing_to_read():
    made = drawing([])

    assert made.tracks() == ()
    assert made.summary() == ""
    assert made.point_at(0.0, 0.0) is None


@pytest.mark.parametrize("mode", theme.MODES)
def test_a_plot_of_it_reads_the_slice_under_the_mouse(qtbot, mode):
    plot = Plot(EXPERIMENT, VIEW, words.load(), Look(theme.load(mode)))
    qtbot.addWidget(plot)
    plot.resize(800, 300)
    plot.draw(ROWS, {})
    plot.show()
    area = plot.painted().area
    at = area.point(0.29, 0.0)  # near the end of a long slice

    with qtbot.waitSignal(plot.reading_changed) as said:
        none = Qt.MouseButton.NoButton
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(at),
            plot.mapToGlobal(QPointF(at)),
            none,
            none,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(plot.viewport(), event)
    assert said.args == ["one after another · from 0 s to 300 ms · 300 ms"]


def test_when_two_runs_are_compared_no_more_the_lanes_take_all_room_again(qtbot):
    plot = Plot(EXPERIMENT, VIEW, words.load(), Look(DARK))
    qtbot.addWidget(plot)
    plot.resize(800, 300)
    plot.draw(ROWS, {})
    before = plot.painted().area.sight
    plot.draw(ROWS, {}, beside=Beside("A", "B", samples.slices()))
    assert plot.painted().area.sight != before

    plot.draw(ROWS, {})
    assert plot.painted().area.sight == before
