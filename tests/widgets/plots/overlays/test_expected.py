"""The look of a plot before anything is measured, and the rows that it holds back."""

from __future__ import annotations

import pytest

from tests.gallery import plot_samples as samples
from tests.widgets.plots.overlays.kinds import (
    BARS,
    KEY,
    LADDER,
    SIZES,
    every_kind,
    of_kind,
    press,
    shown,
)
from tests.widgets.plots.plots import (
    ENGLISH,
    TABLES,
    VALUES,
    VIEWS,
    colours,
    plotted,
    reading,
    texts,
)
from widgets.style import theme as themes

every_view = pytest.mark.parametrize(("name", "view"), VIEWS, ids=lambda v: getattr(v, "key", v))
SERIES = {colour.lower() for colour in themes.load("dark").series}


def expecting(qtbot, name, view, *, faint):
    plot = plotted(qtbot, name, view, rows=[], values={})
    plot.show_expected(TABLES[name][view.table], VALUES[name], faint=faint)
    return plot


@every_view
def test_axes_and_limits_of_expected_rows_are_there_and_no_marks(qtbot, name, view):
    measured = plotted(qtbot, name, view)
    plot = expecting(qtbot, name, view, faint=False)

    assert plot.painted().layout.full == measured.painted().layout.full
    assert plot.summary().startswith(ENGLISH.say("plot.empty"))
    named = " ".join(texts(plot))
    assert all(plot.chart.terms.limit(limit) in named for limit in view.limits)
    assert not SERIES & colours(plot.grab())


@every_view
def test_expected_marks_are_faint_have_no_values_and_cannot_be_read(qtbot, name, view):
    faint = expecting(qtbot, name, view, faint=True)
    without = expecting(qtbot, name, view, faint=False)

    assert shown(faint) != shown(without)
    assert not SERIES & colours(faint.grab())
    assert texts(faint) == texts(without)
    press(faint, KEY.Key_Right, KEY.Key_End)
    assert not reading(faint)


@every_view
def test_the_first_rows_take_what_was_expected_away(qtbot, name, view):
    plot = expecting(qtbot, name, view, faint=True)
    rows = TABLES[name][view.table]

    plot.draw([], {})
    assert plot.painted().layout.full == plotted(qtbot, name, view).painted().layout.full
    plot.draw(rows[:2], VALUES[name])

    fresh = plotted(qtbot, name, view, rows=rows[:2])
    assert shown(plot) == shown(fresh)
    assert plot.summary() == fresh.summary()


def test_what_is_expected_can_be_zoomed_and_the_run_is_shown_whole(qtbot):
    plot = expecting(qtbot, *LADDER, faint=True)
    plot.zoom_in()
    assert plot.chart.is_zoomed

    plot.draw(TABLES["cache-ladder"]["steps"], {})

    assert not plot.chart.is_zoomed


@every_view
def test_without_rows_to_expect_a_plot_is_empty(qtbot, name, view):
    plot = plotted(qtbot, name, view, rows=[], values={})

    plot.show_expected([], VALUES[name], faint=True)

    assert plot.painted().layout.is_empty
    assert plot.summary() == ENGLISH.say("plot.empty")


def test_a_sketch_without_rows_has_the_axes_that_it_needs(qtbot):
    plot = plotted(qtbot, *LADDER, rows=[], values={})

    plot.begin_sketch(SIZES, (1e-9,) * 5, 1e-9, 1e-7)

    full = plot.painted().layout.full
    assert (full.x, full.y) == ((12.0, 28.0), (-9.0, -7.0))
    plot.end_sketch()
    assert plot.painted().layout.is_empty


def test_a_marker_without_rows_invents_no_other_axis(qtbot):
    bare = plotted(qtbot, *LADDER, rows=[], values={})

    bare.begin_marker(2.0**20, 2.0**12, 2.0**28)

    assert bare.painted().layout.full.x == (12.0, 28.0)
    assert bare.painted().area.rect.left() < 30  # no ticks at its left


@every_kind
def test_marks_held_back_are_neither_drawn_nor_said_until_they_are_let_go(qtbot, kind):
    held = {"lines": "random", "cells": "3"}.get(kind, "threads")
    plot = of_kind(qtbot, kind)
    before, summary = shown(plot), plot.summary()

    plot.hold_back((held,))

    tracks = plot.chart.tracks()
    labels = {track.label_of(point) for track in tracks for point in range(len(track.xs))}
    assert labels
    assert held not in labels
    assert shown(plot) != before
    assert plot.summary() != summary
    plot.hold_back(())
    plot.chart.forget_widest()
    assert shown(plot) == before
    assert plot.summary() == summary


def test_marks_stay_held_back_while_rows_come(qtbot):
    rows = samples.gil_tables()["timings"]
    plot = plotted(qtbot, *BARS, rows=rows[:6])
    plot.hold_back(("threads",))

    plot.draw(rows, {})
    without = plot.summary()
    plot.hold_back(())

    assert "threads: " not in without.replace("in threads: ", "")
    assert plot.summary() == plotted(qtbot, *BARS, values={}).summary()
