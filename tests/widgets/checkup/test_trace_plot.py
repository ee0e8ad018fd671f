"""The samples under load, as curves."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from tests.widgets.sheets.below import WORDS, Below
from widgets.checkup.trace_plot import TracePanel, curves, thinned

TRACE = [
    {"t_s": 0.0, "core_hz": 4e9, "gpu0_hz": 2e9, "gpu0_celsius": 40.0, "unknown_hz": 1.0},
    {"t_s": 1.0, "core_hz": 3.9e9, "gpu0_hz": 1e9, "gpu0_celsius": 90.0,
     "gpu0_held_back": "clock_reasons.software_thermal, clock_reasons.power_cap"},
    {"t_s": 2.0, "core_hz": "fast", "gpu0_hz": float("nan")},
]  # fmt: skip


@pytest.fixture
def panel(qtbot):
    window = Below(qtbot)
    panel = TracePanel(WORDS, window.look)
    window.layout().addWidget(panel)
    panel.window_below = window
    return panel


def test_each_known_value_is_a_curve_of_its_numbers():
    found = {curve.key: curve for curve in curves(WORDS, TRACE)}

    assert list(found) == ["core_hz", "gpu0_hz", "gpu0_celsius"]
    assert found["core_hz"].points == [(0.0, 4e9), (1.0, 3.9e9)]
    assert found["gpu0_hz"].title == WORDS.say("checkup_page.curves.gpu_hz", {"number": "0"})


def test_the_clock_says_when_and_why_it_was_slowed():
    found = {curve.key: curve for curve in curves(WORDS, TRACE)}

    assert found["gpu0_hz"].held == [1.0]
    told = [WORDS.say(f"clock_reasons.{key}") for key in ("software_thermal", "power_cap")]
    assert found["gpu0_hz"].reasons == ", ".join(told)
    assert found["gpu0_celsius"].reasons == ""


def test_a_tile_says_its_last_value_and_its_range(panel):
    panel.show_trace(TRACE)

    tile = panel.tiles["gpu0_celsius"]
    assert tile.last == "90 °C"
    values = {"low": "40 °C", "high": "90 °C", "duration": 1.0}
    assert WORDS.say("checkup_page.curve_range", values) in tile.accessibleDescription()
    assert panel.isVisible()


def test_nothing_watched_is_nothing_shown(panel):
    panel.show_trace(TRACE)
    panel.show_trace([])

    assert panel.tiles == {}
    assert not panel.isVisible()


def test_a_curve_is_drawn_where_its_values_are(panel, qtbot):
    rising = [{"t_s": float(t_s), "gpu0_celsius": 40.0 + t_s} for t_s in range(60)]
    panel.window_below.resize(600, 400)
    panel.show_trace(rising)
    tile = panel.tiles["gpu0_celsius"]
    qtbot.waitUntil(lambda: tile.width() > 100)
    image = tile.grab().toImage()
    theme = panel.window_below.look.theme

    def top_of_curve(x: int) -> int:
        """Return the row below the title that is most like the colour of the curve."""
        curve = QColor(theme.series_colour(0))

        def unlike(y: int) -> int:
            here = image.pixelColor(x, y)
            return abs(here.red() - curve.red()) + abs(here.blue() - curve.blue())

        return min(range(image.height() // 4, image.height()), key=unlike)

    left, right = (top_of_curve(round(image.width() * share)) for share in (0.2, 0.8))
    assert right < left - 5


def test_a_long_curve_is_thinned_to_its_extremes():
    points = [(float(t_s), float(t_s % 7)) for t_s in range(3600)]
    points[1234] = (1234.0, 99.0)
    points[2345] = (2345.0, -99.0)

    found = thinned(points, 400)

    assert len(found) <= 400
    assert {points[1234], points[2345]} <= {*found}
    assert found == sorted(found)
    assert thinned(points[:300], 400) == points[:300]
