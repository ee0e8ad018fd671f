from __future__ import annotations

from contextlib import contextmanager

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPalette

from experiments.presentation.load.groups import Group, group_threads
from experiments.presentation.load.history import SPAN_S, History
from tests.gallery.live_samples import machine, samples
from widgets.live.core_strip import CoreStrip
from widgets.live.cores import CoresBody
from widgets.live.sparkline import Sparkline
from widgets.style import theme

in_both_modes = pytest.mark.parametrize("look", theme.MODES, indirect=True)

MEMORY = {"total_bytes": 100, "used_bytes": 40}
WIDTH = 600


def history_of(busy, *, hz: float = 2.0) -> History:
    """Return a history; `busy` gives the share of each thread for a number of the sample."""
    history = History(asleep_s=lambda: 0.0)
    for n in range(round((SPAN_S + 2) * hz)):
        shares = busy(n / hz)
        if shares is None:
            continue
        threads = [{"id": i, "busy": share} for i, share in enumerate(shares)]
        history.add(n / hz, threads, MEMORY)
    return history


def strip_of(qtbot, look, english, count, height) -> CoreStrip:
    strip = CoreStrip(look, english)
    qtbot.addWidget(strip)
    strip.resize(WIDTH, height)
    strip.show_groups(group_threads(None, range(count)))
    return strip


def line_of(qtbot, look, height=80) -> Sparkline:
    line = Sparkline(look, lambda moment: moment.busy_fraction)
    qtbot.addWidget(line)
    line.resize(WIDTH, height)
    return line


def image(widget) -> QImage:
    return widget.grab().toImage()


def near(colour: QColor, wanted: str) -> bool:
    other = QColor(wanted)
    names = ("red", "green", "blue")
    return all(abs(getattr(colour, name)() - getattr(other, name)()) <= 3 for name in names)


@contextmanager
def counted(monkeypatch, kind):
    paints = []
    paint = kind.paintEvent
    monkeypatch.setattr(
        kind, "paintEvent", lambda self, event: (paints.append(1), paint(self, event))
    )
    yield paints


# --- the heat strip -------------------------------------------------------------------------------


