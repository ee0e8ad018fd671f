from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core import marks
from experiments.core.declare import Row
from experiments.core.judging.disturbed import Loss, mark
from experiments.core.marks import Bar, Lane, Line
from experiments.core.views import Axis, Bars, Heatmap, Lines, Ruler, Timeline


class Timing(Row, kw_only=False):
    method: str
    python: str
    wall_s: float


class Step(Row, kw_only=False):
    size_bytes: int
    order: str
    latency_s: float


class Slice(Row, kw_only=False):
    method: str
    python: str
    worker: int
    start_s: float
    end_s: float


BARS = Bars(key="wall", table="timings", label="method", value="wall_s", detail="python")
LINES = Lines(key="ladder", table="steps", x=Axis("size_bytes"), y=Axis("latency_s"))


def test_a_bar_shows_the_median_and_keeps_every_repeat():
    rows = [Timing("serial", "3.11", wall_s) for wall_s in (3.0, 1.0, 2.0)]

    assert marks.bars(BARS, rows) == [Bar("serial", "3.11", 2.0, (3.0, 1.0, 2.0))]


def test_bars_stand_in_the_declared_order_then_by_number_then_by_word():
    view = Bars(key="k", table="t", label="method", value="wall_s", order=("threads", "serial"))
    rows = [
        Timing(method, "", 1.0) for method in ("zebra", "10", "serial", "9", "apple", "threads")
    ]

    labels = [bar.label for bar in marks.bars(view, rows)]
    assert labels == ["threads", "serial", "9", "10", "apple", "zebra"]


def test_each_detail_has_a_bar_of_its_own():
    rows = [Timing("serial", "3.13", 2.0), Timing("serial", "3.9", 1.0)]

    assert {(bar.detail, bar.value) for bar in marks.bars(BARS, rows)} == {
        ("3.9", 1.0),
        ("3.13", 2.0),
    }


@pytest.mark.parametrize(("statistic", "value"), [("median", 2.0), ("least", 1.0), ("greatest", 9)])
def test_the_statistic_is_the_declared_one(statistic, value):
    view = Bars(key="k", table="t", label="method", value="wall_s", statistic=statistic)
    rows = [Timing("serial", "", wall_s) for wall_s in (9.0, 1.0, 2.0)]

    assert marks.bars(view, rows)[0].value == value


def test_pins_of_a_ruler_go_from_the_least_to_the_greatest():
    view = Ruler(key="k", table="t", label="method", value="wall_s")
    rows = [Timing("slow", "", 9.0), Timing("fast", "", 1.0), Timing("slow", "", 8.0)]

    pins = marks.bars(view, rows)
    assert [(pin.label, pin.value, pin.detail) for pin in pins] == [
        ("fast", 1.0, ""),
        ("slow", 8.0, ""),
    ]


def test_a_line_goes_through_the_statistic_at_each_x_and_has_a_dot_for_each_repeat():
    rows = [Step(8, "", 4.0), Step(4, "", 1.0), Step(8, "", 2.0), Step(8, "", 9.0)]

    assert marks.lines(LINES, rows) == [
        Line("", ((4, 1.0), (8, 4.0)), (((4, 1.0),), ((8, 4.0), (8, 2.0), (8, 9.0))))
    ]


def test_rows_of_one_point_make_one_of_the_line_where_x_is_measured_as_well():
    view = replace(LINES, point="order")
    rows = [Step(9, "busy", 5.0), Step(1, "idle", 1.0), Step(7, "busy", 3.0), Step(8, "busy", 4.5)]

    (line,) = marks.lines(view, rows)
    assert line.points == ((1, 1.0), (8, 4.5))
    assert line.dots == ((1, 1.0), (9, 5.0), (7, 3.0), (8, 4.5))


def test_each_series_is_a_line_in_the_declared_order():
    view = Lines(
        key="k", table="t", x=Axis("size_bytes"), y=Axis("latency_s"),
        series="order", order=("random", "sequential"),
    )  # fmt: skip
    rows = [Step(4, "sequential", 1.0), Step(4, "random", 2.0)]

    assert [line.series for line in marks.lines(view, rows)] == ["random", "sequential"]


