"""Right answers of this shelf's lessons to a vote, in runs made up."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.parameters import from_json
from experiments.core.shelves import homes
from experiments.core.teaching.lesson_run import lesson_run
from experiments.core.teaching.lessons import taught
from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.engine.recording import read
from experiments.memory.burst_random import lesson as burst_random
from experiments.memory.cache_ladder import lesson as cache_ladder
from experiments.memory.cache_ladder.experiment import RANDOM, Params, Step
from experiments.memory.latency_numbers import lesson as latency_numbers
from experiments.memory.storage import lesson as storage
from experiments.memory.storage.experiment import IN_ORDER, SMALL
from machine.model import from_json as machine_from_json
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.memory import (
    lessons_of_burst_random,
    lessons_of_cache_ladder,
    lessons_of_latency_numbers,
    lessons_of_storage,
)

GOALS = {
    "burst-random": lessons_of_burst_random,
    "cache-ladder": lessons_of_cache_ladder,
    "latency-numbers": lessons_of_latency_numbers,
    "storage": lessons_of_storage,
}


@in_one(
    ("ends", "option"),
    [
        ({4 * KIB: 1e-9, 256 * MIB: 1.1e-9}, 0),
        ({4 * KIB: 1e-9, MIB: 5e-9}, 1),
        ({4 * KIB: 1e-9, 256 * MIB: 1.3e-7}, 2),
        ({4 * KIB: 1e-9, 256 * MIB: 6.5e-5}, 3),  # as the data grew: 65,536 times
        ({4 * KIB: 1e-9, 256 * MIB: 2e-6}, None),  # far, yet by far not as the data grew
        ({4 * KIB: 1e-9}, None),
        ({}, None),
    ],
)
def test_a_vote_on_distance_is_judged_by_both_ends_of_the_line(ends, option):
    usual = lessons_of_cache_ladder.made("ladder_climbed", params=Params())
    steps = [
        Step(size_bytes=size, order=RANDOM, repeat=0, latency_s=took_s)
        for size, took_s in ends.items()
    ]
    run = replace(usual, tables={"steps": steps})

    assert cache_ladder.option_by_growth(run) == option


@in_one(("process_s", "option"), [(1e-6, 0), (1e-5, 1), (1e-3, 2), (2e-2, 3), (None, None)])
def test_a_vote_on_a_process_is_judged_as_if_l1_took_a_second(process_s, option):
    values = {"l1_s": 1e-9} | ({} if process_s is None else {"process_s": process_s})
    run = lessons_of_latency_numbers.made("felt_in_seconds", values, memory_bytes=GIB)

    assert latency_numbers.option_by_process(run) == option


def lesson_and_recording(name: str):
    """Return a lesson, and the run that comes with it."""
    experiment, home = Catalogue().load(name), homes()[name]
    assert home.recording is not None
    recording = read(home.recording)
    params = from_json(experiment.params, recording.started.params, check_choices=False)
    machine = machine_from_json(recording.started.machine)
    tables = recording.tables(experiment)
    return taught(experiment, home), lesson_run(
        params, tables, machine, recording.finding(experiment)
    )


@in_one("name", GOALS)
def test_no_goal_is_reached_by_the_recording_or_by_a_single_setting(name):
    lesson, recorded = lesson_and_recording(name)
    for run in (recorded, *GOALS[name].SINGLE):
        reached = [goal.goal for goal in lesson.words.goals if lesson.call(goal.reached, run)]
        assert not reached, run.params


def test_a_burst_takes_no_longer_in_the_first_cache_and_far_longer_in_memory():
    _, run = lesson_and_recording("burst-random")
    times = burst_random.ratios(run)

    assert times[16 * KIB] < 1.05
    assert times[512 * MIB] > 5
    spot = burst_random.first_twice(run)
    assert times[min(times)] < 2 <= times[512 * MIB]
    assert any(times[size] >= 2 and times[size // 2] < 2 and spot.low < size < spot.high
               for size in times if size // 2 in times)  # fmt: skip


def test_burst_moves_in_the_proportions_that_were_measured():
    made = lessons_of_burst_random.made("three_answers")
    moved = burst_random.motion(made, None)
    travels = [event for event in moved.scenes[0].events if isinstance(event, Travel)]
    starts = {
        name: [each.start_s for each in travels if each.along[0] == f"{name}_core"]
        for name in ("in_order", "shuffled", "chain")
    }

    assert all(each.end_s - each.start_s == pytest.approx(1e-7) for each in travels)
    assert starts["chain"] == pytest.approx([0, 1e-7, 2e-7])
    assert starts["shuffled"][1] == pytest.approx(8e-9)  # one after another in a shuffled list
    assert starts["in_order"][1] % (8 * 4e-10) == pytest.approx(0, abs=1e-12)  # lines, some drawn
    under_way = [each for each in travels if each.start_s <= 1.5e-7 < each.end_s]
    assert sum(each.along[0] == "chain_core" for each in under_way) == 1
    assert sum(each.along[0] == "shuffled_core" for each in under_way) in (12, 13)


def test_nothing_moves_where_a_cache_holds_the_numbers():
    assert burst_random.motion(lessons_of_burst_random.in_l1(huge_pages=True), None) is None


def test_a_small_and_a_large_read_leave_together_and_many_are_under_way_at_once():
    moved = storage.motion(lessons_of_storage.made("size_costs_not_order"), None)
    travels = [event for event in moved.scenes[0].events if isinstance(event, Travel)]
    small, large, *many = travels

    assert (small.start_s, large.start_s) == (0, 0)
    assert large.end_s == pytest.approx(6 * small.end_s)  # 600 and 100 microseconds
    assert len(many) == 32
    assert all(each.start_s >= large.end_s for each in many)
    assert all(each.end_s - each.start_s == pytest.approx(3.2e-4) for each in many)
    assert many[1].start_s - many[0].start_s == pytest.approx(
        1e-5
    )  # one arrives each 10 microseconds
    at_s = many[-1].start_s
    assert sum(each.start_s <= at_s < each.end_s for each in many) == 32


def test_a_disk_of_which_the_large_read_is_unknown_shows_no_motion():
    run = lessons_of_storage.made("size_costs_not_order")

    assert storage.motion(replace(run, tables={**run.tables, "reads": []}), None) is None


def test_half_speed_is_where_the_shuffled_line_reaches_it():
    spot = storage.half_speed(lessons_of_storage.made("size_costs_not_order"))

    assert 4 * KIB <= spot.low < MIB < spot.high


def test_l1_returns_ten_million_times_while_a_process_starts():
    run = lessons_of_latency_numbers.made(
        "felt_in_seconds", lessons_of_latency_numbers.ALL, memory_bytes=GIB
    )
    moved = latency_numbers.motion(run, None)
    events = moved.scenes[0].events
    counts = {event.shape: event for event in events if isinstance(event, Count)}

    assert moved.duration_s == pytest.approx(2e-2)
    assert counts["l1"].at(moved.duration_s) == 20_000_000
    assert counts["memory"].at(moved.duration_s) == 200_000
    assert counts["process"].at(moved.duration_s) == 1
    assert counts["process"].at(moved.duration_s / 2) == 0
    assert {event.shape for event in events if isinstance(event, Hold)} == counts.keys()


def test_neither_items_nor_drawing_stand_in_the_order_that_is_asked_for():
    lesson, run = lesson_and_recording("latency-numbers")
    order = latency_numbers.quickest_first(run)
    lanes = [shape.label for shape in lesson.diagram.shapes if shape.label]

    assert order not in ([*range(5)], [*range(5)][::-1])
    assert lanes == [*latency_numbers.RANKED]


def test_the_map_speaks_of_a_disk_as_the_ruler_does():
    _, run = lesson_and_recording("latency-numbers")
    said = words.load().say("map.about_disk")

    assert 100 <= run.values["disk_s"] / run.values["memory_s"] < 1000
    assert "hundreds of times as long as from memory" in said
    assert "about 1.2 times the work" in words.load().say("map.about_core")


def test_headline_and_answer_of_the_ladder_name_one_distance():
    _, run = lesson_and_recording("cache-ladder")

    assert cache_ladder.numbers(run, None)["far_over_near"] == run.values["memory_over_l1"]


@pytest.mark.parametrize(
    ("l3_bytes", "is_inside"), [(32 * MIB, True), (6 * MIB, True), (5 * MIB, False)]
)
def test_the_lines_part_in_the_last_cache_only_if_it_holds_numbers_and_list(l3_bytes, is_inside):
    usual = lessons_of_burst_random.made("three_answers")
    run = replace(usual, machine=machine(caches=(32 * KIB, MIB, l3_bytes)))

    assert burst_random.parts_in_cache(run) is is_inside


def test_where_the_first_caches_still_hold_them_the_lines_do_not_part_in_the_last():
    usual = lessons_of_burst_random.made("three_answers")
    run = replace(usual, machine=machine(caches=(32 * KIB, 8 * MIB, 32 * MIB)))

    assert not burst_random.parts_in_cache(run)


@in_one(("in_order_s", "is_alike"), [(1e-4, True), (9e-5, True), (5e-5, False), (2e-4, False)])
def test_order_gains_nothing_only_where_small_blocks_are_as_slow_in_order(in_order_s, is_alike):
    usual = lessons_of_storage.made("size_costs_not_order")
    reads = [
        replace(row, bytes_per_s=row.block_bytes / in_order_s)
        if (row.block_bytes, row.way) == (SMALL, IN_ORDER)
        else row
        for row in usual.tables["reads"]
    ]

    assert storage.order_gains_nothing(replace(usual, tables={"reads": reads})) is is_alike


def test_the_text_of_the_ruler_names_the_process_of_its_headline():
    lesson, run = lesson_and_recording("latency-numbers")
    found = latency_numbers.numbers(run, None)

    assert found["process_over_thread"] == run.values["process_s"] / run.values["thread_s"]
    assert "{process_over_thread}" in lesson.words.explain.text
