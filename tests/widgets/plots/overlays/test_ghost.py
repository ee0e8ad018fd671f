"""Earlier rows stand in grey under the present ones."""

from __future__ import annotations

import itertools
import math

import msgspec
import pytest

from experiments.core.judging.disturbed import Loss, mark
from experiments.core.units import show
from experiments.memory.cache_ladder.experiment import Step
from tests.gallery import plot_samples as samples
from tests.widgets.plots.overlays.kinds import (
    BARS,
    LADDER,
    LANES,
    PINS,
    VIEWS,
    cells,
    click,
    pixel,
    shown,
)
from tests.widgets.plots.plots import ENGLISH, TABLES, colours, look, plotted, texts
from widgets.plots.drawing import GHOST, Beside
from widgets.style import theme as themes

BEFORE = "before:"
haunted = pytest.mark.parametrize("kind", VIEWS)


def rows_of(kind):
    name, view = VIEWS[kind]
    return TABLES[name][view.table]


def slower(rows):
    """Return bars twice as long."""
    return [msgspec.structs.replace(row, wall_s=2 * row.wall_s) for row in rows]


@haunted
@pytest.mark.parametrize("mode", themes.MODES)
def test_a_ghost_is_drawn_and_goes(qtbot, kind, mode):
    plot = plotted(qtbot, *VIEWS[kind], wears=look(mode))
    before, summary = shown(plot), plot.summary()

    plot.ghost(rows_of(kind), BEFORE)
    with_ghost = shown(plot)

    assert with_ghost != before
    assert BEFORE in plot.summary()
    assert {track.colour for track in plot.chart.tracks()} > {GHOST}
    plot.ghost(None)
    plot.chart.forget_widest()
    assert shown(plot) == before
    assert plot.summary() == summary


@haunted
def test_a_ghost_alone_has_no_colour_of_a_series(qtbot, kind):
    plot = plotted(qtbot, *VIEWS[kind], rows=[], values={})

    plot.ghost(rows_of(kind), BEFORE)

    series = {colour.lower() for colour in themes.load("dark").series}
    assert not plot.painted().layout.is_empty
    assert not series & colours(plot.grab())


@haunted
def test_labels_do_not_overlap_with_a_ghost(qtbot, kind):
    plot = plotted(qtbot, *VIEWS[kind], size=(850, 400))
    plot.ghost(rows_of(kind), BEFORE)

    for one, other in itertools.combinations(plot.painted().labels, 2):
        air = (0, 2, 0, -2)
        assert not one.rect.adjusted(*air).intersects(other.rect.adjusted(*air)), (one, other)


def test_bars_stand_over_their_ghosts_though_other_bars_are_missing(qtbot):
    rows = TABLES["gil-threads"]["timings"]
    plot = plotted(qtbot, *BARS, rows=[row for row in rows if row.method == "processes"])

    plot.ghost(slower(rows), BEFORE)

    tracks = plot.chart.tracks()
    own = next(track for track in tracks if track.colour != GHOST)
    ghost = next(t for t in tracks if t.colour == GHOST and t.label == "processes")
    assert own.ys[0] == ghost.ys[0]
    assert plot.painted().layout.full.x[1] > ghost.xs[0]
    assert any(text.startswith(BEFORE) for text in texts(plot))


def test_a_ghost_is_not_picked_in_place_of_a_bar(qtbot):
    rows, heard = TABLES["gil-threads"]["timings"], []
    plot = plotted(qtbot, *BARS)
    value = plot.chart.tracks()[1].xs[0]
    plot.ghost(slower(rows), BEFORE)
    plot.picked.connect(lambda label, x: heard.append((label, x)))
    plot.ask(True)

    click(plot, pixel(plot, 0.3, 1.0))

    assert heard == [("threads", value)]


def test_lines_keep_their_colours_and_are_labelled(qtbot):
    steps = samples.ladder_steps()
    plot = plotted(qtbot, *LADDER, rows=[row for row in steps if row.order == "sequential"])
    colour = plot.chart.tracks()[0].colour

    plot.ghost([row for row in steps if row.order == "random"], BEFORE)

    assert [track.colour for track in plot.chart.tracks()] == [colour, GHOST]
    assert f"{BEFORE} shuffled" in texts(plot)


