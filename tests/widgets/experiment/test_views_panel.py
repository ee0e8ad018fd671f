from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.engine.recording import read
from tests.app.recordings import burst
from tests.gallery import plot_samples as samples
from tests.shipped import SHIPPED
from tests.widgets.plots.kinds.test_field import frame
from tests.widgets.plots.overlays.kinds import drag
from tests.widgets.plots.plots import wheel
from widgets.experiment.puzzle import Puzzle
from widgets.experiment.view_head import ViewHead
from widgets.experiment.views_panel import ViewsPanel
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")
BURST = Catalogue().load("burst-random")


@pytest.fixture
def rows(tmp_path):
    return read(burst().write(tmp_path / "x.coreopsis.jsonl")).tables(BURST)


@pytest.fixture
def panel(qtbot):
    panel = ViewsPanel(ENGLISH, Look(themes.load("dark")))
    qtbot.addWidget(panel)
    panel.show_experiment(BURST)
    return panel


def heads(panel) -> list[ViewHead]:
    return panel.findChildren(ViewHead)


def test_every_view_has_its_plot_and_its_title(panel):
    assert [head.title.text() for head in heads(panel)] == [
        "Time per 8-byte element",
        "Seen another way: Useful bytes per second",
    ]
    assert len(panel.plots) == 2


def test_the_band_of_a_recording_stands_beside_every_title_and_moves_nothing(qtbot, panel):
    panel.resize(800, 600)
    with qtbot.waitExposed(panel):
        panel.show()
    places = [plot.geometry() for plot in panel.plots]

    panel.mark("RECORDED · machine · 2025-11-21", "")

    assert {head.aside.text() for head in heads(panel)} == {"RECORDED · machine · 2025-11-21"}
    assert all(head.aside.isVisible() for head in heads(panel))
    assert [plot.geometry() for plot in panel.plots] == places


def test_what_dots_and_line_are_stands_beside_the_title_from_the_second_round_on(panel, rows):
    first = {"reads": [row for row in rows["reads"] if not row.repeat]}
    panel.draw_next(first, {}, {"reads": 1}, {})
    assert heads(panel)[0].aside.text() == ""

    panel.forget()
    panel.mark("of Monday", "")
    while panel.draw_next(rows, {}, {"reads": 2}, {}):
        pass
    told = "dots are measurements, the line their median · of Monday"
    assert [head.aside.text() for head in heads(panel)] == [told, told]


def test_where_no_line_can_be_the_bright_dot_is_named(panel, rows):
    place = getattr(rows["reads"][0], BURST.views[0].x.column)
    alone = [row for row in rows["reads"] if getattr(row, BURST.views[0].x.column) == place]
    panel.draw_next({"reads": alone}, {}, {"reads": 1}, {})

    told = "dots are measurements, the bright one their median"
    assert heads(panel)[0].aside.text() == told


def test_one_plot_is_drawn_at_a_time_until_all_are_up_to_date(panel, rows):
    def draw(count, values=()):
        return panel.draw_next(rows, {}, {"reads": count}, dict(values))

    assert [draw(5), draw(5), draw(5)] == [True, True, False]
    assert [draw(6), draw(7), draw(7), draw(7)] == [True, True, True, False]


def test_a_table_with_a_picture_has_rows_too(qtbot):
    uneven = Catalogue().load("uneven")
    panel = ViewsPanel(ENGLISH, Look(themes.load("dark")))
    qtbot.addWidget(panel)
    panel.show_experiment(uneven)
    row = uneven.tables["costs"]
    tables = {name: [] for name in uneven.tables} | {"costs": [row(row=0, turns=1)]}

    while panel.draw_next(tables, {"costs": frame((1, 1), [7])}, {"costs": 2}, {}):
        pass

    drawn = [plot.summary() != ENGLISH.say("plot.empty") for plot in panel.plots]
    shown = {view.key for view, is_drawn in zip(uneven.plots, drawn, strict=True) if is_drawn}
    assert shown == {"costs", "picture"}


def test_a_limit_that_is_known_draws_only_the_plot_that_has_it(panel, rows):
    counts = {"reads": 5}
    while panel.draw_next(rows, {}, counts, {}):
        pass
    values = {"dependent_s": 1e-7}

    assert panel.draw_next(rows, {}, counts, values)
    assert not panel.draw_next(rows, {}, counts, values)


def test_a_limit_along_a_shared_axis_draws_all_plots_that_have_this_axis(panel):
    crossover = Catalogue().load("crossover")
    panel.show_experiment(crossover)
    rows = read(SHIPPED["crossover"]).tables(crossover)
    while panel.draw_next(rows, {}, {"products": 5}, {}):
        pass
    values = {"crossover_size": 1e5}

    for _view in crossover.views:
        assert panel.draw_next(rows, {}, {"products": 5}, values)
    assert not panel.draw_next(rows, {}, {"products": 5}, values)


def test_another_run_draws_all_of_them_anew(panel, rows):
    counts = {"reads": 5}
    while panel.draw_next(rows, {}, counts, {}):
        pass
    panel.forget()

    assert panel.draw_next(rows, {}, counts, {})


def titles(panel):
    return [head.title.text() for head in heads(panel) if not head.isHidden()]


def left(panel, experiment):
    plots = zip(experiment.plots, panel.plots, strict=True)
    return [view.key for view, plot in plots if not plot.isHidden()]


def test_a_plot_that_nothing_was_measured_for_is_left_out_and_comes_back(panel):
    gil = Catalogue().load("gil-threads")
    panel.show_experiment(gil)
    panel.leave_out({"slices"})
    assert left(panel, gil) == ["wall", "sleeper"]
    assert titles(panel) == [
        "Time until all jobs are done",
        "How late a thread wakes that only sleeps",
    ]

    panel.leave_out(set())
    assert left(panel, gil) == ["wall", "lanes", "sleeper"]