@in_both_modes
def test_busy_threads_are_bright_and_idle_ones_are_not(qtbot, look, english):
    strip = strip_of(qtbot, look, english, 2, 40)
    strip.draw(history_of(lambda _: (1.0, 0.0)))

    shown = image(strip)

    assert near(shown.pixelColor(WIDTH // 2, 5), look.theme.load_high)
    assert near(shown.pixelColor(WIDTH // 2, 30), look.theme.load_low)


@in_both_modes
def test_what_lies_behind_the_names_of_the_groups_is_seen(qtbot, look, english):
    body = CoresBody(look, english)
    qtbot.addWidget(body)
    body.resize(WIDTH, 200)
    body.setPalette(QPalette(QColor(look.theme.panel)))
    body.setAutoFillBackground(True)
    groups = (Group(threads=(0,), kind="performance"), Group(threads=(1,), kind="efficiency"))
    body.strip.show_groups(groups)
    body.show()

    shown = image(body)

    assert body.strip.left > 0
    assert near(shown.pixelColor(1, body.strip.y() + 1), look.theme.panel)


def test_the_newest_is_at_the_right(qtbot, look, english):
    strip = strip_of(qtbot, look, english, 1, 24)
    strip.draw(history_of(lambda t_s: (1.0 if t_s > 40 else 0.0,)))

    shown = image(strip)

    assert near(shown.pixelColor(WIDTH - 2, 5), look.theme.load_high)
    assert near(shown.pixelColor(WIDTH // 2, 5), look.theme.load_low)


@in_both_modes
def test_a_thread_that_is_not_known_does_not_look_idle(qtbot, look, english):
    strip = strip_of(qtbot, look, english, 2, 40)
    strip.draw(history_of(lambda _: (0.0, None)))

    shown = image(strip)
    colours = {shown.pixelColor(x, 30).name() for x in range(WIDTH // 2, WIDTH)}

    assert look.theme.load_low.lower() not in colours
    assert look.theme.line.lower() in colours


@in_both_modes
def test_a_gap_is_hatched(qtbot, look, english):
    strip, line = strip_of(qtbot, look, english, 1, 24), line_of(qtbot, look)
    history = history_of(lambda t_s: None if 20 < t_s < 40 else (0.3,))
    strip.draw(history)
    line.draw(history)

    for view, y in ((strip, 5), (line, 79)):
        shown = image(view)
        here = {shown.pixelColor(x, y).name() for x in range(220, 360)}
        there = {shown.pixelColor(x, y).name() for x in range(420, 560)}
        assert here == {look.theme.panel.lower(), look.theme.line.lower()}
        assert here != there


@pytest.mark.parametrize("count", [1, 2, 32, 256])
def test_every_thread_has_a_row_of_its_own(qtbot, look, english, count):
    strip = strip_of(qtbot, look, english, count, max(count, 40))
    for number in sorted({0, count // 3, count // 2, count - 1}):
        strip.draw(history_of(lambda _, n=number: [float(i == n) for i in range(count)], hz=1.0))
        strip.heat.start_anew()
        shown = image(strip)
        column = [shown.pixelColor(WIDTH // 2, y) for y in range(strip.height())]
        bright = [y for y, colour in enumerate(column) if near(colour, look.theme.load_high)]
        assert bright, number
        assert strip.heat.row_at(bright[len(bright) // 2]) == number


def test_what_was_painted_bit_by_bit_is_what_is_painted_at_once(qtbot, look, english):
    gradual = strip_of(qtbot, look, english, 8, 80), line_of(qtbot, look)
    at_once = strip_of(qtbot, look, english, 8, 80), line_of(qtbot, look)
    history = History(asleep_s=lambda: 0.0)
    for sample in samples(8, seconds=100, pause=(50, 60)):
        history.add(sample.t_s, sample.threads, sample.memory)
        for view in gradual:
            view.draw(history)
            image(view)
    for view in at_once:
        view.draw(history)

    assert image(gradual[0]) == image(at_once[0])
    assert likeness(image(gradual[1]), image(at_once[1])) > 0.99  # its left end began otherwise


def likeness(one: QImage, other: QImage) -> float:
    pixels = [memoryview(image.constBits()).cast("I") for image in (one, other)]
    return sum(a == b for a, b in zip(*pixels, strict=True)) / len(pixels[0])


def test_samples_that_share_a_column_are_averaged(qtbot, look, english):
    strip = strip_of(qtbot, look, english, 1, 24)
    strip.resize(120, 24)  # two columns a second
    turn = iter(range(10_000))
    strip.draw(history_of(lambda _: (float(next(turn) % 2),), hz=20.0))

    shown, half = image(strip).pixelColor(60, 5), theme.load_colour(look.theme, 0.5)

    assert abs(shown.red() - half.red()) < 8


@in_both_modes
def test_another_theme_changes_all_colours(qtbot, look, english):
    strip = strip_of(qtbot, look, english, 1, 24)
    strip.draw(history_of(lambda _: (1.0,)))
    image(strip)
    other = theme.load("light" if look.theme.mode == "dark" else "dark")

    look.wear(other)

    assert near(image(strip).pixelColor(WIDTH // 2, 5), other.load_high)


def test_groups_have_their_names_beside_them(qtbot, look, english):
    strip = CoreStrip(look, english)
    qtbot.addWidget(strip)
    strip.resize(WIDTH, 200)

    groups = group_threads(machine(8, hybrid=True), range(8))
    strip.show_groups(groups)

    assert [strip.name_of(group) for group in groups] == ["P cores", "E cores"]
    assert strip.left > 40


# --- the line -------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_line_is_as_high_as_its_share(qtbot, look, share):
    line = line_of(qtbot, look, height=100)
    line.draw(history_of(lambda _: (share,)))

    shown = image(line)
    column = [shown.pixelColor(WIDTH // 2, y) for y in range(100)]
    bright = [y for y, colour in enumerate(column) if near(colour, look.theme.series[0])]

    assert bright
    assert sum(bright) / len(bright) == pytest.approx((1 - share) * 98.5 + 0.5, abs=1.0)


@in_both_modes
def test_what_is_not_known_has_no_line(qtbot, look):
    line = line_of(qtbot, look)
    line.draw(history_of(lambda _: (None,)))

    shown = image(line)
    colours = {shown.pixelColor(x, y).name() for x in range(WIDTH) for y in range(80)}

    assert colours == {look.theme.panel.lower(), look.theme.line.lower()}


def test_a_view_that_is_not_seen_is_not_painted(qtbot, look, monkeypatch):
    with counted(monkeypatch, Sparkline) as paints:
        line = line_of(qtbot, look)
        line.draw(history_of(lambda _: (0.5,)))
        qtbot.wait(1)
        assert not paints

        with qtbot.waitExposed(line):
            line.show()
        qtbot.waitUntil(lambda: bool(paints))


def test_pointing_tells_how_long_ago(qtbot, look):
    line = line_of(qtbot, look)
    line.show()
    qtbot.mouseMove(line, QPoint(1, 1))

    with qtbot.waitSignal(line.pointed) as told:
        qtbot.mouseMove(line, QPoint(WIDTH // 4, 10))

    assert told.args[0] == pytest.approx(45.0, abs=0.5)


@in_both_modes
def test_marks_and_cursor_are_seen(qtbot, look):
    line = line_of(qtbot, look)
    history = history_of(lambda _: (0.0,))
    line.draw(history)
    plain = image(line)

    history.mark(history.now_s - 30)
    line.draw(history)
    marked = image(line)
    line.point_at(15.0, "5 %, 15 s ago")

    assert plain != marked
    assert near(marked.pixelColor(WIDTH // 2 + 1, 1), look.theme.ink)
    assert image(line) != marked
    assert line.focusPolicy() is Qt.FocusPolicy.NoFocus  # its tile has the keys


@pytest.mark.parametrize(
    ("ago_s", "numbers"),
    [
        ((30, 20), ["1", "2"]),
        ((30, 29.5, 10), ["1, 2", "3"]),
        ((31, 30.8, 30.4, 30), ["1–4"]),
        ((30, 31, 30.5), ["2, 3, 1"]),  # a double click marks what was before
        ((60, 59.5), ["1, 2"]),
        ((1.5, 0.5, 0), ["1–3"]),
        ((0, 3.5), ["2", "1"]),
    ],
)
def test_numbers_of_marks_stand_in_the_order_of_time_and_cover_nothing(qtbot, look, ago_s, numbers):
    line, history = line_of(qtbot, look), history_of(lambda _: (0.0,))
    for each in ago_s:
        history.mark(history.now_s - each)
    line.draw(history)

    flags = line.flags()

    assert [text for text, _ in flags] == numbers
    edges = [edge for _, flag in flags for edge in (flag.left(), flag.right())]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < edges[-1] <= WIDTH
    shown = image(line)
    assert all(near(shown.pixelColor(int(flag.left()), 1), look.theme.ink) for _, flag in flags)


def test_the_readout_covers_no_flag(qtbot, look):
    line, history = line_of(qtbot, look, height=64), history_of(lambda _: (0.0,))
    history.mark(history.now_s - 30)
    line.draw(history)
    flag = line.flags()[0][1].toAlignedRect()
    flagged = image(line)

    line.point_at(31.0, "0 %, 31 s ago")

    assert image(line) != flagged
    assert image(line).copy(flag) == flagged.copy(flag)


def test_flags_of_marks_neither_part_nor_join_while_time_goes_on(qtbot, look):
    line, history = line_of(qtbot, look), History(lambda: 0.0, lambda: 0.0)
    for n in range(30):
        history.add(n, [{"id": 0, "busy": 0.0}], MEMORY)
    for each in (0.0, 1.2, 2.7, 3.1):
        history.mark(10.0 + each)
    line.draw(history)

    told = set()
    for n in range(400):
        history.add(30 + 0.07 * n, [{"id": 0, "busy": 0.0}], MEMORY)
        told.add(tuple(text for text, _ in line.flags()))

    assert len(told) == 1


# --- what need not be painted ---------------------------------------------------------------------


def paints(qtbot, view, monkeypatch) -> list[float]:
    times: list[float] = []
    paint = type(view).paintEvent

    def painted(self, event) -> None:
        times.append(self._history.now_s)
        paint(self, event)

    monkeypatch.setattr(type(view), "paintEvent", painted)
    with qtbot.waitExposed(view):
        view.show()
    return times


def follow(qtbot, view, history: History, values) -> None:
    for value in values:
        history.add(history.now_s + 0.5, [{"id": 0, "busy": value}], {})
        view.draw(history)
        qtbot.wait(1)


def test_a_line_that_is_level_for_a_minute_is_not_painted_until_it_moves(qtbot, look, monkeypatch):
    line, history = line_of(qtbot, look, height=100), History(lambda: 0.0, lambda: 0.0)
    times = paints(qtbot, line, monkeypatch)
    follow(qtbot, line, history, [0.25] * 140)
    level_s = history.now_s
    painted = len([t for t in times if t > 64.0])
    assert painted == 0

    follow(qtbot, line, history, [0.9])

    qtbot.waitUntil(lambda: times[-1] > level_s)
    bright = [
        y for y in range(100) if near(image(line).pixelColor(WIDTH // 2, y), look.theme.series[0])
    ]
    assert sum(bright) / len(bright) == pytest.approx(74, abs=2)


def test_a_mark_on_a_level_line_moves_on(qtbot, look, monkeypatch):
    line, history = line_of(qtbot, look, height=100), History(lambda: 0.0, lambda: 0.0)
    times = paints(qtbot, line, monkeypatch)
    follow(qtbot, line, history, [0.25] * 140)
    history.mark(history.now_s)
    times.clear()

    follow(qtbot, line, history, [0.25] * 3)

    qtbot.waitUntil(lambda: len(times) >= 3)


def test_what_has_not_moved_by_a_pixel_is_not_painted(qtbot, look, monkeypatch):
    line, history = line_of(qtbot, look, height=100), History(lambda: 0.0, lambda: 0.0)
    times = paints(qtbot, line, monkeypatch)
    follow(qtbot, line, history, [0.1, 0.2])
    qtbot.waitUntil(lambda: times and times[-1] == history.now_s)
    times.clear()

    history.add(history.now_s + 0.001, [{"id": 0, "busy": 0.3}], {})
    line.draw(history)
    qtbot.wait(20)

    assert times == []
