"""Laws of the plots of every view."""

from __future__ import annotations

import itertools
import math

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QHelpEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolTip

from experiments.core.views import Axis, Lines, Ruler
from tests.gallery import plot_samples as samples
from tests.widgets.plots.plots import (
    ENGLISH,
    EXPERIMENTS,
    TABLES,
    VALUES,
    VIEWS,
    colours,
    look,
    plotted,
    reading,
    texts,
    view_of,
    wheel,
)
from widgets.style import theme as themes

KEY = Qt.Key
every_view = pytest.mark.parametrize(("name", "view"), VIEWS, ids=lambda v: getattr(v, "key", v))
BARS = ("gil-threads", view_of("gil-threads", "wall"))
LADDER = ("cache-ladder", view_of("cache-ladder", "fetched_ahead"))


def is_same(one, other) -> bool:
    """Return whether all channels agree; a line of several passes rounds each by a step or two."""
    return all(abs(a - b) <= 2 for a, b in zip(one.getRgb(), other.getRgb(), strict=True))


def is_left(plot, key, held=Qt.KeyboardModifier.NoModifier) -> bool:
    """Return whether a plot leaves a key to others."""
    event = QKeyEvent(QEvent.Type.KeyPress, key, held)
    plot.keyPressEvent(event)
    return not event.isAccepted()


def press(plot, *keys) -> None:
    for key in keys:
        QTest.keyClick(plot, key)


# --- what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", themes.MODES)
@every_view
def test_every_view_shows_its_rows_in_the_colours_of_the_theme(qtbot, name, view, mode):
    empty = colours(plotted(qtbot, name, view, wears=look(mode), rows=[], values={}).grab())

    plot = plotted(qtbot, name, view, wears=look(mode))

    series = {colour.lower() for colour in themes.load(mode).series}
    assert series & colours(plot.grab())
    assert not series & empty
    assert plot.accessibleName()


@every_view
def test_every_view_can_be_drawn_without_rows_and_again_with_more(qtbot, name, view):
    rows = TABLES[name][view.table]
    plot = plotted(qtbot, name, view, rows=[], values={})

    for count in (0, 1, 2, 3, len(rows) // 2, len(rows)):
        plot.draw(rows[:count], {})
        plot.grab()


def test_a_plot_without_rows_says_so(qtbot):
    plot = plotted(qtbot, *BARS, rows=[], values={})

    assert plot.summary() == ENGLISH.say("plot.empty")
    assert plot.painted().layout.is_empty
    assert len(colours(plot.grab())) > 1  # the sentence


@every_view
def test_another_theme_recolours_a_plot(qtbot, name, view):
    wears = look("dark")
    plot = plotted(qtbot, name, view, wears=wears)
    dark, light = themes.load("dark"), themes.load("light")

    wears.wear(light)

    shown = colours(plot.grab())
    assert {colour.lower() for colour in light.series} & shown
    assert light.panel.lower() in shown
    assert not {colour.lower() for colour in dark.series} & shown


@pytest.mark.parametrize("zoom", [1.0, 1.6])
@pytest.mark.parametrize("size", [(850, 330), (850, 600), (520, 240)])
@every_view
def test_labels_never_overlap_and_stay_inside(qtbot, name, view, size, zoom):
    plot = plotted(qtbot, name, view, wears=look("light", zoom), size=size)

    labels = plot.painted().labels

    for one, other in itertools.combinations(labels, 2):
        air = (0, 2, 0, -2)  # above and below the letters
        assert not one.rect.adjusted(*air).intersects(other.rect.adjusted(*air)), (one, other)
    for label in labels:
        assert plot.rect().toRectF().contains(label.rect), label


@every_view
def test_every_known_limit_is_named_and_dashed(qtbot, name, view):
    plot = plotted(qtbot, name, view)

    named = " ".join(texts(plot))
    for limit in view.limits:
        assert EXPERIMENTS[name].id == name
        assert plot.chart.terms.limit(limit) in named


def test_two_limits_at_nearly_the_same_place_are_both_named(qtbot):
    plot = plotted(qtbot, *BARS, values={"serial_s": 0.4, "perfect_s": 0.402})

    rects = {label.text: label.rect for label in plot.painted().labels}
    assert not rects["perfect"].intersects(rects["all jobs one after another"])


def test_of_two_close_horizontal_limits_the_upper_is_named_above(qtbot):
    values = {"dependent_s": 1.9e-7, "bandwidth_limit_s": 1.8e-7}
    plot = plotted(qtbot, "burst-random", view_of("burst-random", "time"), values=values)

    tops = {label.text.split(" · ")[0]: label.rect.top() for label in plot.painted().labels}
    assert tops["one read at a time"] < tops["memory bandwidth"]


def test_what_a_limit_is_stands_where_one_points_at_its_words(qtbot):
    plot = plotted(qtbot, *LADDER, size=(900, 320))

    def point_at(label) -> None:
        place = label.rect.center().toPoint()
        QApplication.sendEvent(
            plot.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, plot.mapToGlobal(place))
        )

    heard = []
    plot.reading_changed.connect(heard.append)
    label = next(each for each in plot.painted().labels if each.text.startswith("L3"))
    QTest.mouseMove(plot.viewport(), label.rect.center().toPoint())
    assert heard == []  # its tip lies there
    point_at(label)
    assert "Reported by the system, not measured." in QToolTip.text()
    random = next(each for each in plot.painted().labels if each.text == "shuffled")
    point_at(random)
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_words_of_vertical_limits_stand_at_the_top(qtbot):
    plot = plotted(qtbot, *LADDER)

    area = plot.painted().area.rect
    rect = next(label.rect for label in plot.painted().labels if label.text.startswith("L2"))
    assert rect.bottom() <= area.top()
    assert rect.left() == pytest.approx(plot.painted().area.x_px(20.0) + 4, abs=1)


