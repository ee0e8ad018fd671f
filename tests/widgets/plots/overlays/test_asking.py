"""A mark or a place is picked by a click or by keys, and announced when it is pointed at."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtWidgets import QApplication

from tests.widgets.plots.overlays.kinds import (
    BARS,
    KEY,
    LADDER,
    LANES,
    PINS,
    cells,
    click,
    drag,
    every_kind,
    of_kind,
    pixel,
    point_at,
    press,
    shown,
)
from tests.widgets.plots.plots import plotted


def asked(plot) -> list[tuple[str, float]]:
    """Ask a plot, and return the list of what will be picked."""
    heard: list[tuple[str, float]] = []
    plot.picked.connect(lambda label, x: heard.append((label, x)))
    plot.ask(True)
    return heard


def pointed(plot) -> list[str]:
    heard: list[str] = []
    plot.pointed.connect(lambda label, _x: heard.append(label))
    return heard


# --- by mouse -----------------------------------------------------------------------------------


def test_a_click_anywhere_in_its_row_picks_a_bar(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = asked(plot)

    click(plot, pixel(plot, 0.05, 1.0))
    click(plot, QPoint(12, pixel(plot, 0.0, 1.2).y()))  # its name
    click(plot, pixel(plot, 0.75, 0.0))  # right of its end

    value = plot.chart.tracks()[1].xs[0]
    assert heard[:2] == [("threads", value)] * 2
    assert heard[2][0] == "serial"


def test_a_click_between_two_places_of_a_line_picks_the_place_itself(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = asked(plot)

    click(plot, pixel(plot, 20.25, -7.7))
    click(plot, pixel(plot, 20.25, -8.8))

    assert [label for label, _ in heard] == ["random", "sequential"]
    for _, x in heard:
        assert math.log2(x) == pytest.approx(20.25, abs=0.03)


def test_a_click_on_a_point_of_a_line_picks_its_own_place(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = asked(plot)
    track = plot.chart.tracks()[0]

    click(plot, pixel(plot, track.xs[10], track.ys[10]) + QPoint(2, 2))

    assert heard == [("random", pytest.approx(2 ** track.xs[10]))]


def test_a_click_on_a_lane_picks_its_group_and_the_time(qtbot):
    plot = plotted(qtbot, *LANES)
    heard = asked(plot)
    lane = next(track for track in plot.chart.tracks() if track.label == "threads")

    click(plot, pixel(plot, 0.7, lane.ys[0]))  # where nothing ran
    click(plot, QPoint(20, pixel(plot, 0.0, lane.ys[0]).y()))  # its name

    assert heard[0] == ("threads", pytest.approx(0.7, abs=0.002))
    assert heard[1][0] == "threads"
    assert math.isnan(heard[1][1])


def test_a_click_on_a_cell_picks_row_and_column(qtbot):
    plot = cells(qtbot)
    heard: list[tuple[str, float, str]] = []
    plot.picked.connect(lambda *found: heard.append(found))
    plot.ask(True)

    click(plot, pixel(plot, 5.2, 2.0))

    assert heard == [("2", 5.0, "5")]


def test_a_click_on_a_pin_or_its_flag_picks_it(qtbot):
    plot = plotted(qtbot, *PINS)
    heard = asked(plot)
    track = plot.chart.tracks()[0]
    flag = next(label for label in plot.painted().labels if label.of == "processes")

    click(plot, pixel(plot, track.xs[2], 0.0))
    click(plot, flag.rect.center().toPoint())

    assert heard[0] == (track.labels[2], pytest.approx(10 ** track.xs[2]))
    assert heard[1][0] == "processes"


@every_kind
def test_a_click_beside_everything_picks_nothing(qtbot, kind):
    plot = of_kind(qtbot, kind)
    heard = asked(plot)

    click(plot, QPoint(plot.width() - 3, plot.height() - 3))

    assert heard == []


def test_dragging_neither_picks_nor_pans_while_asked(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.zoom_in()
    heard, before = asked(plot), plot.painted().area.sight

    drag(plot, QPoint(400, 150), QPoint(470, 150), QPoint(480, 150))

    assert heard == []
    assert plot.painted().area.sight == before


def test_after_asking_a_click_picks_nothing_and_dragging_pans(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.zoom_in()
    heard, before = asked(plot), plot.painted().area.sight

    plot.ask(False)
    click(plot, pixel(plot, 20.25, -7.7))
    drag(plot, QPoint(400, 150), QPoint(470, 150), QPoint(480, 150))

    assert heard == []
    assert plot.painted().area.sight != before


def test_a_second_click_picks_again_and_does_not_zoom(qtbot):
    plot = plotted(qtbot, *BARS)
    plot.zoom_in()
    heard, at = asked(plot), pixel(plot, 0.3, 2.0)

    click(plot, at)
    click(plot, at)

    assert len(heard) == 2
    assert plot.chart.is_zoomed


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("bars", (0.3, 1.0)),
        ("lanes", (0.3, 0.0)),
        ("lines", (20.2, -8.0)),
        ("cells", (3.0, 2.0)),
        ("pins", (-0.2, 0.0)),
    ],
)
def test_what_a_click_would_pick_lights_up_while_asked(qtbot, kind, place):
    plot = of_kind(qtbot, kind)
    plot.ask(True)
    before = shown(plot)

    point_at(plot, pixel(plot, *place))

    assert shown(plot) != before
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    assert shown(plot) == before


# --- by keyboard --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bars", "lanes", "lines", "cells"])
def test_enter_picks_the_mark_at_the_cursor(qtbot, kind):
    plot = of_kind(qtbot, kind)
    heard = asked(plot)

    press(plot, KEY.Key_Right, KEY.Key_Down, KEY.Key_Home, KEY.Key_Return)

    first = float(plot.chart.tracks()[1].xs[0])
    wanted = {
        "bars": ("threads", first),
        "lanes": ("threads", first),
        "lines": ("sequential", pytest.approx(2**first)),
        "cells": ("1", 0.0),
    }
    assert heard == [wanted[kind]]


def test_enter_picks_the_pin_at_the_cursor(qtbot):
    plot = plotted(qtbot, *PINS)
    heard = asked(plot)

    press(plot, KEY.Key_Right, KEY.Key_Right, KEY.Key_Enter)

    track = plot.chart.tracks()[0]
    assert heard == [(track.labels[1], pytest.approx(10 ** track.xs[1]))]


def test_enter_is_left_to_others_without_a_cursor_and_without_a_question(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = asked(plot)

    press(plot, KEY.Key_Return)
    point_at(plot, pixel(plot, 0.3, 1.0))
    press(plot, KEY.Key_Return)
    plot.ask(False)
    press(plot, KEY.Key_Right, KEY.Key_Return)

    assert heard == []


# --- pointing -----------------------------------------------------------------------------------


def test_it_tells_each_other_mark_once_that_the_mouse_or_a_key_reaches(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = pointed(plot)

    point_at(plot, pixel(plot, 0.1, 1.0))
    point_at(plot, pixel(plot, 0.2, 1.0))
    point_at(plot, pixel(plot, 0.2, 0.0))
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    press(plot, KEY.Key_Right, KEY.Key_Down, KEY.Key_Escape)

    assert heard == ["threads", "serial", "", "serial", "threads", ""]


def test_a_line_is_pointed_at_only_near_its_points(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = pointed(plot)
    track = plot.chart.tracks()[0]

    point_at(plot, pixel(plot, track.xs[20], track.ys[20]))
    point_at(plot, pixel(plot, 14.0, -7.0))

    assert heard == ["random", ""]


def test_rows_that_move_below_the_mouse_are_told(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = pointed(plot)
    point_at(plot, pixel(plot, 0.1, 1.0))

    plot.hold_back(("threads",))

    assert heard[0] == "threads"
    assert heard[-1] == "processes"


def test_while_asked_the_mouse_does_not_read(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = []
    plot.reading_changed.connect(heard.append)
    track = plot.chart.tracks()[0]
    mark = pixel(plot, track.xs[0], track.ys[0])

    plot.ask(True)
    point_at(plot, mark)
    assert heard == []
    plot.ask(False)
    point_at(plot, mark)
    assert len(heard) == 1
