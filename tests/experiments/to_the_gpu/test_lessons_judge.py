"""Lessons of this shelf: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import importlib

import pytest
from msgspec.structs import replace

from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.devices.device import CPU
from experiments.to_the_gpu.diffusion import lesson as diffusion
from experiments.to_the_gpu.diffusion.experiment import Params as Heat
from experiments.to_the_gpu.diffusion.solvers import (
    COMPILED,
    COMPILED_ONE,
    MOVED,
    NUMPY,
    TORCH_CPU,
    TORCH_ONE,
)
from experiments.to_the_gpu.many_small import lesson as many_small
from experiments.to_the_gpu.many_small.experiment import THOUSAND
from experiments.to_the_gpu.many_small.experiment import Params as Calls
from experiments.to_the_gpu.pinned import lesson as pinned
from experiments.tools.lanes import CALLS, WORK
from tests.cases import in_one
from tests.experiments.machines import KIB, MIB
from tests.experiments.to_the_gpu import lessons_of_async as queue
from tests.experiments.to_the_gpu import lessons_of_diffusion as plates
from tests.experiments.to_the_gpu import lessons_of_many_small as calls
from tests.experiments.to_the_gpu import lessons_of_pinned as transfers

GPU = calls.GPU
queued = importlib.import_module("experiments.to_the_gpu.async.lesson")  # its name is a keyword


@pytest.mark.parametrize("device", [CPU, GPU])
def test_the_knee_is_where_calls_alone_outgrow_the_work(device):
    run = calls.modelled(Calls(device=device, numbers=1_000_000))
    spot = many_small.knee(run)

    assert spot.low < run.values["knee_calls"] <= spot.high


def test_without_work_there_is_no_knee():
    assert many_small.knee(calls.RUNS["no_work"]).low in {None, 1}


@pytest.mark.parametrize(("off", "is_reached"), [(1.0, True), (0.85, False), (1.15, False)])
def test_the_knee_must_lie_within_a_tenth(off, is_reached):
    run = calls.modelled(Calls(numbers=round(80_000_000 * off), calls=5000))

    assert many_small.knee_at_2000(run) is is_reached


def test_a_knee_beyond_what_was_measured_is_not_seen():
    assert not many_small.knee_at_2000(calls.modelled(Calls(numbers=80_000_000)))


@pytest.mark.parametrize("device", [CPU, GPU])
def test_one_call_and_many_move_on_one_clock(device):
    """A call takes the price of a call, and the call with all the work is done after its time."""
    run = calls.modelled(Calls(device=device, numbers=2_000_000))
    motion = many_small.motion(run, None)
    one, many = (scene.events for scene in motion.scenes)
    (added,) = (event for event in one if isinstance(event, Hold))
    (counted,) = (event for event in many if isinstance(event, Count))
    called = [event for event in many if isinstance(event, Travel)]

    assert added.end_s == pytest.approx(run.values["one_op_s"])
    assert counted.every_s == pytest.approx(run.values["thousand_ops_s"] / THOUSAND)
    assert len(called) == round(motion.duration_s / counted.every_s)
    for event in called[:3]:
        share = (event.end_s - event.start_s) / counted.every_s
        assert share == pytest.approx(1.0 if device == GPU else 1 - 0.1 / 2.1, abs=0.03)
    # so much of the work as a thousandth is beside what the call costs
    pieces = [event.end_s - event.start_s for event in many if isinstance(event, Hold)]
    assert pieces[0] == pytest.approx(run.tables["pieces"][0].device_s if device == GPU
                                      else run.values["one_op_s"] / THOUSAND)  # fmt: skip


@in_one(
    ("name", "right"),
    [("usual", 3), ("one_core", 3), ("cores_win", 1), ("in_a_huge_cache", 1), ("no_loop", None)],
)
def test_the_answer_goes_by_torch_on_all_cores_beside_a_loop_on_one(name, right):
    assert diffusion.option_by_engine(plates.RUNS[name]) == right


@in_one(("torch_over_loop", "right"), [(15.0, 0), (3.0, 1), (1.05, 2), (0.5, 3)])
def test_each_answer_is_right_on_some_machine(torch_over_loop, right):
    run = plates.modelled(Heat(), cores=16)
    loop = run.values["compiled_one_large_cells_per_s"]
    ahead = {**run.values, "torch_cpu_large_cells_per_s": torch_over_loop * loop}

    assert diffusion.option_by_engine(replace(run, values=ahead)) == right


def test_lines_that_wait_for_memory_end_at_its_limit():
    assert set(diffusion.at_the_limit(plates.RUNS["usual"]).names) == {NUMPY, TORCH_ONE, TORCH_CPU}


def test_the_same_side_in_double_precision_takes_twice_as_long_and_misses_the_goal():
    """Cells as fast as in float32 would take 5 ms."""
    params = Heat(large=round(1700 * 2**0.5), dtype="float64")

    assert not diffusion.five_milliseconds(plates.modelled(params))


@pytest.mark.parametrize("params", [Heat(large=3101), Heat(large=4385), Heat(dtype="float64")])
def test_a_gigabyte_takes_both_settings(params):
    assert not diffusion.one_gigabyte(plates.modelled(params))


def test_five_passes_take_as_much_longer_than_one_as_measured():
    run = plates.RUNS["usual"]
    motion = diffusion.motion(run, None)
    five, once = ([e for e in scene.events if isinstance(e, Travel)] for scene in motion.scenes)
    ratio = run.values["compiled_one_over_numpy"]

    assert [int(each.token) for each in five] == [*diffusion.ARRAYS]
    assert sum(diffusion.ARRAYS) == MOVED[NUMPY]
    assert five[-1].end_s == pytest.approx(ratio * once[0].end_s)
    lengths = [each.end_s - each.start_s for each in five]
    assert lengths[1] == pytest.approx(1.5 * lengths[0])  # three arrays, and two


@pytest.mark.parametrize(
    ("device", "inside", "said"),
    [
        (GPU, 0.8, {"foreach_saves"}),
        (CPU, 0.3, {"foreach_spares_python"}),
        (CPU, 0.8, {"foreach_calls_inside"}),
    ],
)
def test_only_a_gpu_joins_the_pieces_of_a_foreach_call(device, inside, said):
    run = calls.modelled(Calls(device=device, numbers=1_000_000), inside=inside)
    branches = ("foreach_saves", "foreach_spares_python", "foreach_calls_inside")

    assert {name for name in branches if getattr(many_small, name)(run)} == said


def test_the_verdict_names_a_loop_on_one_core_only_where_it_is_ahead_there():
    assert plates.RUNS["usual"].message == "compiled_is_faster"
    slow_alone = plates.modelled(Heat(), faster={COMPILED_ONE: 0.2, COMPILED: 3.0})
    rates = slow_alone.values

    assert rates["compiled_large_cells_per_s"] > rates["numpy_large_cells_per_s"]
    assert slow_alone.message == "engines_compared"


def test_cores_are_compared_with_one_on_both_plates():
    """In a cache four cores are four times as fast, in memory they share what one uses."""
    run = plates.RUNS["usual"]
    told = diffusion.numbers(run, None)

    assert told["torch_cpu_over_one"] == pytest.approx(1, rel=0.01)
    assert told["torch_cpu_near_over_one"] == pytest.approx(4, rel=0.01)
    assert diffusion.cores_gain_in_cache(run)
    assert not diffusion.cores_gain_in_cache(plates.RUNS["in_cache"])


def test_a_loop_that_wins_in_a_cache_too_is_said_to():
    faster = plates.modelled(Heat(), faster={COMPILED_ONE: 2.5})

    assert diffusion.loop_wins_in_cache(faster)
    assert not diffusion.loop_wins_in_cache(plates.RUNS["usual"])  # all cores win there
    assert not diffusion.loop_wins_in_cache(plates.RUNS["in_cache"])


def test_where_all_cores_win_the_lesson_says_so_though_caches_may_hold_the_plate():
    run = plates.RUNS["in_a_huge_cache"]

    assert diffusion.may_be_cached(run)
    assert diffusion.cores_win(run)
    assert not diffusion.in_cache(run)
    assert diffusion.in_cache(plates.RUNS["five_milliseconds"])  # the loop is ahead there


@pytest.mark.parametrize(("speed", "is_below"), [(1.0, False), (0.5, True)])
def test_a_loop_is_held_back_by_something_else_where_it_stays_far_below_memory(speed, is_below):
    run = plates.modelled(Heat(), faster={COMPILED_ONE: speed})

    assert diffusion.loop_below_memory(run) is is_below


@in_one(
    ("name", "right"),
    [("on_a_processor", 0), ("calls_set_the_pace", 1), ("about_twice", 2), ("usual", 3),
     ("short_products_fill_it", None)],
)  # fmt: skip
def test_the_answer_goes_by_the_products_time_over_that_of_their_calls(name, right):
    assert queued.option_by_ratio(queue.RUNS[name]) == right


def test_the_clock_stops_on_the_lanes_while_only_a_gpu_works_on():
    for name, works_on in (("usual", True), ("on_a_processor", False)):
        run = queue.RUNS[name]
        ends_s = {lane: max(row.end_s for row in run.tables["lanes"] if row.lane == lane)
                  for lane in (CALLS, WORK)}  # fmt: skip
        spot = queued.last_call(run)

        assert spot.low < ends_s[CALLS] < spot.high
        assert (ends_s[WORK] > spot.high) is works_on, name


@in_one(
    ("params", "is_reached"),
    [
        (queue.REACHING["short_products_fill_it"], True),
        (queue.Params(device=GPU, size=1024), False),  # few calls
        (queue.Params(device=GPU, size=2048, most=4096), False),  # long products
        (queue.Params(device=GPU, size=256, most=4096), False),  # done before the next call
        (queue.Params(size=128, most=4096), False),  # a processor has no queue
    ],
)
def test_short_products_fill_a_queue_only_where_there_are_many(params, is_reached):
    assert queued.short_products_fill_it(queue.modelled(params)) is is_reached


@in_one(("size", "is_reached"), [(832, True), (660, False), (1048, False), (2048, False)])
def test_a_wait_doubles_the_time_of_products_that_take_as_long_as_call_and_answer(size, is_reached):
    run = queue.modelled(queue.Params(device=GPU, size=size))

    assert queued.waiting_doubles(run) is is_reached


def test_a_queue_fills_and_drains_at_the_measured_times_and_stays_empty_beside_it():
    for name, waiting in (("usual", [0, *range(8, -1, -1)]), ("calls_set_the_pace", [0] * 10)):
        run = queue.RUNS[name]
        end, each = (scene.events for scene in queued.motion(run, None).scenes)
        works = [row for row in run.tables["lanes"] if row.lane == WORK]
        worked = lit_s(end, "gpu")
        starts_s = [event.start_s for event in each if isinstance(event, Travel)]

        assert [stop - start for start, stop in worked] == pytest.approx(
            [row.end_s - row.start_s for row in works]
        )
        assert waiting == [
            sum(start <= taken_s < stop for start, stop in lit_s(end, "place_"))
            for taken_s, _ in worked
        ], name
        assert all(start == stop for start, stop in lit_s(each, "place_"))
        assert starts_s[1] == pytest.approx(run.values["waited_s"] / run.params.most)
        assert worked[-1][1] < lit_s(each, "gpu")[-1][1]  # waiting is never quicker


def lit_s(events, shape):
    """Return when shapes are lit whose names begin so."""
    return [
        (event.start_s, event.end_s)
        for event in events
        if isinstance(event, Hold) and event.shape.startswith(shape)
    ]


def test_the_lines_part_where_one_sees_them_apart_and_nowhere_without_a_gain():
    spot = pinned.where_they_part(transfers.RUNS["usual"])
    rates = {(row.size_bytes, row.choice): row.bytes_per_s
             for row in transfers.RUNS["usual"].tables["written"]}  # fmt: skip
    apart = {size: rates[size, transfers.BEFORE] - rates[size, transfers.AS_IT_IS]
             for size, way in rates if way == transfers.BEFORE}  # fmt: skip
    highest = max(rates.values())

    assert apart[min(size for size in apart if size > spot.low * 2)] > highest / 20
    assert all(gap < highest / 20 for size, gap in apart.items() if size < spot.low * 2)
    for name in ("no_gain", "nothing_pinned"):
        assert pinned.where_they_part(transfers.RUNS[name]).low is None, name


@in_one(
    ("largest_bytes", "repays_late", "a_millisecond"),
    [
        (128 * KIB, True, False),
        (16 * KIB, False, False),  # the call takes most of it
        (16 * MIB, False, False),  # soon repaid
        (52 * MIB, False, True),
        (40 * MIB, False, False),
        (64 * MIB, False, False),
    ],
)
def test_the_goals_of_pinned_take_a_size_that_was_thought_of(
    largest_bytes, repays_late, a_millisecond
):
    run = transfers.modelled(replace(transfers.USUAL, largest_bytes=largest_bytes))

    assert pinned.repays_late(run) is repays_late
    assert pinned.a_millisecond(run) is a_millisecond


def test_all_pieces_arrive_at_the_measured_times_and_spend_as_long_on_the_link():
    run = transfers.RUNS["usual"]
    pageable, direct = (scene.events for scene in pinned.motion(run, None).scenes)
    ends_s = []
    for events in (pageable, direct):
        (there,) = (event for event in events if isinstance(event, Count))
        ends_s.append(there.times[-1])
    on_link = [[event.end_s - event.start_s for event in events
                if isinstance(event, Travel) and event.along[-1] == "gpu"]
               for events in (pageable, direct)]  # fmt: skip

    assert ends_s[0] / ends_s[1] == pytest.approx(run.values["large_speedup"])
    assert on_link[0] == pytest.approx(on_link[1])
    assert sum(on_link[1]) == pytest.approx(ends_s[1])
    assert pinned.motion(transfers.RUNS["no_gain"], None) is None