def test_the_lanes_of_a_ghost_stand_below_those_of_the_group(qtbot):
    plot = plotted(qtbot, *LANES)

    plot.ghost(rows_of("lanes"), BEFORE)

    lanes = [track for track in plot.chart.tracks() if track.label == "threads"]
    ghosts = [lane.colour == GHOST for lane in lanes]
    assert ghosts == [False, False, True, True]
    assert [lane.ys[0] for lane in lanes] == sorted(lane.ys[0] for lane in lanes)


def test_another_run_beside_takes_the_place_of_a_ghost(qtbot):
    rows = rows_of("pins")
    plot = plotted(qtbot, *PINS)
    plot.ghost(rows, BEFORE)

    plot.draw(rows, {}, beside=Beside("A", "B", rows))

    assert BEFORE not in plot.summary()


def test_cells_have_no_ghost(qtbot):
    plot = cells(qtbot)
    before = shown(plot)

    plot.ghost(samples.latencies(seed=9), BEFORE)

    assert shown(plot) == before


def test_a_ghost_stays_while_rows_come(qtbot):
    rows = TABLES["gil-threads"]["timings"]
    plot = plotted(qtbot, *BARS, rows=[])
    plot.ghost(slower(rows), BEFORE)
    whole = plot.painted().layout.full

    for count in (1, 5, len(rows)):
        plot.draw(rows[:count], {})
        assert BEFORE in plot.summary()
        assert plot.painted().layout.full == whole


def points(*measured):
    """Return single points of cache-ladder: bytes, and seconds of a read."""
    return [
        Step(size_bytes=size, order="random", repeat=repeat, latency_s=seconds)
        for repeat, (size, seconds) in enumerate(measured)
    ]


@pytest.mark.parametrize(
    ("size", "zoom"), [((760, 330), 1.0), ((760, 330), 1.6), ((640, 180), 1.0)]
)
def test_the_newest_point_over_a_ghost_shows_its_number_beside_the_lines(qtbot, zoom, size):
    plot = plotted(qtbot, *VIEWS["lines"], rows=[], values={}, wears=look("dark", zoom), size=size)
    plot.ghost(rows_of("lines"), BEFORE)
    moves = [(2**k, 1.3e-9 if k < 15 else 150e-9) for k in (13, 14, 24, 26, 20)]
    for count in range(1, len(moves) + 1):
        plot.draw(points(*moves[:count]), {})
        painted = plot.painted()
        told = show(moves[count - 1][1], "s")
        (label,) = [each for each in painted.labels if each.text == told]

        newest = painted.area.point(math.log2(moves[count - 1][0]), math.log10(moves[count - 1][1]))
        rect = label.rect
        down = max(rect.top() - newest.y(), newest.y() - rect.bottom(), 0.0)
        right = max(rect.left() - newest.x(), newest.x() - rect.right(), 0.0)
        assert 0 < math.hypot(right, down) < 2 * rect.height()
        (line,) = [each for each in plot.chart.tracks() if each.colour != GHOST]
        for x, y in zip(line.xs, line.ys, strict=True):
            at = painted.area.point(x, y)
            assert not [each.text for each in painted.labels if each.rect.contains(at)]


def test_a_newest_point_that_was_disturbed_says_so_and_is_seen(qtbot):
    plot = plotted(qtbot, *VIEWS["lines"], rows=[], values={})
    plot.ghost(rows_of("lines"), BEFORE)
    (point,) = points((2**20, 15e-9))
    before = shown(plot)
    plot.draw([mark(point, Loss(0.5, 3))], {})

    assert ENGLISH.say("plot.point_disturbed", {"value": "15.0 ns"}) in texts(plot)
    assert shown(plot) != before


def test_without_a_ghost_no_point_is_the_newest(qtbot):
    plot = plotted(qtbot, *VIEWS["lines"], rows=points((2**20, 15e-9)), values={})

    assert "15.0 ns" not in texts(plot)
