from __future__ import annotations

import multiprocessing
from functools import partial

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Frame
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW
from experiments.core.judging.trust import Trust, weigh
from experiments.core.teaching.motion import Hold, Travel
from experiments.core.words import load
from experiments.python_at_work.uneven import experiment as uneven
from experiments.python_at_work.uneven import jobs as uneven_jobs
from experiments.python_at_work.uneven import lesson
from experiments.python_at_work.uneven.experiment import (
    EXPERIMENT,
    ChunkSpan,
    Params,
    WayTime,
    analyse,
    chunks,
)
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_uneven as lessons
from tests.experiments.python_at_work.recorded import lesson_of, recorded
from tests.experiments.stopping import stop_after_rows

AGREED = {"ideal_s", "block_s", "interleaved_s", "dynamic_1_s", "dynamic_best_s", "best_chunk"}

PARAMS = Params(workers=4, rows=64)
NOISE = (1.0, 1.02, 0.98)
UNSTEADY = (0.5, 1.4, 1.0)
USUAL = {
    ("serial", 64): 1.0, ("block", 16): 0.6, ("interleaved", 1): 0.3, ("dynamic", 1): 0.35,
    ("dynamic", 4): 0.27, ("dynamic", 16): 0.6,
}  # fmt: skip
TINY = Params(workers=2, rows=32, columns=16, iterations=100, rounds=2)


def tables(times=USUAL, noise=NOISE, unsteady=()):
    """Rows of some rounds; those of the `unsteady` ways scatter."""
    return {
        "shares": [
            WayTime(way=way, chunk=chunk, repeat=n, wall_s=wall_s * f, efficiency_fraction=0.9)
            for (way, chunk), wall_s in times.items()
            for n, f in enumerate(UNSTEADY if (way, chunk) in unsteady else noise)
        ],
        "slices": [],
        "costs": [],
    }


@pytest.mark.parametrize(("interleaved_s", "is_told"), [(0.3, False), (0.27, True), (0.2, True)])
def test_that_dealing_in_turn_did_as_well_is_told(interleaved_s, is_told):
    found = analyse(PARAMS, tables(USUAL | {("interleaved", 1): interleaved_s}), machine(cores=4))

    assert ("interleaved_as_good" in found.limits) is is_told
    assert "interleaved_unclear" not in found.limits


def test_whether_dealing_in_turn_does_as_well_is_not_told_where_the_rounds_scatter():
    found = analyse(PARAMS, tables(unsteady={("interleaved", 1)}), machine(cores=4))

    assert "interleaved_unclear" in found.limits
    assert "interleaved_as_good" not in found.limits


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("as_it_comes", {"interleaved_as_good"}),
        ("shuffled", {"shuffled", "interleaved_as_good_by_order"}),
        ("longest_first", {"longest_first", "interleaved_as_good_by_order"}),
    ],
)
def test_what_is_said_of_dealing_in_turn_follows_the_order(order, told):
    rows = tables(USUAL | {("interleaved", 1): 0.2})
    found = analyse(replace(PARAMS, order=order), rows, machine(cores=4))

    of_order = {"interleaved_as_good", "interleaved_as_good_by_order", "shuffled", "longest_first"}
    assert of_order & {*found.limits} == told


@pytest.mark.parametrize(("begins_s", "is_told"), [(0.001, False), (0.004, True)])
def test_why_a_worker_begins_later_is_told(begins_s, is_told):
    rows = tables()
    rows["slices"] = [
        ChunkSpan(way="block", worker=worker, start_s=start_s, end_s=0.3)
        for worker, start_s in ((0, 0.0), (1, begins_s), (1, 0.2))
    ]

    assert ("begins_later" in analyse(PARAMS, rows, machine(cores=4)).limits) is is_told


def test_of_two_rounds_nothing_is_said_of_dealing_in_turn():
    times = USUAL | {("interleaved", 1): 0.2}
    found = analyse(PARAMS, tables(times, noise=(1.0, 1.02)), machine(cores=4))

    assert not {"interleaved_as_good", "interleaved_unclear"} & {*found.limits}
    assert found.message == TOO_FEW


def test_handing_out_wins_where_the_best_chunk_parts_from_blocks():
    found = analyse(PARAMS, tables(), machine(cores=4))

    assert found.message == "handing_out_wins"
    assert found.values["best_chunk"] == 4
    assert found.values["ideal_s"] == pytest.approx(0.25)
    assert found.values["dynamic_1_s"] == pytest.approx(0.35)
    assert found.values["dynamic_best_s"] == pytest.approx(0.27)
    assert found.limits == ()