def test_ranges_never_shrink_during_a_run_and_change_in_steps(qtbot):
    """From the second place on: around a single one an axis is only a guess."""
    rows = TABLES["cache-ladder"]["steps"]
    second = next(n for n, row in enumerate(rows, 1) if row.size_bytes != rows[0].size_bytes)
    plot = plotted(qtbot, *LADDER, rows=rows[:second], values={})
    spans = []
    for count in range(second, len(rows), 4):
        plot.draw(rows[:count], {})
        spans.append(plot.painted().layout.full)

    for one, other in itertools.pairwise(spans):
        assert other.x[0] <= one.x[0]
        assert other.x[1] >= one.x[1]
        assert other.y[0] <= one.y[0]
        assert other.y[1] >= one.y[1]

    assert len(set(spans)) < 20  # of 48


def test_another_run_is_shown_from_its_start(qtbot):
    plot = plotted(qtbot, *LADDER)
    whole = plot.painted().layout.full
    plot.zoom_in()

    plot.draw(TABLES["cache-ladder"]["steps"][:30], {})

    assert plot.painted().layout.full.x[1] < whole.x[1]
    assert not plot.chart.is_zoomed


def test_values_are_where_the_axis_says(qtbot):
    plot = plotted(qtbot, *LADDER)
    area = plot.painted().area

    track = plot.chart.drawing.tracks()[0]
    picture = plot.grab().toImage()
    blue = QColor(themes.load("dark").series[0])
    for point in (12, 18, 30):
        at = area.point(track.xs[point], track.ys[point]).toPoint()
        near = [picture.pixelColor(at.x() + x, at.y() + y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        assert any(is_same(colour, blue) for colour in near)


# --- the reading cursor -------------------------------------------------------------------------


def test_arrow_keys_read_point_after_point_and_series_after_series(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = []
    plot.reading_changed.connect(heard.append)

    press(plot, KEY.Key_Right, KEY.Key_Right, KEY.Key_Down, KEY.Key_End, KEY.Key_Home)

    assert heard[0].startswith("shuffled · 4 KiB (12 % of “L1”) · 1.")
    assert heard[1].startswith("shuffled · 5.62 KiB (")
    assert heard[2].startswith("in order · 5.62 KiB (")
    assert heard[3].startswith("in order · 256 MiB (8 times “L3”) · ")  # a size with a size
    assert heard[4].startswith("in order · 4 KiB (")
    assert plot.accessibleDescription() == heard[4]


def test_the_cursor_stops_at_the_ends(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = []
    plot.reading_changed.connect(heard.append)

    press(plot, *[KEY.Key_Left] * 3, *[KEY.Key_Up] * 3)
    press(plot, KEY.Key_End, *[KEY.Key_Right] * 3, *[KEY.Key_Down] * 3)

    assert len(heard) == 3  # the first point, the last, and the last of the other series


def test_escape_takes_the_cursor_away_and_is_left_to_others_without_one(qtbot):
    plot = plotted(qtbot, *BARS)
    heard = []
    plot.reading_changed.connect(heard.append)
    press(plot, KEY.Key_Right)
    with_cursor = plot.grab().toImage()

    press(plot, KEY.Key_Escape)

    assert heard[-1] == ""
    assert plot.grab().toImage() != with_cursor
    assert plot.accessibleDescription() == plot.summary()
    assert is_left(plot, KEY.Key_Escape)


def test_the_mouse_reads_what_is_near_and_nothing_far_away(qtbot):
    plot = plotted(qtbot, *LADDER)
    heard = []
    plot.reading_changed.connect(heard.append)
    area, track = plot.painted().area, plot.chart.drawing.tracks()[1]
    at = area.point(track.xs[20], track.ys[20]).toPoint()

    QTest.mouseMove(plot.viewport(), at + QPoint(4, 3))
    QTest.mouseMove(plot.viewport(), area.point(13.0, area.sight.y[1] - 0.1).toPoint())

    assert heard[0].startswith("in order · 4 MiB (")
    assert heard[1] == ""


def test_the_reading_stays_below_the_mouse_while_rows_come(qtbot):
    plot = plotted(qtbot, *LADDER)
    area, track = plot.painted().area, plot.chart.drawing.tracks()[0]
    at = area.point(track.xs[8], track.ys[8])
    QTest.mouseMove(plot.viewport(), at.toPoint())
    assert reading(plot)

    first = samples.ladder_steps()[0]
    plot.draw([first, msgspec.structs.replace(first, size_bytes=2**40, latency_s=1.0)], {})

    assert not reading(plot)  # all that was below the mouse is far away now


def test_the_cursor_of_the_mouse_goes_with_the_mouse_and_that_of_keys_stays(qtbot):
    plot = plotted(qtbot, *BARS)
    leave = QEvent(QEvent.Type.Leave)

    press(plot, KEY.Key_Right)
    QApplication.sendEvent(plot, leave)
    assert reading(plot)
    bar = plot.chart.drawing.tracks()[0]
    QTest.mouseMove(plot.viewport(), plot.painted().area.point(bar.xs[0], bar.ys[0]).toPoint())
    QApplication.sendEvent(plot, leave)

    assert not reading(plot)


def test_a_point_out_of_sight_is_brought_into_sight_when_it_is_read(qtbot):
    plot = plotted(qtbot, *LADDER)
    press(plot, KEY.Key_Right, *[KEY.Key_Plus] * 6)
    before = plot.painted().area.sight

    press(plot, KEY.Key_End)

    assert plot.painted().area.sight.x[1] > before.x[1]
    assert plot.painted().area.sight.x[1] >= plot.chart.drawing.tracks()[0].xs[-1]


def test_the_cursor_follows_its_point_while_rows_come(qtbot):
    rows = TABLES["gil-threads"]["timings"]
    plot = plotted(qtbot, *BARS, rows=rows[:6], values={})
    press(plot, KEY.Key_Right)
    heard = []
    plot.reading_changed.connect(heard.append)

    plot.draw(rows, {})

    assert heard == [reading(plot)]
    assert "median of 9" in heard[0]


# --- zoom ---------------------------------------------------------------------------------------


def test_the_wheel_zooms_where_the_mouse_is(qtbot):
    plot = plotted(qtbot, *LADDER)
    before = plot.painted().area
    at = QPointF(before.rect.left() + before.rect.width() / 4, before.rect.center().y())

    wheel(plot, at, 240)

    after = plot.painted().area
    assert after.x_at(at.x()) == pytest.approx(before.x_at(at.x()), abs=0.05)
    assert after.sight.x[1] - after.sight.x[0] < 0.6 * (before.sight.x[1] - before.sight.x[0])
    assert after.sight.y == before.sight.y


def test_the_wheel_with_shift_zooms_the_other_axis(qtbot):
    plot = plotted(qtbot, *LADDER)
    before = plot.painted().area

    wheel(plot, before.rect.center(), 120, Qt.KeyboardModifier.ShiftModifier)

    after = plot.painted().area
    assert after.sight.x == before.sight.x
    assert after.sight.y[1] - after.sight.y[0] < before.sight.y[1] - before.sight.y[0]


def test_a_wheel_that_cannot_show_more_is_left_to_the_page(qtbot):
    plot = plotted(qtbot, *LADDER)

    event = wheel(plot, QPointF(400, 150), -120)

    assert not event.isAccepted()
    assert not plot.chart.is_zoomed


def test_keys_zoom_and_show_all(qtbot):
    plot = plotted(qtbot, *LADDER)
    whole = plot.painted().area.sight

    press(plot, KEY.Key_Plus, KEY.Key_Plus)
    closer = plot.painted().area.sight
    press(plot, KEY.Key_Minus)
    farther = plot.painted().area.sight
    press(plot, KEY.Key_0)

    assert closer.x[1] - closer.x[0] < farther.x[1] - farther.x[0] < whole.x[1] - whole.x[0]
    assert plot.painted().area.sight == whole


def test_a_zoomed_plot_has_a_chip_that_leads_back(qtbot):
    plot = plotted(qtbot, *LADDER)
    chip = plot.findChild(QPushButton)
    assert not chip.isVisibleTo(plot)

    plot.zoom_in()
    assert chip.isVisibleTo(plot)
    assert plot.rect().contains(chip.geometry())
    QTest.mouseClick(chip, Qt.MouseButton.LeftButton)

    assert not plot.chart.is_zoomed
    assert not chip.isVisibleTo(plot)


def test_dragging_moves_what_is_in_sight_and_a_double_click_shows_all(qtbot):
    plot = plotted(qtbot, *LADDER)
    plot.zoom_in()
    before = plot.painted().area

    QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(400, 150))
    QTest.mouseMove(plot.viewport(), QPoint(450, 150))
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(450, 150))

    after = plot.painted().area
    assert after.x_px(before.sight.x[0]) == pytest.approx(before.rect.left() + 50, abs=2)
    QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(400, 150))
    assert not plot.chart.is_zoomed


@pytest.mark.parametrize(("name", "view"), [BARS, LADDER], ids=["bars", "lines"])
def test_nobody_gets_lost(qtbot, name, view):
    plot = plotted(qtbot, name, view)
    full = plot.painted().layout.full

    for _ in range(6):
        plot.zoom_out()
    sight = plot.painted().area.sight
    assert sight.x[1] - sight.x[0] <= 4.001 * (full.x[1] - full.x[0])
    for _ in range(5):
        QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
        QTest.mouseMove(plot.viewport(), QPoint(800, 100))
        QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(800, 100))
    sight = plot.painted().area.sight
    assert sight.x[0] <= full.x[1]
    assert sight.x[1] >= full.x[0]
    for _ in range(32):
        plot.zoom_in()
    sight = plot.painted().area.sight
    assert sight.x[1] - sight.x[0] >= 0.0005 * (full.x[1] - full.x[0])
    press(plot, KEY.Key_0)
    assert plot.painted().area.sight == full


