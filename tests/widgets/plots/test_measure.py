"""Two lines measure what is between them, by keys and by the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible

from tests.widgets.plots.overlays.kinds import (
    BARS,
    KEY,
    LADDER,
    LANES,
    SIZES,
    cells,
    drag,
    pixel,
    press,
    shown,
)
from tests.widgets.plots.plots import ENGLISH, TABLES, look, plotted, reading
from widgets.style import theme as themes

SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_m_measures_along_x_then_along_y_and_then_no_more(qtbot):
    plot = plotted(qtbot, *LADDER)
    before = shown(plot)

    press(plot, KEY.Key_M)
    along_x, picture = reading(plot), shown(plot)
    press(plot, KEY.Key_M)
    along_y = reading(plot)
    press(plot, KEY.Key_M)

    low, high = (2 ** (12 + part * 16) for part in (1 / 3, 2 / 3))
    show = plot.chart.terms.show
    values = {
        "low": show(low, "size_bytes"),
        "high": show(high, "size_bytes"),
        "distance": show(high - low, "size_bytes"),
        "times": "40.3",
    }
    assert along_x == ENGLISH.say("plot.measured_times", values)
    assert along_y.endswith("s")  # seconds
    assert picture != before
    assert not reading(plot)
    assert shown(plot) == before


def test_keys_move_one_line_and_choose_the_other(qtbot, monkeypatch):
    said = []
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: said.append(event.message())
    )
    plot = plotted(qtbot, *BARS)
    press(plot, KEY.Key_M)
    low, high = plot.painted().area.sight.x

    press(plot, KEY.Key_Home)  # from zero nothing is a multiple
    assert said[-1].startswith("From 0 s to ")
    assert "times" not in said[-1]
    press(plot, KEY.Key_Down, KEY.Key_End)
    press(plot, KEY.Key_Left, held=SHIFT)

    last = plot.chart.terms.show(high - (high - low) / 100, "wall_s")
    assert said[-1] == reading(plot) == f"From 0 s to {last}: {last}"


def test_the_mouse_drags_a_line_and_pans_beside_it(qtbot):
    plot = plotted(qtbot, *LADDER)
    press(plot, KEY.Key_M, KEY.Key_Plus)
    sight = plot.painted().area.sight
    one = 12 + 16 / 3

    drag(plot, pixel(plot, one, -8.0), pixel(plot, 18.0, -8.0), pixel(plot, 20.0, -8.0))

    assert plot.painted().area.sight == sight
    assert reading(plot).startswith("From 1 MiB to 6.35 MiB: ")
    drag(plot, *(pixel(plot, x, -8.0) for x in (16.0, 17.0, 18.0)))
    assert plot.painted().area.sight != sight


def test_escape_takes_the_lines_away_first_and_leaves_the_cursor(qtbot):
    plot = plotted(qtbot, *LADDER)
    press(plot, KEY.Key_Right)
    read = reading(plot)

    press(plot, KEY.Key_M)
    assert reading(plot) != read
    press(plot, KEY.Key_Escape)
    assert reading(plot) == read
    press(plot, KEY.Key_Escape)
    assert not reading(plot)


def test_lines_stay_at_their_values_when_the_plot_is_zoomed_and_go_with_the_run(qtbot):
    plot = plotted(qtbot, *LADDER)
    press(plot, KEY.Key_M)
    said = reading(plot)

    press(plot, KEY.Key_Plus, KEY.Key_Plus)
    assert reading(plot) == said
    plot.draw(TABLES["cache-ladder"]["steps"][3:9], {})
    assert not reading(plot)


def test_the_lines_take_the_colours_of_another_theme(qtbot):
    wears = look("dark")
    plot = plotted(qtbot, *BARS, wears=wears)
    press(plot, KEY.Key_M)
    fresh = plotted(qtbot, *BARS, wears=look("light"))
    press(fresh, KEY.Key_M)

    wears.wear(themes.load("light"))

    assert shown(plot) == shown(fresh)


def test_over_names_there_is_nothing_to_measure(qtbot):
    plot = cells(qtbot)
    before = shown(plot)
    press(plot, KEY.Key_M)
    assert shown(plot) == before

    plot = plotted(qtbot, *LANES)
    press(plot, KEY.Key_M)
    assert reading(plot)
    press(plot, KEY.Key_M)  # along y there are names
    assert not reading(plot)


@pytest.mark.parametrize("begin", ["ask", "sketch"])
def test_a_lesson_that_asks_for_something_has_the_keys(qtbot, begin):
    plot = plotted(qtbot, *LADDER)
    press(plot, KEY.Key_M)
    measured = reading(plot)

    if begin == "ask":
        plot.ask(True)
    else:
        plot.begin_sketch(SIZES, (1e-9,) * 5, 1e-10, 1e-6)
    assert reading(plot) != measured
    before = reading(plot)
    press(plot, KEY.Key_M)

    assert reading(plot) == before


def test_the_lines_are_in_no_picture(qtbot):
    plot = plotted(qtbot, *LADDER)
    picture = plot.picture()

    press(plot, KEY.Key_M)

    assert plot.picture() == picture
