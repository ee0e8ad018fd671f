"""A sketch is drawn and a marker is moved, by mouse and by keys."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible

from experiments.core.views import Axis, Lines
from tests.widgets.plots.overlays.kinds import (
    BARS,
    KEY,
    LADDER,
    LANES,
    PINS,
    SIZES,
    cells,
    click,
    drag,
    every_kind,
    of_kind,
    pixel,
    press,
    shown,
)
from tests.widgets.plots.plots import plotted, reading

SHIFT = Qt.KeyboardModifier.ShiftModifier
LOW, HIGH = 1e-10, 1e-6  # a range of four powers of ten
LINEAR = Lines(key="ladder", table="steps", x=Axis("size_bytes"), y=Axis("latency_s"))


def sketching(qtbot, view=LADDER, heights=(1e-9,) * 5, low=LOW, high=HIGH):
    """Return a plot with a sketch, and the list of heights that it will emit."""
    plot, heard = plotted(qtbot, *view), []
    plot.sketched.connect(heard.append)
    plot.begin_sketch(SIZES, heights, low, high)
    return plot, heard


def marking(qtbot, view, *about):
    plot, heard = plotted(qtbot, *view), []
    plot.marked.connect(heard.append)
    plot.begin_marker(*about)
    return plot, heard


# --- the sketch ---------------------------------------------------------------------------------


def test_a_click_anywhere_in_its_column_sets_a_handle(qtbot):
    plot, heard = sketching(qtbot)

    click(plot, pixel(plot, 20.6, -8.0))

    assert len(heard) == 1
    assert heard[0][2] == pytest.approx(1e-8, rel=0.05)
    assert heard[0][:2] + heard[0][3:] == (1e-9,) * 4


def test_dragging_moves_a_handle_up_and_down_and_no_other(qtbot):
    plot, heard = sketching(qtbot)

    drag(plot, pixel(plot, 16.0, -9.0), pixel(plot, 16.0, -8.5), pixel(plot, 23.0, -7.0))

    assert heard[-1][1] == pytest.approx(1e-7, rel=0.05)
    assert heard[-1][0] == heard[-1][2] == 1e-9


def test_after_a_sketch_the_plot_still_shows_its_marks(qtbot):
    plot = plotted(qtbot, *LADDER)
    before = shown(plot)
    plot.begin_sketch(SIZES, (1e-9,) * 5, 1e-9, 1e-7)

    drag(plot, pixel(plot, 16.0, -9.0), pixel(plot, 16.0, -8.5))
    plot.end_sketch()

    assert shown(plot) == before


def test_a_click_on_a_handle_chooses_it_without_moving_it(qtbot):
    plot, heard = sketching(qtbot)

    click(plot, pixel(plot, 24.0, -9.0) + QPoint(3, 3))

    assert heard == []
    press(plot, KEY.Key_Up)
    assert heard[0][3] > 1e-9


def test_heights_stay_between_their_ends(qtbot):
    plot, heard = sketching(qtbot, low=5e-10, high=2e-8)

    drag(plot, pixel(plot, 12.0, -9.0), pixel(plot, 12.0, -6.5))
    assert heard[-1][0] == 2e-8
    drag(plot, pixel(plot, 12.0, -7.7), pixel(plot, 12.0, -12.0))
    assert heard[-1][0] == 5e-10


def test_keys_choose_a_handle_and_move_it_by_parts_of_the_axis(qtbot):
    plot, heard = sketching(qtbot)
    low, high = plot.painted().area.sight.y

    press(plot, KEY.Key_Right, KEY.Key_Right, KEY.Key_Up)
    press(plot, KEY.Key_Left)
    press(plot, KEY.Key_Down, held=SHIFT)

    moved = math.log10(heard[0][2]) + 9.0, math.log10(heard[1][1]) + 9.0
    assert moved == pytest.approx(((high - low) / 20, -(high - low) / 100))
    assert len(heard) == 2


def test_home_and_end_go_to_the_first_and_the_last(qtbot):
    plot, heard = sketching(qtbot)
    press(plot, KEY.Key_End, KEY.Key_Up, KEY.Key_Home, KEY.Key_Down)
    assert [height != 1e-9 for height in heard[-1]] == [True, False, False, False, True]

    plot, heard = marking(qtbot, LADDER, 2.0**20, 2.0**14, 2.0**26)
    press(plot, KEY.Key_End, KEY.Key_Home, KEY.Key_Up)
    assert heard[:2] == [2.0**26, 2.0**14]
    assert heard[2] > heard[1]


def test_keys_stop_at_the_ends_and_tell_nothing_there(qtbot):
    plot, heard = sketching(qtbot, heights=(HIGH,) * 5)

    press(plot, *[KEY.Key_Right] * 9, KEY.Key_Up)
    assert heard == []
    press(plot, KEY.Key_Down)
    assert heard[0][:4] == (HIGH,) * 4
    assert heard[0][4] < HIGH


def test_the_chosen_handle_is_announced_with_its_value(qtbot, monkeypatch):
    said = []
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: said.append(event.message())
    )
    plot, _ = sketching(qtbot)

    press(plot, KEY.Key_Right)
    press(plot, *[KEY.Key_Up] * 5)

    assert said[0] == "64 KiB · 1 ns"
    assert said[-1].startswith("64 KiB · 1")
    assert said[-1] != said[0]
    assert reading(plot) == said[-1]


def test_keys_of_others_are_left_to_them_while_one_sketches(qtbot):
    plot, heard = sketching(qtbot)

    press(plot, KEY.Key_Plus)
    assert plot.chart.is_zoomed
    with qtbot.waitSignal(plot.table_wanted):
        press(plot, KEY.Key_D, held=Qt.KeyboardModifier.ControlModifier)
    assert heard == []


def test_handles_follow_the_zoom(qtbot):
    plot, heard = sketching(qtbot)
    plot.zoom_in()

    click(plot, pixel(plot, 20.0, -8.0))

    assert heard[0][2] == pytest.approx(1e-8, rel=0.05)


def test_a_sketch_on_linear_axes(qtbot):
    plot, heard = sketching(qtbot, ("cache-ladder", LINEAR), (5e-8,) * 5, 0.0, 2e-7)

    press(plot, KEY.Key_Up)
    click(plot, pixel(plot, 2.0**28, 0.0))

    low, high = plot.painted().area.sight.y
    assert heard[0][0] == pytest.approx(5e-8 + (high - low) / 20)
    assert heard[1][4] == pytest.approx(0.0, abs=1e-9)


def test_the_axes_hold_all_that_a_sketch_may_become(qtbot):
    plot, _ = sketching(qtbot)
    full = plot.painted().layout.full

    assert full.y[0] <= -10.0
    assert full.y[1] >= -6.0
    plot.end_sketch()
    assert plot.painted().layout.full == plotted(qtbot, *LADDER).painted().layout.full


def test_the_handles_go_with_the_sketch_and_are_in_no_picture(qtbot):
    plot = plotted(qtbot, *LADDER)
    before, picture = shown(plot), plot.picture()

    plot.begin_sketch(SIZES, (2e-9,) * 5, 1.5e-9, 1e-7)
    assert shown(plot) != before
    assert plot.picture() == picture
    plot.end_sketch()
    plot.end_sketch()
    assert shown(plot) == before


@every_kind
def test_a_sketch_is_for_lines_alone(qtbot, kind):
    plot = of_kind(qtbot, kind)
    before = shown(plot)

    plot.begin_sketch(SIZES, (1e-9,) * 5, LOW, HIGH)

    assert (shown(plot) == before) == (kind != "lines")


def test_a_sketch_of_no_points_is_none(qtbot):
    plot = plotted(qtbot, *LADDER)
    before = shown(plot)

    plot.begin_sketch((), (), LOW, HIGH)

    assert shown(plot) == before


# --- the marker ---------------------------------------------------------------------------------


def test_a_marker_is_dragged_and_moved_by_keys(qtbot):
    plot, heard = marking(qtbot, LADDER, 2.0**20, 2.0**12, 2.0**28)
    low, high = plot.painted().area.sight.x

    drag(plot, pixel(plot, 20.0, -8.0), pixel(plot, 24.0, -8.0))
    assert math.log2(heard[-1]) == pytest.approx(24.0, abs=0.05)
    at = math.log2(heard[-1])
    press(plot, KEY.Key_Left)
    press(plot, KEY.Key_Right, held=SHIFT)

    moved = [math.log2(x) - at for x in heard[-2:]]
    assert moved == pytest.approx([-(high - low) / 20, -(high - low) / 20 + (high - low) / 100])


@pytest.mark.parametrize(
    ("view", "place", "ends"),
    [(BARS, 0.5, (0.0, 0.7)), (LANES, 0.5, (0.0, 0.6)), (PINS, -0.3, (0.2, 1.0))],
    ids=["bars", "lanes", "pins"],
)
def test_a_marker_stands_wherever_numbers_are_along_x(qtbot, view, place, ends):
    plot, heard = marking(qtbot, view, 0.3, *ends)

    click(plot, pixel(plot, place, 0.0))

    assert heard == [pytest.approx(10**place if view is PINS else place, rel=0.02)]
    assert reading(plot)


def test_a_marker_with_a_step_keeps_to_it(qtbot):
    step = 2.0**26
    plot, heard = marking(qtbot, ("cache-ladder", LINEAR), 1.2 * step, 0.0, 4 * step, step)

    for _ in range(5):  # a key alone would move less than half a step
        press(plot, KEY.Key_Right, held=SHIFT)
    drag(plot, pixel(plot, 2.0**28, 1e-7), pixel(plot, 1.7 * step, 1e-7))

    assert heard == [2 * step, 3 * step, 4 * step, 2 * step]


def test_a_marker_says_its_value_and_stays_between_its_ends(qtbot):
    plot, heard = marking(qtbot, LADDER, 2.0**20, 2.0**18, 2.0**22)
    assert reading(plot) == "1 MiB"

    drag(plot, pixel(plot, 20.0, -8.0), pixel(plot, 28.0, -8.0))

    assert heard[-1] == 2.0**22
    assert reading(plot) == "4 MiB"


def test_over_names_there_is_no_marker(qtbot):
    plot = cells(qtbot)
    before = shown(plot)

    plot.begin_marker(3.0, 0.0, 7.0)

    assert shown(plot) == before


def test_a_marker_goes_and_is_in_no_picture(qtbot):
    plot = plotted(qtbot, *LADDER)
    before, picture = shown(plot), plot.picture()

    plot.begin_marker(2.0**20, 2.0**12, 2.0**28)
    assert shown(plot) != before
    assert plot.picture() == picture
    plot.end_sketch()  # there is none
    assert shown(plot) != before
    plot.end_marker()
    assert shown(plot) == before
