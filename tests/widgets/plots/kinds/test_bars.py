from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import msgspec
import pytest

from experiments.python_at_work.gil_threads.experiment import Timing
from tests.widgets.plots.plots import TABLES, look, plotted, texts, view_of
from widgets.plots.drawing import Beside
from widgets.style import theme as themes

WALL = ("gil-threads", view_of("gil-threads", "wall"))
ROWS = TABLES["gil-threads"]["timings"]


def timing(method: str, wall_s: float, repeat: int = 0, python: str = "3.11") -> Timing:
    return Timing(method=method, python=python, repeat=repeat, wall_s=wall_s, gil=True)


def test_a_bar_ends_at_its_value(qtbot):
    plot = plotted(qtbot, *WALL, rows=[timing("serial", 0.5), timing("threads", 0.25)], values={})
    area, picture = plot.painted().area, plot.grab().toImage()
    first, second = (colour.lower() for colour in themes.load("dark").series[:2])

    for place, colour, end in ((0, first, 0.5), (1, second, 0.25)):
        y = round(area.y_px(float(place)))
        inside = picture.pixelColor(round(area.x_px(end * 0.9)), y).name()
        beyond = picture.pixelColor(round(area.x_px(end * 1.05)), y).name()
        assert inside == colour
        assert beyond != colour


@pytest.mark.parametrize(
    ("walls_s", "after_s", "before_s"),
    [((0.50, 0.50, 0.52), 0.52, 9.0), ((0.5, 0.5, 2.0), 0.5, 2.0)],
    ids=["behind dots that are near", "not behind one that is far away"],
)
def test_the_number_stands_where_the_dots_leave_room(qtbot, walls_s, after_s, before_s):
    rows = [timing("serial", wall_s, repeat) for repeat, wall_s in enumerate(walls_s)]
    plot = plotted(qtbot, *WALL, rows=rows, values={})

    label, area = plot.painted().labels[0], plot.painted().area
    assert label.text == "500 ms"
    assert area.x_px(after_s) < label.rect.left() < label.rect.right() < area.x_px(before_s)
    assert label.rect.center().y() == pytest.approx(area.y_px(0.0))


@pytest.mark.parametrize(
    "last_s", [0.585, 0.615], ids=["dots up to the limit", "dots beyond the limit"]
)
def test_a_number_stands_behind_a_limit_rather_than_over_dots(qtbot, last_s):
    walls_s = (0.4, 0.45, 0.5, 0.53, 0.56, last_s)
    rows = [timing("serial", wall_s, repeat) for repeat, wall_s in enumerate(walls_s)]
    rows.append(timing("threads", 1.0))
    plot = plotted(qtbot, *WALL, rows=rows, values={"serial_s": 0.6})

    drawn = plot.painted()
    label = next(each for each in drawn.labels if each.text == "515 ms")
    assert drawn.area.x_px(max(0.6, last_s)) < label.rect.left()
    assert label.rect.right() < drawn.area.rect.right()
    assert not label.is_over


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_there_is_room_for_the_longest_number(qtbot, zoom):
    plot = plotted(qtbot, *WALL, wears=look("dark", zoom))

    for label in plot.painted().labels:
        assert label.rect.right() <= plot.width()


def test_pythons_are_told_apart_where_there_are_several(qtbot):
    rows = [timing("threads", 0.5), timing("threads", 0.2, python="3.14t")]
    plot = plotted(qtbot, *WALL, rows=rows, values={})

    names = plot.chart.drawing.plan().y.names
    assert [name.detail for name in names] == ["Python 3.11", "Python 3.14t"]


def test_what_follows_a_comma_stands_small_below_the_name(qtbot):
    plot = plotted(qtbot, *WALL)

    names = {name.text: name.detail for name in plot.chart.drawing.plan().y.names}
    assert names["threads"] == ""
    assert names["processes"] in ("kept warm", "started anew")


def test_another_run_stands_in_thin_bars_right_below_its_twins(qtbot):
    plot = plotted(qtbot, *WALL)
    other = [msgspec.structs.replace(row, wall_s=row.wall_s / 2) for row in ROWS]

    plot.draw(ROWS, {}, beside=Beside("A", "B", other))

    tracks = plot.chart.drawing.tracks()
    assert len(tracks) == 12
    for ours, theirs in zip(tracks[::2], tracks[1::2], strict=True):
        assert ours.name.startswith("A ")
        assert theirs.name == "B " + ours.name[2:]
        assert theirs.ys[0] - ours.ys[0] == pytest.approx(0.42)
        assert theirs.xs[0] == pytest.approx(ours.xs[0] / 2)
    assert sum(text.startswith("A ") for text in texts(plot)) == 6
    assert sum(text.startswith("B ") for text in texts(plot)) == 6


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_as_low_as_it_may_be_the_numbers_of_two_runs_do_not_meet(qtbot, zoom):
    plot = plotted(qtbot, *WALL, wears=look(zoom=zoom))
    plot.draw(ROWS, {}, beside=Beside("A", "B", ROWS))

    plot.resize(1000, math.ceil(plot.least_height(1000)))

    rects = [label.rect for label in plot.painted().labels]
    assert len(rects) == 12
    assert not any(a.intersects(b) for a, b in itertools.combinations(rects, 2))