def test_what_confirms_a_headline_that_is_left_out_is_not_called_so(panel):
    panel.show_experiment(Catalogue().load("gil-threads"))
    confirming = titles(panel)[1]
    panel.leave_out({"timings"})
    assert panel.plot_in_focus() is panel.plots[1]
    assert f"Seen another way: {titles(panel)[0]}" == confirming

    panel.show_unmeasured(Catalogue().load("gil-threads"))
    assert titles(panel)[1] == confirming


def test_where_nothing_was_measured_every_plot_says_so(panel):
    panel.leave_out({"reads"})

    assert len(left(panel, BURST)) == 2
    assert panel.plots[0].summary() == ENGLISH.say("plot.empty")


def test_programs_to_read_are_never_left_out(panel):
    clinic = Catalogue().load("clinic")
    panel.show_experiment(clinic)
    panel.leave_out(set(clinic.tables))

    assert not panel.findChild(Puzzle).isHidden()
    assert len(titles(panel)) == len(clinic.views)
    assert left(panel, clinic) == [view.key for view in clinic.plots]
    assert titles(panel)[1].startswith("Seen another way: ")


def test_plots_over_one_x_axis_zoom_and_move_together(qtbot, panel, rows):
    panel.resize(900, 700)
    panel.show()
    while panel.draw_next(rows, {}, {"reads": 2}, {}):
        pass
    one, other = panel.plots

    wheel(one, one.painted().area.rect.center(), 240)
    assert one.chart.zoom_x is not None
    assert other.painted().area.sight.x == one.painted().area.sight.x
    assert other.chart.zoom_y is None
    drag(other, QPoint(500, 60), QPoint(400, 60))
    assert one.painted().area.sight.x == other.painted().area.sight.x
    wheel(one, one.painted().area.rect.center(), 120, Qt.KeyboardModifier.ShiftModifier)
    assert other.chart.zoom_y is None  # other heights
    QTest.keyClick(other, Qt.Key.Key_0)

    assert one.chart.zoom_x is other.chart.zoom_x is None
    assert one.painted().area.sight.x == other.painted().area.sight.x


def test_the_same_experiment_keeps_its_plots(panel):
    plots = list(panel.plots)
    panel.show_experiment(BURST)
    assert panel.plots == plots

    panel.show_experiment(Catalogue().load("cache-ladder"))
    assert not set(plots) & set(panel.plots)


def test_a_plot_asks_to_be_saved_with_its_kind(qtbot, panel):
    with qtbot.waitSignal(panel.save_wanted) as wanted:
        panel.plots[1].save_wanted.emit(".svg")

    assert wanted.args == [panel.plots[1], ".svg"]


def test_many_bars_make_their_plot_higher_and_few_do_not(qtbot):
    gil = Catalogue().load("gil-threads")
    panel = ViewsPanel(ENGLISH, Look(themes.load("dark")))
    qtbot.addWidget(panel)
    panel.show_experiment(gil)
    before = panel.plots[0].minimumHeight()
    tables = samples.gil_tables()
    few = tables["timings"]
    many = [replace(row, python=f"3.{n}") for n in range(9) for row in few]

    for count, rows in ((len(few), few), (len(many), many)):
        while panel.draw_next({**tables, "timings": rows}, {}, {"timings": count}, {}):
            pass
        assert (panel.plots[0].minimumHeight() > before) == (rows is many)
    bars = len({(row.method, row.python) for row in many})
    assert panel.plots[0].minimumHeight() > bars * 15  # the height of a line of text


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_what_few_lanes_cannot_use_is_room_for_the_other_plots(qtbot, zoom):
    experiment = Catalogue().load("race")
    recording = read(SHIPPED["race"])
    panel = ViewsPanel(ENGLISH, Look(themes.load("dark", zoom)))
    qtbot.addWidget(panel)
    panel.show_experiment(experiment)
    panel.resize(900, round(800 * zoom))
    with qtbot.waitExposed(panel):
        panel.show()
    bars, lanes, times = panel.plots
    before = bars.height()

    tables = recording.tables(experiment)
    counts = {table: len(rows) for table, rows in tables.items()}
    while panel.draw_next(tables, {}, counts, {}):
        pass
    qtbot.waitUntil(lambda: bars.height() > before)

    assert lanes.height() <= round(lanes.most_height()) < times.height()
    sides = [plot.geometry() for plot in panel.plots]
    assert panel.widget().height() - sides[-1].bottom() < 20  # nothing is left over below


@pytest.mark.parametrize("zoom", [1.0, 1.6, 2.0])
def test_no_title_stands_over_a_plot_however_many_lines_it_takes(qtbot, zoom):
    panel = ViewsPanel(ENGLISH, Look(themes.load("dark", zoom)))
    qtbot.addWidget(panel)
    panel.show_experiment(Catalogue().load("amdahl"))
    panel.mark("RECORDED · a machine with a long name · 2025-11-21", "")
    for head in heads(panel):
        head.explain("dots are measurements, the line their median")
    panel.resize(420, 500)
    with qtbot.waitExposed(panel):
        panel.show()
    qtbot.wait(1)

    parts = [part for pair in zip(heads(panel), panel.plots, strict=True) for part in pair]
    for upper, lower in itertools.pairwise(parts):
        assert upper.geometry().bottom() < lower.geometry().top()
    assert all(plot.height() >= plot.minimumHeight() for plot in panel.plots)
    for words_shown in (each for head in heads(panel) for each in (head.title, head.aside)):
        assert words_shown.height() >= words_shown.heightForWidth(words_shown.width())
    assert panel.widget().width() == panel.viewport().width()  # nothing stands out at the right