@pytest.mark.parametrize(("block_s", "message"), [(0.275, "ways_alike"), (0.2, "block_wins")])
def test_blocks_that_are_even_are_said_to_be(block_s, message):
    times = {**USUAL, ("block", 16): block_s}

    assert analyse(PARAMS, tables(times), machine()).message == message


def test_what_comes_out_below_the_ideal_is_said_to_be_chance():
    below = analyse(PARAMS, tables({**USUAL, ("dynamic", 4): 0.24}), machine(cores=4))

    assert "below_ideal" in below.limits
    assert "below_ideal" not in analyse(PARAMS, tables(), machine(cores=4)).limits


def test_blocks_that_are_not_shown_to_differ_are_not_called_alike():
    found = analyse(PARAMS, tables(unsteady={("block", 16)}), machine())

    assert found.message == CANNOT_TELL


@pytest.mark.parametrize(
    ("unsteady", "told"),
    [(set(), {"other_chunks_as_good"}), ({("dynamic", 1)}, {"best_chunk_by_chance"})],
)
def test_how_other_chunks_stand_to_the_best_is_told(unsteady, told):
    rows = tables({**USUAL, ("dynamic", 1): 0.272}, unsteady=unsteady)
    limits = analyse(PARAMS, rows, machine()).limits

    assert {"other_chunks_as_good", "best_chunk_by_chance"} & {*limits} == told


def test_the_line_of_the_blocks_is_that_of_the_round_drawn():
    rows = tables()
    for worker, end_s in enumerate((0.1, 0.55)):
        rows["slices"].append(ChunkSpan(way="block", worker=worker, start_s=0.0, end_s=end_s))

    assert analyse(PARAMS, rows, machine()).values["block_ends_s"] == 0.55
    assert "block_ends_s" not in analyse(PARAMS, tables(), machine()).values


def test_ideal_is_no_less_than_the_cores_allow():
    found = analyse(PARAMS, tables(), machine(cores=2))

    assert found.values["ideal_s"] == pytest.approx(0.5)
    assert "more_workers_than_cores" in found.limits


@pytest.mark.parametrize("missing", ["serial", "block", "dynamic"])
def test_a_run_without_one_of_the_ways_compares_nothing(missing):
    times = {key: wall_s for key, wall_s in USUAL.items() if key[0] != missing}

    assert analyse(PARAMS, tables(times), machine()).message == "nothing_to_compare"


def test_every_way_shares_out_every_row_once():
    order = list(range(64))
    for way, chunk in USUAL:
        parts = uneven.hand_outs(way, chunk, order, 4)
        assert sorted(number for part in parts for number in part) == order
        if way != "dynamic":
            assert len(parts) == (1 if way == "serial" else 4)


def test_rows_can_come_the_longest_first():
    assert uneven.order_rows("longest_first", [3, 9, 5]) == [1, 2, 0]
    assert uneven.order_rows("as_it_comes", [3, 9, 5]) == [0, 1, 2]
    assert sorted(uneven.order_rows("shuffled", [3, 9, 5])) == [0, 1, 2]


def test_chunks_leave_one_hand_out_for_each_worker():
    assert chunks(Params(workers=2, rows=16)) == [1, 2, 4, 8]
    assert chunks(Params(workers=64, rows=16)) == [1]


def test_a_point_inside_never_escapes_and_one_outside_soon_does():
    last = uneven_jobs.row(320, 320, 64, 50)  # close to the axis

    assert max(last) == 50
    assert uneven_jobs.row(0, 320, 64, 50)[0] <= 2


def test_twice_the_points_are_twice_the_iterations():
    once, twice = (sum(uneven_jobs.row(200, 320, columns, 200)) for columns in (400, 800))

    assert twice / once == pytest.approx(2, rel=0.05)


def test_a_real_run_is_complete():
    items = list(EXPERIMENT.measure(TINY, Bench(inspect())))
    shares = [item for item in items if isinstance(item, WayTime)]
    pictures = [item for item in items if isinstance(item, Frame)]

    assert len(shares) == 2 * (3 + len(chunks(TINY)))
    assert all(0 < share.efficiency_fraction <= 1.001 for share in shares)
    assert [picture.shape for picture in pictures] == [(32, 16)]
    assert len(pictures[0].data) == 32 * 16
    slices = [item for item in items if isinstance(item, ChunkSpan)]
    assert {s.way for s in slices} == {"block", "interleaved", "dynamic_1", "dynamic_16"}
    assert sum(s.way == "dynamic_1" for s in slices) == 32
    assert all(0 <= s.start_s <= s.end_s for s in slices)


