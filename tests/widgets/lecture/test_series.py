from __future__ import annotations

from msgspec.structs import replace

from experiments.core.views import Lines
from experiments.memory.cache_ladder.experiment import EXPERIMENT as LADDER
from experiments.memory.latency_numbers.experiment import EXPERIMENT as NUMBERS
from experiments.python_at_work.core_to_core.experiment import EXPERIMENT as CORES
from experiments.python_at_work.gil_threads.experiment import EXPERIMENT as GIL
from widgets.lecture.series import chosen


def test_the_key_marks_come_first_and_then_the_order_of_the_view():
    labels = ("released_threads", "released_serial", "processes", "threads", "serial", "other")

    assert chosen(GIL, GIL.plots[0], labels) == (
        "serial", "threads", "processes", "released_serial", "released_threads", "other",
    )  # fmt: skip


def test_marks_of_other_views_come_after_those_of_this_one():
    keys = (*GIL.keys[:1], replace(GIL.keys[1], view="lanes"), GIL.keys[2])

    assert chosen(replace(GIL, keys=keys), GIL.plots[0], ("threads", "processes", "serial")) == (
        "serial", "processes", "threads",
    )  # fmt: skip


def test_of_many_pins_those_stay_that_the_question_is_about():
    labels = (
        "handoff", "l1", "l2", "l3", "lock", "call", "thread", "loopback", "memory", "disk",
        "process",
    )  # fmt: skip

    assert chosen(NUMBERS, NUMBERS.plots[0], labels) == (
        "memory", "disk", "process", "l1", "call", "thread",
    )  # fmt: skip


def test_a_series_that_the_view_leaves_out_takes_no_place():
    view = LADDER.plots[0]
    assert isinstance(view, Lines)
    assert "sequential" not in view.only

    assert chosen(LADDER, view, ("sequential", "huge", "random")) == ("random", "huge")


def test_rows_of_cells_are_one_picture():
    labels = [str(number) for number in range(12)]

    assert chosen(CORES, CORES.plots[0], reversed(labels)) == tuple(labels)