def test_a_view_of_one_series_leaves_the_others_out():
    view = Lines(
        key="k", table="t", x=Axis("size_bytes"), y=Axis("latency_s"),
        series="order", only=("random",),
    )  # fmt: skip
    rows = [Step(4, "sequential", 1.0), Step(4, "random", 2.0)]

    assert [line.series for line in marks.lines(view, rows)] == ["random"]


def test_lanes_of_a_group_stand_together_and_their_slices_in_order():
    view = Timeline(
        key="k", table="t", lane="worker", start="start_s", end="end_s",
        group="method", order=("serial", "threads"),
    )  # fmt: skip
    rows = [
        Slice("threads", "", 1, 0.0, 1.0),
        Slice("serial", "", 10, 3.0, 4.0),
        Slice("serial", "", 9, 1.0, 2.0),
        Slice("serial", "", 9, 0.0, 0.5),
    ]

    lanes = [(lane.group, lane.lane, lane.slices) for lane in marks.lanes(view, rows)]
    assert lanes == [
        ("serial", "9", ((0.0, 0.5), (1.0, 2.0))),
        ("serial", "10", ((3.0, 4.0),)),
        ("threads", "1", ((0.0, 1.0),)),
    ]


def test_lanes_of_two_interpreters_are_not_one():
    view = Timeline(
        key="k", table="t", lane="worker", start="start_s", end="end_s",
        group="method", detail="python",
    )  # fmt: skip
    rows = [Slice("serial", "3.11", 0, 0.0, 1.0), Slice("serial", "3.13", 0, 0.0, 2.0)]

    lanes = marks.lanes(view, rows)
    assert all(isinstance(lane, Lane) for lane in lanes)
    assert {(lane.detail, lane.slices) for lane in lanes} == {
        ("3.11", ((0.0, 1.0),)),
        ("3.13", ((0.0, 2.0),)),
    }


def test_a_cell_holds_the_statistic_of_its_repeats():
    view = Heatmap(key="k", table="t", row="method", column="python", value="wall_s")
    rows = [Timing("a", "x", 1.0), Timing("a", "x", 3.0), Timing("b", "x", 5.0)]

    assert marks.cells(view, rows) == {("a", "x"): 2.0, ("b", "x"): 5.0}


def test_nothing_to_show_is_no_mark():
    assert marks.bars(BARS, []) == []
    assert marks.lines(LINES, []) == []
    assert marks.cells(Heatmap(key="k", table="t", row="a", column="b", value="c"), []) == {}
    view = Timeline(key="k", table="t", lane="worker", start="start_s", end="end_s")
    assert marks.lanes(view, []) == []


# --- disturbed rows -------------------------------------------------------------------------------

LOSS = Loss(0.2, 3)


def test_a_disturbed_repeat_is_outside_of_the_statistic_and_a_dot_of_its_own():
    rows = [Timing("serial", "3.11", 1.0), mark(Timing("serial", "3.11", 9.0), LOSS)]

    (bar,) = marks.bars(BARS, rows)
    assert (bar.value, bar.repeats, bar.disturbed) == (1.0, (1.0,), (9.0,))

    steps = [Step(4, "random", 1.0), Step(8, "random", 2.0), mark(Step(8, "random", 9.0), LOSS)]
    (line,) = marks.lines(LINES, steps)
    assert line.points == ((4, 1.0), (8, 2.0))
    assert line.disturbed == ((8, 9.0),)


def test_a_point_whose_repeats_were_all_disturbed_has_no_place_on_the_line():
    steps = [Step(4, "random", 1.0), mark(Step(8, "random", 9.0), LOSS)]

    (line,) = marks.lines(LINES, steps)
    assert line.points == ((4, 1.0),)
    assert line.disturbed == ((8, 9.0),)


def test_disturbed_slices_and_cells_are_left_out():
    cells = Heatmap(key="h", table="t", row="size_bytes", column="order", value="latency_s")
    rows = [Step(4, "random", 1.0), mark(Step(4, "random", 9.0), LOSS)]

    assert marks.cells(cells, rows) == {("4", "random"): 1.0}


def test_labels_outside_of_an_order_have_the_colours_after_it_one_each():
    view = replace(LINES, series="order", order=("sequential", "shuffled"))

    found = marks.colours(view, ["own", "shuffled", "own", "another", "sequential"])

    assert found == {"own": 2, "shuffled": 1, "another": 3, "sequential": 0}