# --- keys, menu, focus --------------------------------------------------------------------------


def test_the_table_is_asked_for_by_key_and_by_menu(qtbot):
    plot = plotted(qtbot, *BARS)

    with qtbot.waitSignal(plot.table_wanted):
        QTest.keyClick(plot, KEY.Key_D, Qt.KeyboardModifier.ControlModifier)
    action = next(a for a in plot.menu().actions() if a.text() == ENGLISH.say("plot.show_table"))
    with qtbot.waitSignal(plot.table_wanted):
        action.trigger()


@pytest.mark.parametrize(("key", "suffix"), [("save_png", ".png"), ("save_svg", ".svg")])
def test_saving_asks_whoever_embeds_the_plot_for_the_place(qtbot, key, suffix):
    plot = plotted(qtbot, *BARS)

    action = next(a for a in plot.menu().actions() if a.text() == ENGLISH.say(f"plot.{key}"))
    with qtbot.waitSignal(plot.save_wanted) as asked:
        action.trigger()

    assert asked.args == [suffix]


@pytest.mark.parametrize(
    ("key", "held"),
    [
        (KEY.Key_Menu, Qt.KeyboardModifier.NoModifier),
        (KEY.Key_F10, Qt.KeyboardModifier.ShiftModifier),
    ],
)
def test_the_menu_opens_by_key(qtbot, key, held):
    plot = plotted(qtbot, *BARS)

    QTest.keyClick(plot, key, held)

    assert plot.menu().isVisible()
    plot.menu().close()


