"""The lesson of streams: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.teaching.motion import Count, Travel
from experiments.to_the_gpu.streams import lesson as streams
from tests.cases import in_one
from tests.experiments.machines import GIB, MIB
from tests.experiments.to_the_gpu import lessons_of_streams as queues


@in_one(("on_scale_s", "right"), [(0.029, 0), (0.021, 1), (0.0142, 2), (0.0125, 2), (0.0075, 3)])
def test_the_answer_is_the_nearest_on_the_scale_of_the_question(on_scale_s, right):
    run = queues.RUNS["usual"]
    best_s = on_scale_s / 0.03 * run.values["sum_s"]

    assert streams.option_by_share(replace(run, values={**run.values, "best_s": best_s})) == right


@in_one("name", ["parts_differ", "two_streams", "one_stream", "one_piece", "many_pieces"])
def test_no_answer_is_right_where_the_run_was_about_something_else(name):
    assert streams.option_by_share(queues.RUNS[name]) is None


def test_all_parts_are_at_work_from_the_first_piece_back_to_the_last_piece_there():
    run = queues.RUNS["usual"]
    spot, rows = streams.all_at_work(run), run.tables["several_streams"]
    first = min(row.start_s for row in rows if row.part == "from_gpu")
    last = max(row.end_s for row in rows if row.part == "to_gpu")

    assert spot.low == pytest.approx(first, rel=0.1)
    assert spot.high == pytest.approx(last, rel=0.1)
    assert streams.all_at_work(queues.RUNS["two_streams"]).low is None


@in_one(
    ("changed", "is_reached"),
    [
        ({"pieces": 64, "total_bytes": GIB}, True),
        ({"pieces": 64}, False),  # the calls set the pace
        ({"total_bytes": GIB}, False),  # beginning and end are an eighth each
        ({"compute_per_copy": 20.0, "total_bytes": GIB}, False),  # unequal
    ],
)
def test_coming_near_the_longest_part_takes_more_pieces_and_more_data(changed, is_reached):
    run = queues.modelled(queues.on_gpu(**changed))

    assert streams.near_the_longest(run) is is_reached


@in_one(
    ("changed", "is_reached"),
    [
        ({"compute_per_copy": 3.0}, True),
        ({"compute_per_copy": 4.0}, False),  # what the page offers to try next
        ({"compute_per_copy": 1.0}, False),  # a third part is idle
        ({"compute_per_copy": 20.0}, False),  # hardly anything to hide
        ({"compute_per_copy": 3.0, "streams": 2}, False),  # more were not tried
        ({"compute_per_copy": 3.0, "total_bytes": MIB}, False),  # the calls set the pace
    ],
)
def test_two_streams_are_enough_where_one_computes_while_the_other_copies(changed, is_reached):
    assert streams.two_are_enough(queues.modelled(queues.on_gpu(**changed))) is is_reached


def test_pieces_move_as_long_as_they_were_recorded_and_on_one_clock():
    run = queues.RUNS["usual"]
    motion = streams.motion(run, None)
    for scene, table in zip(motion.scenes, ("one_stream", "several_streams"), strict=True):
        moved = [e for e in scene.events if isinstance(e, Travel)]
        rows = [row for row in run.tables[table] if row.part != "compute"]
        assert [(e.start_s, e.end_s, int(e.token)) for e in moved] == [
            (row.start_s, row.end_s, row.piece + 1) for row in rows
        ]
        (back,) = (e for e in scene.events if isinstance(e, Count))
        assert back.at(motion.duration_s) == run.params.pieces
    assert streams.motion(queues.RUNS["many_pieces"], None) is None
