"""Marks and stretches light up, and the axis zooms to them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor

from experiments.core.teaching.lesson_run import Spot
from tests.widgets.plots.overlays.kinds import (
    BARS,
    LADDER,
    LANES,
    PINS,
    cells,
    every_kind,
    has_changed,
    of_kind,
    pixel,
    shown,
)
from tests.widgets.plots.plots import TABLES, look, plotted
from widgets.plots.overlays import places
from widgets.style import theme as themes

NAMES = {"lines": ("random",), "cells": ("3",)}


def wash(mode: str) -> QColor:
    return QColor(themes.load(mode).accent_wash)


@every_kind
def test_the_marks_of_a_name_light_up_and_go_out(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before = shown(plot)

    plot.light(Spot(names=NAMES.get(kind, ("threads",))))
    assert shown(plot) != before
    plot.light(None)
    assert shown(plot) == before


@every_kind
def test_nothing_lights_up_for_a_name_that_is_not_there(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before = shown(plot)

    plot.light(Spot(names=("nobody",)))

    assert shown(plot) == before


@pytest.mark.parametrize("mode", themes.MODES)
def test_light_lies_behind_a_bar_and_its_words(qtbot, mode):
    plot = plotted(qtbot, *BARS, wears=look(mode))
    before = shown(plot)
    own, other = pixel(plot, 0.72, 1.35), pixel(plot, 0.72, 2.35)
    bar, left = pixel(plot, 0.1, 1.0), plot.painted().area.rect.left()

    plot.light(Spot(names=("threads",)))

    after = shown(plot)
    assert after.pixelColor(own) == wash(mode)
    assert after.pixelColor(other) == before.pixelColor(other) != wash(mode)
    assert after.pixelColor(bar).hue() == pytest.approx(before.pixelColor(bar).hue(), abs=8)
    name = [(x, own.y() - dy) for x in range(8, int(left)) for dy in range(5, 20)]
    strongest = min if mode == "light" else max
    words = [
        strongest(picture.pixelColor(*at).lightness() for at in name) for picture in (before, after)
    ]
    assert words[0] == words[1]


def test_a_stretch_lights_up_between_its_ends_alone(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.light(Spot(low=2.0**20, high=2.0**24))

    picture = shown(plot)

    assert picture.pixelColor(pixel(plot, 22.1, -7.3)) == wash("dark")
    assert picture.pixelColor(pixel(plot, 19.8, -7.3)) != wash("dark")
    assert picture.pixelColor(pixel(plot, 24.2, -7.3)) != wash("dark")


def test_a_stretch_may_be_open_and_a_single_value(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.light(Spot(high=2.0**16))
    assert shown(plot).pixelColor(pixel(plot, 13.2, -7.3)) == wash("dark")
    plot.light(Spot(low=2.0**18, high=2.0**18))
    at = pixel(plot, 18.0, -7.3)
    assert shown(plot).pixelColor(at + QPoint(1, 0)) == wash("dark")


def test_light_on_a_lane_ends_where_its_stretch_ends(qtbot):
    plot = plotted(qtbot, *LANES)
    before = shown(plot)
    lane = next(track for track in plot.chart.tracks() if track.label == "threads")

    plot.light(Spot(names=("threads",), low=0.6, high=0.7))

    after = shown(plot)
    assert has_changed(before, after, pixel(plot, 0.66, lane.ys[0]))
    assert not has_changed(before, after, pixel(plot, 0.5, lane.ys[0]))
    assert not has_changed(before, after, pixel(plot, 0.66, lane.ys[0] - 1.5))


def test_neighbouring_cells_light_up_as_one_block_each(qtbot):
    plot = cells(qtbot)
    far = [(str(a), str(b)) for a in range(8) for b in range(8) if a // 4 != b // 4]

    blocks = places.rects_of(plot.chart, plot.painted(), Spot(pairs=(*far, ("0", "1"))))

    point = plot.painted().area.point
    corners = [((3.5, -0.5), (7.5, 3.5)), ((-0.5, 3.5), (3.5, 7.5)), ((0.5, -0.5), (1.5, 0.5))]
    expected = [QRectF(point(*one), point(*other)) for one, other in corners]
    assert sorted(blocks, key=QRectF.getCoords) == sorted(expected, key=QRectF.getCoords)


@every_kind
def test_light_stays_out_of_exported_pictures(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before = plot.picture()

    plot.light(Spot(names=NAMES.get(kind, ("threads",))))

    assert plot.picture() == before


def test_light_follows_rows_and_zoom(qtbot):
    plot = plotted(qtbot, *BARS)
    plot.light(Spot(names=("threads",)))

    plot.draw([row for row in TABLES["gil-threads"]["timings"] if row.method != "serial"], {})

    assert shown(plot).pixelColor(pixel(plot, 0.72, 0.35)) == wash("dark")


# --- zoom ---------------------------------------------------------------------------------------


def test_a_stretch_fills_the_middle_half_after_zooming_to_it(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.zoom_to(Spot(low=2.0**18, high=2.0**20))

    assert plot.painted().area.sight.x == pytest.approx((17.0, 21.0))
    assert shown(plot).pixelColor(pixel(plot, 19.3, -7.3)) == wash("dark")
    plot.show_all()
    assert plot.painted().area.sight == plot.painted().layout.full


def test_zooming_to_a_place_at_the_edge_shows_nothing_beyond(qtbot):
    plot = plotted(qtbot, *LADDER)

    plot.zoom_to(Spot(low=2.0**26, high=2.0**28))

    assert plot.painted().area.sight.x[1] == 28.0
    assert plot.painted().area.sight.x[0] < 26.0


def test_it_zooms_to_the_pins_and_lanes_of_names_and_to_columns(qtbot):
    pins, lanes, heat = plotted(qtbot, *PINS), plotted(qtbot, *LANES), cells(qtbot)

    pins.zoom_to(Spot(names=("threads",)))
    lanes.zoom_to(Spot(low=0.2, high=0.3))
    heat.zoom_to(Spot(names=("2",), low=3.0, high=4.0))

    track = pins.chart.tracks()[0]
    low, high = pins.painted().area.sight.x
    assert low < track.xs[track.labels.index("threads")] < high
    assert pins.chart.is_zoomed
    assert lanes.painted().area.sight.x == pytest.approx((0.15, 0.35))
    assert heat.painted().area.sight.x == pytest.approx((1.5, 5.5))


def test_bars_are_lit_and_not_zoomed(qtbot):
    plot = plotted(qtbot, *BARS)

    plot.zoom_to(Spot(names=("threads",)))

    assert not plot.chart.is_zoomed
    assert shown(plot).pixelColor(pixel(plot, 0.72, 1.35)) == wash("dark")


@every_kind
def test_an_unknown_spot_zooms_nothing(qtbot, kind):
    plot = of_kind(qtbot, kind)

    plot.zoom_to(Spot(names=("nobody",)))
    plot.zoom_to(Spot(low=1e12, high=1e13))

    assert not plot.chart.is_zoomed


def test_an_empty_plot_takes_light_and_zoom(qtbot):
    plot = plotted(qtbot, *LADDER, rows=[], values={})

    plot.light(Spot(names=("random",), low=1.0))
    plot.zoom_to(Spot(low=1.0, high=2.0))
    plot.ask(True)

    assert plot.painted().layout.is_empty
    assert not plot.chart.is_zoomed
