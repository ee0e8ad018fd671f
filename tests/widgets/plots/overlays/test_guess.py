"""A guess is shown over what was measured, with the gap between them."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtGui import QColor

from tests.widgets.plots.overlays.kinds import (
    BARS,
    LADDER,
    LANES,
    PINS,
    SIZES,
    cells,
    every_kind,
    of_kind,
    pixel,
    shown,
)
from tests.widgets.plots.plots import ENGLISH, TABLES, colours, look, plotted, texts
from widgets.plots.overlays.guess import HeightGuess, PlaceGuess, SketchGuess
from widgets.style import theme as themes

SKETCH = SketchGuess(SIZES, (1e-9, 1.2e-9, 2.5e-9, 6e-9, 1.4e-8))
YOURS = ENGLISH.say("plot.guess")
ORDERS = ("random", "sequential")


def is_shaded(picture, at) -> bool:
    """Return whether a pixel is neither bare panel nor a mark."""
    seen, panel = picture.pixelColor(at), QColor(themes.load("dark").panel)
    return seen != panel and abs(seen.lightness() - panel.lightness()) < 30


@pytest.mark.parametrize("mode", themes.MODES)
@pytest.mark.parametrize("zoom", [0.8, 2.0])
def test_a_sketch_is_drawn_named_and_overlaps_no_label(qtbot, mode, zoom):
    plot = plotted(qtbot, *LADDER, wears=look(mode, zoom))

    plot.show_guess(SKETCH)

    labels = plot.painted().labels
    assert [label.text for label in labels].count(YOURS) == 1
    assert themes.load(mode, zoom).series[1].lower() in colours(plot.grab())
    for one, other in itertools.combinations(labels, 2):
        air = (0, 2, 0, -2)
        assert not one.rect.adjusted(*air).intersects(other.rect.adjusted(*air)), (one, other)
    for label in labels:
        assert plot.rect().toRectF().contains(label.rect), label


def test_the_gap_to_the_line_is_shaded_and_nothing_beyond(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.show_guess(SKETCH)

    picture = shown(plot)

    between, above = pixel(plot, 26.3, -7.5), pixel(plot, 26.3, -6.6)
    assert is_shaded(picture, between)
    assert not is_shaded(picture, above)


def test_the_gap_is_that_of_the_named_series(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.show_guess(SketchGuess(SKETCH.xs, SKETCH.heights, of="sequential"))

    picture = shown(plot)

    assert not is_shaded(picture, pixel(plot, 26.3, -7.5))
    assert is_shaded(picture, pixel(plot, 26.3, -8.4))


def test_a_guess_of_a_series_that_is_not_there_has_no_gap(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.show_guess(SketchGuess(SKETCH.xs, SKETCH.heights, of="nobody"))

    picture = shown(plot)

    assert not is_shaded(picture, pixel(plot, 26.3, -7.5))
    assert not is_shaded(picture, pixel(plot, 26.3, -8.4))
    assert YOURS in texts(plot)


@pytest.mark.parametrize(
    ("view", "guess", "truth"),
    [(LADDER, 2.0**20, 2.0**22), (BARS, 0.2, 0.3), (LANES, 0.2, 0.3), (PINS, 0.2, 0.25)],
    ids=["lines", "bars", "lanes", "pins"],
)
def test_a_place_is_drawn_with_its_value_and_shaded_as_far_as_the_truth(qtbot, view, guess, truth):
    plot = plotted(qtbot, *view)
    bare = shown(plot)

    plot.show_guess(PlaceGuess(guess))
    alone = shown(plot)
    plot.show_guess(PlaceGuess(guess, truth))

    assert bare != alone != shown(plot)
    assert sum(text.startswith(YOURS) for text in texts(plot)) == 1


def test_a_height_is_drawn_across_lines(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.show_guess(HeightGuess(3e-8))

    value = plot.chart.terms.show(3e-8, "latency_s")
    assert ENGLISH.say("plot.guess_at", {"value": value}) in texts(plot)
    assert value in plot.summary()


@every_kind
def test_a_guess_that_has_no_place_in_a_view_changes_nothing(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before = shown(plot)

    plot.show_guess(HeightGuess(3e-8))
    assert (shown(plot) == before) == (kind != "lines")
    plot.show_guess(SKETCH)
    assert (shown(plot) == before) == (kind != "lines")


def test_over_cells_there_is_no_place_to_guess(qtbot):
    plot = cells(qtbot)
    before = shown(plot)

    plot.show_guess(PlaceGuess(3.0, 4.0))

    assert shown(plot) == before


@pytest.mark.parametrize("guess", [PlaceGuess(0.0, -1.0), HeightGuess(-1.0), HeightGuess(0.0)])
def test_a_guess_without_a_place_on_a_logarithmic_axis_is_left_out(qtbot, guess):
    plot = plotted(qtbot, *LADDER)
    before = shown(plot)

    plot.show_guess(guess)

    assert shown(plot) == before


def test_the_axes_hold_a_guess_far_from_the_data(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.show_guess(SketchGuess(SIZES, (1e-12, 1e-9, 1e-9, 1e-9, 1e-4)))

    low, high = plot.painted().layout.full.y
    assert low <= -12.0
    assert high >= -4.0
    plot.show_guess(None)
    assert plot.painted().layout.full == plotted(qtbot, *LADDER).painted().layout.full


@every_kind
def test_without_a_guess_a_plot_is_as_before(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before, summary = shown(plot), plot.summary()

    plot.show_guess(PlaceGuess(0.3, 0.5) if kind != "lines" else SKETCH)
    plot.show_guess(None)

    assert shown(plot) == before
    assert plot.summary() == summary


@pytest.mark.parametrize(
    "guess", [SKETCH, PlaceGuess(2.0**20, 2.0**24), HeightGuess(1e-8)], ids=lambda g: type(g)
)
def test_a_guess_is_in_exported_pictures_and_said(qtbot, guess):
    plot = plotted(qtbot, *LADDER)
    picture, svg, summary = plot.picture(), plot.svg(), plot.summary()

    plot.show_guess(guess)

    assert plot.picture() != picture
    assert len(plot.svg()) > len(svg)
    assert plot.summary().startswith(summary)
    assert len(plot.summary()) > len(summary)


def test_a_guess_stays_while_rows_come_and_before_there_are_any(qtbot):
    rows = TABLES["cache-ladder"]["steps"]
    plot = plotted(qtbot, *LADDER, rows=[], values={})

    plot.show_guess(SKETCH)
    assert YOURS in texts(plot)
    for count in (1, 2, 30, len(rows)):
        plot.draw(rows[:count], {})
        assert YOURS in texts(plot)
    plot.zoom_in()
    assert YOURS in texts(plot)


def test_a_single_height_and_a_guess_out_of_sight_break_nothing(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.show_guess(SketchGuess((2.0**20,), (1e-8,)))
    plot.grab()
    plot.show_guess(SketchGuess((2.0**12, 2.0**13), (1e-8, 1e-8)))
    for _ in range(8):
        plot.zoom_in()

    assert YOURS not in texts(plot)