@pytest.mark.parametrize(
    ("key", "held"),
    [
        (KEY.Key_Plus, Qt.KeyboardModifier.ControlModifier),  # of the text
        (KEY.Key_0, Qt.KeyboardModifier.ControlModifier),
        (KEY.Key_Escape, Qt.KeyboardModifier.NoModifier),  # stops a run
        (KEY.Key_F5, Qt.KeyboardModifier.NoModifier),
        (KEY.Key_Left, Qt.KeyboardModifier.AltModifier),
    ],
)
def test_keys_of_others_are_left_to_them(qtbot, key, held):
    plot = plotted(qtbot, *BARS)

    assert is_left(plot, key, held)


def test_those_who_come_by_keyboard_see_a_ring(qtbot):
    plot = plotted(qtbot, *BARS)
    accent = themes.load("dark").accent.lower()
    assert plot.grab().toImage().pixelColor(400, 1).name() != accent

    QApplication.sendEvent(plot, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))

    assert plot.grab().toImage().pixelColor(400, 1).name() == accent


@every_view
def test_a_summary_names_what_is_drawn(qtbot, name, view):
    plot = plotted(qtbot, name, view)

    summary = plot.summary()

    assert "{" not in summary
    assert not summary.startswith("Nothing")
    for track in plot.chart.drawing.tracks():
        assert track.name.split(",")[0].removesuffix(" 1").removesuffix(" 2") in summary
    assert VALUES[name] is not None


