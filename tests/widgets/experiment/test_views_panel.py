from __future__ import annotations

import pytest

from experiments import words
from experiments.catalogue import Catalogue
from experiments.engine.recording import read
from tests.app.recordings import burst
from widgets import theme as themes
from widgets.experiment.views_panel import ViewsPanel
from widgets.look import Look

BURST = Catalogue().load("burst-random")


@pytest.fixture
def rows(tmp_path):
    return read(burst().write(tmp_path / "x.coreopsis.jsonl")).tables(BURST)


@pytest.fixture
def panel(qtbot):
    panel = ViewsPanel(words.load("en"), Look(themes.load("dark")))
    qtbot.addWidget(panel)
    panel.show_experiment(BURST)
    return panel


def test_every_view_has_its_plot_and_its_title(panel):
    assert [head.title.text() for head in panel._heads] == [
        "Time per 8-byte element",
        "Confirming view: Useful bytes per second",
    ]
    assert len(panel.plots) == 2


def test_the_band_of_a_recording_stands_beside_every_title_and_moves_nothing(qtbot, panel):
    panel.resize(800, 600)
    with qtbot.waitExposed(panel):
        panel.show()
    places = [plot.geometry() for plot in panel.plots]

    panel.mark("RECORDED · machine · 2025-11-21", "")

    assert {head.band.text() for head in panel._heads} == {"RECORDED · machine · 2025-11-21"}
    assert all(head.band.isVisible() for head in panel._heads)
    assert [plot.geometry() for plot in panel.plots] == places


def test_one_plot_is_drawn_at_a_time_until_all_are_up_to_date(panel, rows):
    def draw(count, values=()):
        return panel.draw_next(rows, {}, {"reads": count}, dict(values))

    assert [draw(5), draw(5), draw(5)] == [True, True, False]
    assert [draw(6), draw(7), draw(7), draw(7)] == [True, True, True, False]


def test_a_limit_that_is_known_draws_only_the_plot_that_has_it(panel, rows):
    counts = {"reads": 5}
    while panel.draw_next(rows, {}, counts, {}):
        pass
    values = {"dependent_s": 1e-7}

    assert panel.draw_next(rows, {}, counts, values)
    assert not panel.draw_next(rows, {}, counts, values)


def test_another_run_draws_all_of_them_anew(panel, rows):
    counts = {"reads": 5}
    while panel.draw_next(rows, {}, counts, {}):
        pass
    panel.forget()

    assert panel.draw_next(rows, {}, counts, {})


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
