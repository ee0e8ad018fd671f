"""Times of drawing each plot, offscreen, without a graphics card's help."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from experiments.core import words
from experiments.core.units import digits, show
from experiments.core.views import Bars, Field, Lines, Timeline
from experiments.memory.cache_ladder import experiment as cache_ladder
from experiments.python_at_work.gil_threads import experiment as gil_threads
from tests.tools.bench.lines import Line

FRAME_S = 1 / 30
TURNS = 30
SLICES, LANES = 100_000, 64
CURVES, POINTS = 64, 1000
AT_ONCE = 100  # rows that come between two pictures of a live run
FRAMES_PER_S = 30
FIELD_FRACTION = 0.25  # of a core, for a picture that moves


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    from widgets.style import theme
    from widgets.style.look import Look

    theme.add_fonts()
    look = Look(theme.load("dark"))
    look.wear(look.theme)
    yield from _slices(look)
    yield _live_bars(look)
    yield _curves(look)
    yield _field(look)
    del application


def _slices(look: Any) -> Iterator[Line]:
    from tests.gallery.plot_samples import many_slices

    plot = _plot(look, gil_threads.EXPERIMENT, _view(gil_threads.EXPERIMENT, Timeline))
    rows = list(many_slices(SLICES, LANES))
    start_s = time.perf_counter()
    plot.draw(rows, {})
    plot.viewport().repaint()
    first_s = time.perf_counter() - start_s
    what = f"{SLICES} slices on {LANES} lanes"
    yield Line(f"{what}, for the first time", show(first_s, "s"))

    def draw_more() -> None:
        rows.extend(rows[:AT_ONCE])
        plot.draw(rows, {})
        plot.viewport().repaint()

    yield _kept(f"{what}, {AT_ONCE} more drawn", draw_more)
    _zoom_in(plot, 50.0)
    yield _kept(f"{what}, moved at 2 % of the time", _drag(plot))


def _live_bars(look: Any) -> Line:
    from tests.gallery.plot_samples import gil_tables

    plot = _plot(look, gil_threads.EXPERIMENT, _view(gil_threads.EXPERIMENT, Bars))
    timings = list(gil_tables(rounds=50)["timings"])
    shown: list[Any] = []

    def draw_more() -> None:
        shown.extend(timings[len(shown) : len(shown) + 6])
        plot.draw(shown, {"serial_s": 0.62, "perfect_s": 0.31})
        plot.viewport().repaint()

    return _kept("bars of a live run, one round more drawn", draw_more)


def _curves(look: Any) -> Line:
    view = replace(_view(cache_ladder.EXPERIMENT, Lines), only=())
    plot = _plot(look, cache_ladder.EXPERIMENT, view)
    rows = [
        cache_ladder.Step(
            size_bytes=4096 + 4096 * point,
            order=f"{curve:02}",
            repeat=0,
            latency_s=1e-9 * (1 + curve + (point * 7919 % 97) / 97),
        )
        for curve in range(CURVES)
        for point in range(POINTS)
    ]
    plot.draw(rows, {})
    _zoom_in(plot, 2.0)
    return _kept(f"{CURVES} curves of {POINTS} points, moved", _drag(plot))


def _field(look: Any) -> Line:
    from tests.gallery import plot_samples as samples
    from tests.gallery.pictures import EXPERIMENT as PICTURES

    plot = _plot(look, PICTURES, _view(PICTURES, Field), samples.words())
    frames = [samples.ripples(320, turn) for turn in (0.0, 1.0)]

    def draw_next() -> None:
        frames.reverse()
        plot.draw_frame(frames[0])
        plot.viewport().repaint()

    fraction = _median_s(draw_next) * FRAMES_PER_S
    return Line(
        f"a picture of 320 x 320, enlarged, {FRAMES_PER_S} times a second",
        f"{digits(fraction * 100, 2)} % of a core",
        f"{FIELD_FRACTION:.0%}",
        fraction <= FIELD_FRACTION,
    )


def _view(experiment: Any, kind: type[Any]) -> Any:
    return next(view for view in experiment.views if isinstance(view, kind))


def _plot(look: Any, experiment: Any, view: Any, language: Any = None) -> Any:
    from PySide6.QtWidgets import QApplication

    from widgets.plots.plot import Plot

    plot = Plot(experiment, view, language or words.load(), look)
    plot.resize(1100, 700)
    plot.show()
    QApplication.processEvents()  # only what is exposed is painted
    return plot


def _zoom_in(plot: Any, times: float) -> None:
    while times > 1.0:
        plot.zoom_in()
        times /= 1.4
    plot.viewport().repaint()


def _drag(plot: Any) -> Callable[[], None]:
    """Return what moves the plot a little with the mouse, and draws it."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    at = QPointF(plot.rect().center())

    def send(kind: QEvent.Type, button: Qt.MouseButton) -> None:
        where = plot.mapToGlobal(at)
        event = QMouseEvent(kind, at, where, button, left, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(plot.viewport(), event)

    send(QEvent.Type.MouseButtonPress, left)
    steps = iter([15.0, -15.0] * TURNS * 2)

    def drag() -> None:
        at.setX(at.x() + next(steps))
        send(QEvent.Type.MouseMove, none)
        plot.viewport().repaint()

    return drag


def _kept(what: str, draw: Callable[[], None]) -> Line:
    took_s = _median_s(draw)
    return Line(what, show(took_s, "s"), show(FRAME_S, "s"), took_s <= FRAME_S)


def _median_s(draw: Callable[[], None]) -> float:
    draw()
    times = []
    for _ in range(TURNS):
        start_s = time.perf_counter()
        draw()
        times.append(time.perf_counter() - start_s)
    return statistics.median(times)