LINEAR = Lines(key="ladder", table="steps", x=Axis("size_bytes"), y=Axis("latency_s"))
STRANGE = (0.0, -1.0, 1e-300, 1e308, math.nan, math.inf, 3.0)


def strange(name, value, place):
    rows = TABLES[name][("timings" if name == "gil-threads" else "steps")]
    column = "wall_s" if name == "gil-threads" else "latency_s"
    return msgspec.structs.replace(rows[place], **{column: value})


@pytest.mark.parametrize(
    ("name", "view"),
    [
        BARS,
        LADDER,
        ("gil-threads", Ruler(key="wall", table="timings", label="method", value="wall_s")),
        ("cache-ladder", LINEAR),
    ],
    ids=["bars", "log", "ruler", "linear"],
)
def test_no_number_whatever_breaks_a_plot(qtbot, name, view):
    plot = plotted(qtbot, name, view, rows=[], values={})
    limits = {"serial_s": 0.0, "perfect_s": math.inf, "l1_bytes": -1.0, "in_a_row_latency_s": 1e308}

    for one, other in itertools.combinations_with_replacement(STRANGE, 2):
        plot.draw([strange(name, one, 0), strange(name, other, 7)], limits)
        plot.zoom_out()
        press(plot, KEY.Key_Right, KEY.Key_Down)
        plot.painted()
        assert "nan" not in plot.summary()
        assert "inf" not in plot.summary()