def test_workers_can_be_spawned_where_there_is_no_fork(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    before = set(multiprocessing.active_children())
    workers = uneven_jobs.Workers(2, (4, 4, 10))
    try:
        assert len(workers.run([[0], [1], [2], [3]], own=False)["slices"]) == 4
        assert len(workers.run([[0, 1], [2, 3]], own=True)["slices"]) == 2
    finally:
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
            child.join()


def test_nothing_is_left_of_a_run():
    stop_after_rows(EXPERIMENT, TINY, TINY.rows + 2)


def beside(taken, times):
    """Return the message of such rows beside other programs, in eight rounds."""
    noise = (1.0, 1.04, 0.97, 1.02, 0.99, 1.05, 0.96, 1.01)
    rows = tables({("serial", 64): 1.0, ("block", 16): 0.6} | times, noise)
    return weigh(partial(analyse, PARAMS, rows, machine(cores=4)), taken)


def test_beside_load_blocks_are_uneven_where_dealing_in_turn_shows_it():
    times = {("interleaved", 1): 0.42, ("dynamic", 4): 0.4}

    found, trust = beside(0.4, times)
    assert (found.message, trust) == ("handing_out_wins", Trust.BUSY)


def test_beside_load_what_is_handed_out_may_win_by_the_load_alone():
    times = {("interleaved", 1): 0.6, ("dynamic", 4): 0.4}

    found, trust = beside(0.4, times)
    assert (found.message, trust) == (CANNOT_TELL, Trust.DISTURBED)
    assert beside(0.1, times)[0].message == "handing_out_wins"  # load makes 1.1 times at most


# --- the lesson ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["best_chunk_by_chance", "interleaved_unclear"])
def test_what_the_rounds_leave_open_is_said_with_what_to_do(limit):
    """It said what "these rounds cannot tell", and no more."""
    said = load().say(f"uneven.limits.{limit}")

    assert "may be" in said
    assert said.endswith("Run more rounds.")
    run = lessons.made("handing_out_wins", "best_chunk_by_chance")
    assert "Several piece sizes may be equally fast." in " ".join(explained(run).beside)


def explained(run):
    return lesson_of("uneven").explain(run, None)


def test_a_piece_of_one_row_is_one_row():
    assert "was 1 row." in explained(lessons.made("handing_out_wins", best_chunk=1)).text
    assert "was 4 rows." in explained(lessons.made("handing_out_wins")).text


def test_the_pieces_fly_in_the_time_that_was_measured_and_the_idle_end_is_grey():
    motion = lesson.motion(lessons.RUNS["drawn"], None)
    blocks, handed = (scene.events for scene in motion.scenes)
    lit = [each for each in blocks if isinstance(each, Hold)]
    lengths = [each.end_s - each.start_s for each in lit]
    flown = [(each.start_s, each.end_s) for each in handed if isinstance(each, Travel)]

    assert motion.duration_s == 0.501
    assert len(motion.without) == lesson.DRAWN - lessons.RUNS["drawn"].params.workers
    assert lengths == pytest.approx([0.1, 0.5, 0.4])
    assert (lit[-1].shape, lit[-1].role, lit[-1].start_s) == ("worker_0", "soft", 0.101)
    assert flown == [(0.0, 0.001), (0.0, 0.001), (0.1, 0.11)]
    assert [say.start_s for say in motion.says] == [0.0, 0.101, 0.25]


def test_too_many_pieces_or_workers_are_not_drawn():
    many = lessons.spans("dynamic_16", *((0, n * 0.1, n * 0.1 + 0.05) for n in range(81)))
    usual = lessons.RUNS["drawn"]
    blocks = [row for row in usual.tables["slices"] if row.way == "block"]
    crowded = replace(usual, tables={**usual.tables, "slices": [*blocks, *many]})

    assert lesson.motion(crowded, None) is None
    assert lesson.motion(replace(usual, params=replace(usual.params, workers=9)), None) is None


def test_the_recording_waits_for_the_last_worker():
    run = recorded("uneven")
    motion = lesson.motion(run, None)
    blocks, handed = (max(e.end_s for e in scene.events) for scene in motion.scenes)

    assert blocks == run.values["block_ends_s"]
    assert handed < blocks


def test_dealing_in_turn_is_explained_where_it_beat_blocks_clearly():
    won = lessons.made("handing_out_wins")

    assert lesson.dealt_beat_blocks(won)
    assert not lesson.dealt_beat_blocks(lessons.made("handing_out_wins", interleaved_s=0.59))
    assert not lesson.dealt_beat_blocks(lessons.RUNS["dealt_as_well"])
    assert not lesson.dealt_beat_blocks(lessons.RUNS["blocks_won"])


def test_the_lanes_of_the_recording_are_those_of_a_usual_round():
    """They showed the slow first round: blocks took 403 ms, their median was 271."""
    run = recorded("uneven")

    assert run.values["block_ends_s"] == pytest.approx(run.values["block_s"], rel=0.1)
