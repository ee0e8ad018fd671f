"""Right answers of this shelf's lessons to a guess, a click and a goal, in runs made up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun, Spot
from experiments.core.teaching.lessons import Taught
from experiments.python_at_work.amdahl import lesson as amdahl
from experiments.python_at_work.amdahl.experiment import IDEAL, MEASURED, Speedup
from experiments.python_at_work.false_sharing import lesson as false_sharing
from experiments.python_at_work.false_sharing.experiment import PLAIN
from experiments.python_at_work.race import lesson as race
from experiments.python_at_work.race.experiment import BARE, CALL, Params
from experiments.python_at_work.uneven import lesson as uneven
from experiments.python_at_work.uneven.experiment import BLOCK, INTERLEAVED, ChunkSpan
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.experiments.python_at_work import (
    lessons_of_amdahl,
    lessons_of_false_sharing,
    lessons_of_race,
    lessons_of_uneven,
)
from tests.experiments.python_at_work.recorded import lesson_of

OTHERS = Params(pythons=("3.8",))


@in_one(
    ("lost", "option"),
    [
        ((0, 0, 0), 0),
        ((0.2, 0.205, 0.2), 1),
        ((0.2, 0.5, 0.4), 2),
        ((0, 0, 0.5), 2),
        ((0.5,), None),
    ],
)
def test_race_is_judged_by_where_the_counter_ended(lost, option):
    run = lessons_of_race.made("only_the_call_lost", call=lost)

    assert race.option_by_spread(run) == option
    assert race.option_by_spread(replace(run, params=Params(workers=1))) is None


def test_the_form_that_scatters_is_that_of_this_python():
    usual = lessons_of_race.made("only_the_call_lost")
    loser = replace(lessons_of_race.races(BARE, (0.3,))[0], python="3.8")
    rows = [*usual.tables["races"], loser]
    elsewhere = replace(usual, tables={"races": rows, "moments": []}, params=OTHERS)

    assert race.form_that_scatters(usual) == Spot(names=(CALL,))
    assert race.form_that_scatters(elsewhere) == Spot(names=(CALL,))


def test_what_another_python_lost_judges_nobody():
    usual = lessons_of_race.made("nothing_lost", call=(0, 0, 0))
    loser = replace(lessons_of_race.races(CALL, (0.3,))[0], python="3.8")
    rows = [*usual.tables["races"], loser]
    run = replace(usual, tables={"races": rows, "moments": []}, params=OTHERS)

    assert race.option_by_spread(run) == 0


@in_one(
    ("slowdown", "message", "option"),
    [(1.02, "alike", 0), (1.6, "neighbours_fight", 1), (9.0, "neighbours_fight", 2),
     (0.7, "near_is_faster", None)],
)  # fmt: skip
def test_false_sharing_is_judged_by_the_slowdown(slowdown, message, option):
    run = lessons_of_false_sharing.made(message, values={"slowdown": slowdown})

    assert false_sharing.option_by_slowdown(run) == option


def test_the_fall_is_that_of_two_cores():
    usual = lessons_of_false_sharing.made("neighbours_fight")
    rows = [
        replace(row, pair=PLAIN, increment_s=9.0 if row.distance_bytes < 256 else 1e-9)
        for row in usual.tables["increments"]
    ]
    run = replace(usual, tables={"increments": [*rows, *usual.tables["increments"]], "alone": []})

    assert false_sharing.largest_fall(run) == Spot(low=32, high=64)


@pytest.mark.parametrize(("disturbed", "is_reached"), [(0, True), (6, True), (7, False)])
def test_rounds_that_fall_elsewhere_spoil_the_goal(disturbed, is_reached):
    run = lessons_of_false_sharing.RUNS["falls_at_16"]
    rows = [
        replace(row, increment_s=9e-6)
        if row.repeat < disturbed and row.distance_bytes == 256
        else row
        for row in run.tables["increments"]
    ]
    found = false_sharing.falls_at_16(replace(run, tables={"increments": rows, "alone": []}))

    assert found is is_reached


@in_one(
    ("block_s", "interleaved_s", "dynamic_1_s", "option"),
    [(0.6, 0.3, 0.35, 0), (0.3, 0.6, 0.35, 1), (0.3, 0.35, 2.0, 2), (0.3, 0.31, 0.32, 3),
     (0.6, 0.3, 0.58, None)],
)  # fmt: skip
def test_uneven_is_judged_by_the_way_that_is_done_last(block_s, interleaved_s, dynamic_1_s, option):
    run = lessons_of_uneven.made(
        "handing_out_wins", block_s=block_s, interleaved_s=interleaved_s, dynamic_1_s=dynamic_1_s
    )

    assert uneven.slowest_way(run) == option


def test_the_longest_tail_is_found_among_the_lanes():
    slices = [
        ChunkSpan(way=way, worker=worker, start_s=0.0, end_s=end_s)
        for way, worker, end_s in (
            (BLOCK, 0, 0.1), (BLOCK, 1, 0.6), (INTERLEAVED, 0, 0.8), (INTERLEAVED, 1, 0.7),
        )
    ]  # fmt: skip
    run = lessons_of_uneven.made("handing_out_wins")

    assert uneven.longest_tail(replace(run, tables={"slices": slices})) == Spot(names=(BLOCK,))


def climbing(speedups: dict[int, float]) -> LessonRun:
    rows = [
        Speedup(curve=curve, workers=n, repeat=0, speedup=speedup)
        for n, measured in speedups.items()
        for curve, speedup in ((IDEAL, float(n)), (MEASURED, measured))
    ]
    return replace(lessons_of_amdahl.made("scales_less"), tables={"speedups": rows, "runs": []})


@pytest.mark.parametrize(
    ("speedups", "below"),
    [
        ({1: 1.0, 2: 1.98, 4: 3.5, 8: 3.6}, (3.0, 6.0)),
        ({1: 1.0, 2: 1.98, 4: 3.95, 8: 7.8}, (6.0, 9.0)),
        ({1: 1.0, 2: 1.02}, (1.5, 3.0)),
    ],
)
def test_the_first_point_clearly_below_the_ideal_is_clicked(speedups, below):
    low, high = below

    spot = amdahl.first_below_ideal(climbing(speedups))
    assert spot.low == low
    assert low < spot.high <= high


def test_nothing_is_clicked_in_plots_without_rows():
    for lesson, run in (
        (race.form_that_scatters, lessons_of_race.made("nothing_lost")),
        (false_sharing.largest_fall, lessons_of_false_sharing.made("alike")),
        (uneven.longest_tail, lessons_of_uneven.made("ways_alike")),
        (amdahl.first_below_ideal, lessons_of_amdahl.made("scales_less")),
    ):
        assert lesson(replace(run, tables=dict.fromkeys(run.tables, ()))) == Spot()


@in_one(("parallel", "option"), [(0.7, 0), (0.92, 1), (0.95, 1), (0.99, 2), (1.0, 3), (None, None)])
def test_sixteen_cores_are_judged_by_the_share_that_was_fitted(parallel, option):
    usual = lessons_of_amdahl.made("scales_as_chosen")
    run = replace(usual, values={**usual.values, "parallel_fraction": parallel})

    assert amdahl.option_of_sixteen(run) == option
    other = replace(run, params=replace(run.params, serial_fraction=0.5))
    assert amdahl.option_of_sixteen(other) is None


@pytest.mark.parametrize(("cores", "option"), [(16, 3), (8, 1)])
def test_sixteen_cores_that_were_there_are_judged_by_their_speedup(cores, option):
    run = replace(climbing({1: 1.0, 2: 2.0, 16: 15.9}), machine=machine(cores=cores))

    assert amdahl.option_of_sixteen(run) == option


def test_a_question_is_asked_in_the_range_of_the_machine():
    words = lesson_of("burst-random").words
    lesson = Taught(words, SimpleNamespace(predicted_range=lambda here: (1, here.cpu.cores)), None)

    assert lesson.predict_on(machine(cores=64)).range == (1, 64)
    assert lesson.predict_on(None) == words.predict