def test_a_bar_that_only_the_other_run_has_keeps_a_place(qtbot):
    plot = plotted(qtbot, *WALL, rows=[timing("serial", 0.5)], values={})

    plot.draw([timing("serial", 0.5)], {}, beside=Beside("A", "B", [timing("threads", 0.4)]))

    names = [name.text for name in plot.chart.drawing.plan().y.names]
    assert names == ["one after another", "threads"]
    assert texts(plot) == ["A 500 ms", "B 400 ms"]


def test_a_reading_says_round_value_and_limit(qtbot):
    rows = [timing("threads", wall_s, repeat) for repeat, wall_s in enumerate((0.5, 0.52, 0.7))]
    plot = plotted(qtbot, *WALL, rows=rows, values={"serial_s": 0.5})

    assert plot.chart.drawing.read(0, 0) == (
        "threads · median of 3 · 520 ms (20.0 ms above “all jobs one after another”)"
    )
    assert (
        plot.chart.drawing.read(0, 1)
        == "threads · round 1 · 500 ms (at “all jobs one after another”)"
    )


def test_a_dot_is_of_the_round_of_its_row_however_many_are_of_one(qtbot):
    rows = [timing("threads", 0.5, repeat) for repeat in (0, 0, 0, 1, 1, 1)]
    plot = plotted(qtbot, *WALL, rows=rows, values={})

    said = [plot.chart.drawing.read(0, point) for point in range(1, 7)]
    assert [each.split(" · ")[1] for each in said] == ["round 1"] * 3 + ["round 2"] * 3


def test_a_dot_whose_row_knows_no_round_claims_none(qtbot):
    rows = [SimpleNamespace(method="threads", python="3.11", wall_s=0.5)]
    plot = plotted(qtbot, *WALL, rows=rows, values={})

    assert plot.chart.drawing.read(0, 1) == "threads · 500 ms"


def test_the_bars_of_each_run_are_told_against_its_own_limit(qtbot):
    plot = plotted(qtbot, *WALL, rows=[timing("serial", 0.5)], values={})

    other = Beside("A", "B", [timing("serial", 1.0)], {"serial_s": 1.0})
    plot.draw([timing("serial", 0.5)], {"serial_s": 0.4}, beside=other)

    drawing = plot.chart.drawing
    assert (
        drawing.read(0, 0)
        == "A one after another · 500 ms (100 ms above “all jobs one after another”)"
    )
    assert drawing.read(1, 0) == "B one after another · 1 s (at “all jobs one after another”)"
    assert {"A · all jobs one after another", "B · all jobs one after another"} <= set(texts(plot))


def test_values_that_are_no_numbers_are_left_out(qtbot):
    rows = [timing("serial", float("nan")), timing("serial", 0.5), timing("threads", float("inf"))]
    plot = plotted(qtbot, *WALL, rows=rows, values={})

    assert texts(plot) == ["500 ms"]


def test_a_limit_far_beyond_the_bars_does_not_flatten_them(qtbot):
    plot = plotted(qtbot, *WALL, values={"serial_s": 100.0})

    assert plot.painted().layout.full.x[1] < 2.0


def test_a_limit_ends_below_the_bars_that_it_holds_of(qtbot):
    rows = [timing("threads", 0.6), timing("released_threads", 0.2)]
    plot = plotted(qtbot, *WALL, rows=rows, values={"serial_s": 0.5})
    area, picture = plot.painted().area, plot.grab().toImage()

    def is_crossed(row: int) -> bool:
        x, y = round(area.x_px(0.5)), round(area.y_px(float(row) - 0.45))  # above the bar
        others, places = picture.pixelColor(x - 9, y), itertools.product((-1, 0, 1), range(9))
        return any(picture.pixelColor(x + right, y + down) != others for right, down in places)

    assert is_crossed(0)
    assert not is_crossed(1)
    assert "above “all jobs one after another”" in plot.chart.drawing.read(0, 0)
    assert plot.chart.drawing.read(1, 0) == "NumPy sorts in threads · 200 ms"
