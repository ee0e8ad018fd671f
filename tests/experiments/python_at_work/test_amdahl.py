from __future__ import annotations

import re
from statistics import median

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.judging.comparing import beside_load
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.teaching.playable import playable
from experiments.core.units import Rounded, show
from experiments.kernels.clock import COUNTS_CYCLES
from experiments.python_at_work.amdahl import busy_cores, lesson
from experiments.python_at_work.amdahl import experiment as amdahl
from experiments.python_at_work.amdahl.busy_cores import CoreSpeed, core_speeds
from experiments.python_at_work.amdahl.experiment import (
    EXPERIMENT,
    Loss,
    Params,
    Run,
    Speedup,
    analyse,
    parallel_fraction,
    speedups,
)
from experiments.python_at_work.amdahl.kernels import mix
from machine.inspect import inspect
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.doubling import takes_twice_as_long
from tests.experiments.machines import GIB, KIB, MIB, machine
from tests.experiments.python_at_work import lessons_of_amdahl as lessons
from tests.experiments.python_at_work.recorded import all_recorded, lesson_of
from tests.experiments.stopping import stop_after_rows

AGREED = {"parallel_fraction", "best_speedup", "best_workers"}

PARAMS = Params(most_workers=8)
TINY = Params(most_workers=2, sample_s=0.01, rounds=2)
NOISE = (1.0, 1.001, 0.999)


def runs(serial, steps=(1, 2, 4, 8), noise=NOISE):
    return [
        Run(workers=n, repeat=turn, wall_s=(serial + (1 - serial) / n) * factor, each_per_s=1.0)
        for turn, factor in enumerate(noise)
        for n in steps
    ]


def tables(rows, core_speeds=()):
    return {"runs": rows, "speedups": [], "losses": [], "core_speeds": core_speeds}


@in_one(
    ("kept", "limit"),
    [
        ((0.8, 0.81, 0.79, 0.8, 0.8), "clock_falls"),
        ((1.0, 1.001, 0.999, 1.0, 1.0), "clock_stays"),
        ((0.8, 1.3, 0.9, 1.1, 1.0), "one_core_may_be_faster"),
        ((), "one_core_may_be_faster"),
    ],
)
def test_what_busy_neighbours_do_to_a_core_is_told(kept, limit):
    speeds = [
        CoreSpeed(busy_cores=n, repeat=turn, core_hz=4e9 * share, taken_fraction=0.1 * (n > 1))
        for turn, factor in enumerate(kept)
        for n, share in ((1, 1.0), (4, 0.9), (8, factor))
    ]
    found = analyse(PARAMS, tables(runs(0.1), speeds), machine(cores=8))

    about = {"clock_falls", "clock_stays", "one_core_may_be_faster"}
    assert about & {*found.limits} == {limit}
    assert ("clock_beside_over_alone" in found.values) is bool(kept)
    if kept:
        assert found.values["clock_alone_hz"] == 4e9
        assert found.values["clock_beside_hz"] == pytest.approx(4e9 * sorted(kept)[2])
        assert found.values["taken_beside_fraction"] == pytest.approx(0.1)
        assert ("clock_beside_over_alone" in found.unclear) is (limit == "one_core_may_be_faster")


@pytest.mark.skipif(not COUNTS_CYCLES, reason="the cycles of this processor are not counted")
def test_a_core_is_timed_beside_every_number_of_busy_ones():
    found = list(core_speeds(Bench(inspect()), [None, None, None], 1))

    assert [speed.busy_cores for speed in found] == [3, 2, 1]  # backwards in every second round
    assert all(1e8 < speed.core_hz < 1e10 for speed in found)
    assert all(0 <= speed.taken_fraction < 1 for speed in found)
    assert list(core_speeds(Bench(inspect()), [None], 0)) == []


def test_the_fit_finds_the_share_that_made_the_times():
    walls_s = {n: 2.0 * (0.1 + 0.9 / n) for n in (1, 2, 3, 4, 8)}
    of = speedups(PARAMS, walls_s)

    assert parallel_fraction(PARAMS, of, 8) == pytest.approx(0.9)
    assert parallel_fraction(PARAMS, {**of, 16: 99.0}, 8) == pytest.approx(0.9)  # beyond the cores
    assert parallel_fraction(PARAMS, {1: 1.0}, 8) is None
    assert speedups(PARAMS, {2: 1.0, 4: 0.5}) == {}


def test_the_speedup_of_a_growing_problem_follows_gustafson():
    params = Params(problem="growing", serial_fraction=0.25)
    of = speedups(params, dict.fromkeys((1, 2, 4), 2.0))  # nobody hinders anybody

    assert of == {1: 1.0, 2: 1.75, 4: 3.25}
    assert parallel_fraction(params, of, 4) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("slower", "quiet", "beside"),
    [
        ((0.99, 1.04, 1.06, 1.0, 1.02, 1.03), "scales_unclear", "scales_as_chosen"),
        ((1.2, 1.21, 1.19, 1.2, 1.22, 1.2), "scales_less", "scales_unclear"),
    ],
)
def test_beside_load_the_law_holds_within_what_a_sample_may_have_lost(slower, quiet, beside):
    rows = [
        Run(workers=n, repeat=turn, wall_s=factor if n == 2 else 1.9, each_per_s=1.0)
        for turn, factor in enumerate(slower)
        for n in (1, 2)
    ]
    params = Params(most_workers=2, serial_fraction=0.05)

    def said():
        return analyse(params, tables(rows), machine(cores=2)).message

    assert said() == quiet
    with beside_load(1.3):
        assert said() == beside


@pytest.mark.parametrize(
    ("slower", "message"), [(1.0, "grows_as_chosen"), (1.3, "grows_less"), (0.9, "grows_more")]
)
def test_a_growing_problem_has_no_bound(slower, message):
    rows = [
        Run(workers=n, repeat=turn, wall_s=1.0 if n == 1 else slower * factor, each_per_s=1.0)
        for turn, factor in enumerate(NOISE)
        for n in (1, 2, 4, 8)
    ]
    found = analyse(replace(PARAMS, problem="growing"), tables(rows), machine(cores=8))

    assert found.message == message
    assert found.values["best_speedup"] == pytest.approx((0.05 + 0.95 * 8) / slower, rel=0.01)
    assert "bound_speedup" not in found.values


def test_a_growing_problem_is_that_much_work_and_its_law_is_drawn():
    done = []
    work = amdahl.DividedWork(100, lambda start, end: done.append((start, end)))
    params = Params(serial_fraction=0.25, problem="growing")
    run = amdahl.run_once(params, Bench(inspect()), work, [None] * 2, 0)
    walls = {1: replace(run, workers=1), 2: run}

    assert sorted(done) == [(0.0, 0.25), *[(0.25, 0.625)] * 2, *[(0.625, 1.0)] * 2]
    assert curves(params, walls | {4: replace(run, workers=4)}) == {
        *("measured", "ideal", "gustafson"),
    }
    assert curves(params, walls) == {"measured", "ideal"}  # any law goes through one speedup
    assert curves(params, {2: run}) == set()  # the sample of one worker was disturbed


def curves(params, walls):
    """Return the curves that are drawn of one round."""
    return {
        item.curve for item in amdahl.curves_of_round(params, walls, 4) if isinstance(item, Speedup)
    }


@pytest.mark.parametrize(
    ("serial", "message"), [(0.05, "scales_as_chosen"), (0.3, "scales_less"), (0.0, "scales_more")]
)
def test_the_fit_is_compared_with_the_share_that_was_chosen(serial, message):
    rows = runs(serial) + runs(serial + 0.004, noise=(1.0,))
    for turn, row in enumerate(rows[-4:]):
        rows[len(rows) - 4 + turn] = Run(
            workers=row.workers, repeat=3, wall_s=row.wall_s, each_per_s=1.0
        )
    rows += [
        Run(workers=n, repeat=4, wall_s=max(serial - 0.004, 0) + (1 - serial) / n, each_per_s=1.0)
        for n in (1, 2, 4, 8)
    ]
    found = analyse(PARAMS, tables(rows), machine(cores=8))

    assert found.message == message
    assert found.values["parallel_fraction"] == pytest.approx(1 - serial, abs=0.005)
    assert found.values["best_workers"] == 8
    assert found.values["cores"] == found.values["logical_cpus"] == 8


@pytest.mark.parametrize("problem", amdahl.PROBLEMS)
def test_what_memory_takes_is_not_said_of_arithmetic(problem):
    said = {}
    grown_s = {n: 1.0 if n == 1 else 1.3 for n in (1, 2, 4, 8)}
    grown = [replace(row, wall_s=grown_s[row.workers]) for row in runs(0.0)]
    for kernel in amdahl.KERNELS:
        params = replace(PARAMS, kernel=kernel, problem=problem)
        rows = grown if problem == amdahl.GROWING else runs(0.3)
        found = analyse(params, tables(rows), machine(cores=8))
        said[kernel] = found.message

    assert said["memory"] == f"{said['compute']}_memory"


@pytest.mark.parametrize(("steps", "is_told"), [((1, 2), True), ((1, 2, 4), False)])
def test_a_fit_to_one_point_is_told(steps, is_told):
    found = analyse(PARAMS, tables(runs(0.05, steps=steps)), machine(cores=8))

    assert ("fit_of_one" in found.limits) is is_told


@in_one("kernel", amdahl.KERNELS)
@in_one(("slower", "is_told"), [(1.3, True), (1.0, False)])
def test_a_round_above_the_ideal_is_explained(kernel, slower, is_told):
    rows = runs(0.1, steps=(1, 2), noise=(1.0, 1.001, 0.999, 1.0, 1.0))
    rows[0] = replace(rows[0], wall_s=slower)  # one worker alone, in one round
    found = analyse(replace(PARAMS, kernel=kernel), tables(rows), machine(cores=2))

    assert ("above_ideal" in found.limits) is is_told


@pytest.mark.parametrize(("problem", "speedup"), [("fixed", 1 / (0.1 + 0.9 / 8)), ("growing", 7.3)])
def test_what_the_law_gives_for_the_chosen_share_stands_beside_the_measured(problem, speedup):
    params = replace(PARAMS, problem=problem, serial_fraction=0.1)
    found = analyse(params, tables(runs(0.1)), machine(cores=8))

    assert found.values["best_workers"] == 8
    assert found.values["law_speedup"] == pytest.approx(speedup)


def test_the_bound_follows_from_the_fit():
    found = analyse(PARAMS, tables(runs(0.2)), machine(cores=8))

    assert found.values["bound_speedup"] == pytest.approx(5)
    assert found.unclear == ()
    assert "no_bound" not in found.limits


@pytest.mark.parametrize(("kernel", "is_told"), [("memory", True), ("compute", False)])
def test_that_memory_delivers_enough_is_told(kernel, is_told):
    params = replace(PARAMS, kernel=kernel)
    rows = runs(0.05) + [replace(row, repeat=9) for row in runs(0.052, noise=(1.0,))]
    rows += [replace(row, repeat=10) for row in runs(0.048, noise=(1.0,))]
    found = analyse(params, tables(rows), machine(cores=8))

    assert found.message == "scales_as_chosen"
    assert ("memory_suffices" in found.limits) is is_told


@pytest.mark.parametrize(("problem", "is_told"), [("fixed", True), ("growing", False)])
def test_why_there_is_no_bound_is_told(problem, is_told):
    params = replace(PARAMS, problem=problem)
    found = analyse(params, tables(runs(0.0)), machine(cores=8))

    assert "bound_speedup" not in found.values
    assert ("no_bound" in found.limits) is is_told


def test_of_two_rounds_no_speedup_is_claimed():
    found = analyse(PARAMS, tables(runs(0.1, noise=(1.0, 1.001))), machine(cores=8))

    assert found.message == "too_few_rounds"
    assert found.unclear == ("best_speedup",)
    assert found.values["parallel_fraction"] == pytest.approx(0.9, abs=0.01)
    assert "no_fit" not in found.limits


@pytest.mark.parametrize(
    ("problem", "law"), [("fixed", "amdahls_law"), ("growing", "gustafsons_law")]
)
def test_the_law_that_is_fitted_is_told(problem, law):
    params = replace(PARAMS, problem=problem)
    found = analyse(params, tables(runs(0.1)), machine(cores=8))

    assert [limit for limit in found.limits if limit.endswith("_law")] == [law]


def gains(factors):
    """Rows of one worker and of two that take `factors` times as long."""
    return [
        Run(workers=n, repeat=turn, wall_s=wall_s, each_per_s=1.0)
        for turn, factor in enumerate(factors)
        for n, wall_s in ((1, 1.0), (2, factor))
    ]


@pytest.mark.parametrize(
    "factors", [(0.99, 1.0, 1.01, 1.0, 1.0), (1.3, 1.31, 1.29)], ids=["the same", "slower"]
)
def test_work_that_clearly_gains_nothing_does_not_scale(factors):
    found = analyse(PARAMS, tables(gains(factors)), machine())

    assert found.message == "does_not_scale"
    assert found.unclear == ()
    assert "parallel_fraction" not in found.values
    assert "no_fit" in found.limits


@pytest.mark.parametrize("factors", [(0.9, 1.0, 1.1), (0.13, 0.2, 1.4, 0.9, 0.1)])
def test_a_gain_that_is_not_shown_is_not_called_none(factors):
    """methods.md: "no number of workers is faster" stood beside a plotted 7.67x."""
    found = analyse(PARAMS, tables(gains(factors)), machine())

    assert found.message == CANNOT_TELL
    assert found.unclear == ("best_speedup",)


def test_whether_the_law_holds_is_not_told_where_the_fits_scatter():
    rows = [
        replace(row, wall_s=row.wall_s * (1 if row.workers == 1 else factor), repeat=turn)
        for turn, factor in enumerate((0.8, 1.0, 1.3, 0.9, 1.2))
        for row in runs(0.05, noise=(1.0,))
    ]
    found = analyse(PARAMS, tables(rows), machine(cores=8))

    assert found.message == "scales_unclear"
    assert found.unclear == ()


@pytest.mark.parametrize(
    ("factors", "told"),
    [
        ((1.0, 1.01, 0.99, 1.0, 1.0), {"others_as_fast"}),
        ((0.8, 1.2, 1.1, 0.9, 1.0), {"best_by_chance"}),
        ((1.5, 1.51, 1.49, 1.5, 1.5), set()),
    ],
)
def test_how_other_numbers_of_workers_stand_to_the_best_is_told(factors, told):
    rows = [
        Run(workers=n, repeat=turn, wall_s=wall_s, each_per_s=1.0)
        for turn, factor in enumerate(factors)
        for n, wall_s in ((1, 1.0), (2, 0.5), (4, 0.5 * factor))
    ]
    found = analyse(PARAMS, tables(rows), machine(cores=8))

    assert {"others_as_fast", "best_by_chance"} & {*found.limits} == told


@pytest.mark.parametrize("here", [machine(cores=1), Machine()])
def test_one_core_has_no_speedup(here):
    found = analyse(PARAMS, tables(runs(0.1, steps=(1,))), here)

    assert found.message == "nothing_to_compare"
    assert "best_speedup" not in found.values


def test_a_round_without_one_worker_is_left_out():
    rows = [*runs(0.2), Run(workers=8, repeat=7, wall_s=1e-3, each_per_s=1.0)]

    assert analyse(PARAMS, tables(rows), machine(cores=8)).values["best_speedup"] == pytest.approx(
        1 / (0.2 + 0.8 / 8)
    )


def test_an_array_that_the_caches_hold_is_told():
    params = Params(kernel="memory", array_bytes=64 * MIB)
    large = Params(kernel="memory", array_bytes=128 * MIB)

    assert "partly_in_cache" in analyse(params, tables(runs(0.1)), machine()).limits
    assert "partly_in_cache" not in analyse(large, tables(runs(0.1)), machine()).limits
    assert "memory_on_one_node" in analyse(large, tables(runs(0.1)), machine(nodes=2)).limits


def test_defaults_take_a_quarter_of_the_free_memory_at_most(free_memory):
    free_memory(GIB)
    large = machine(caches=(32 * KIB, MIB, 384 * MIB))

    assert amdahl.EXPERIMENT.suited(large).array_bytes == 256 * MIB
    assert amdahl.EXPERIMENT.suited(machine()).array_bytes == 128 * MIB


@pytest.mark.parametrize("kernel", amdahl.KERNELS)
def test_a_round_comes_complete(kernel):
    params = Params(kernel=kernel, most_workers=2, sample_s=0.01, array_bytes=8 * MIB, rounds=2)
    items = list(EXPERIMENT.measure(params, Bench(inspect())))
    workers = {item.workers for item in items if isinstance(item, Run)}

    assert 1 in workers
    for item in items:
        if isinstance(item, Speedup) and item.curve == "ideal":
            assert item.speedup == item.workers
        if isinstance(item, Speedup) and item.workers == 1:
            assert item.speedup == 1
        if isinstance(item, Loss):
            assert item.workers > 1
    assert sum(isinstance(item, Run) for item in items) == 2 * len(workers)


def test_a_wholly_serial_job_gains_nothing():
    params = Params(serial_fraction=1.0, most_workers=2, sample_s=0.02, rounds=3)
    items = list(EXPERIMENT.measure(params, Bench(inspect())))
    runs = [item for item in items if isinstance(item, Run) and item.workers == 2]

    assert all(run.each_per_s == 0 for run in runs)


def test_all_of_the_work_is_done_whoever_does_it():
    done = []
    work = amdahl.DividedWork(100, lambda start, end: done.append((start, end)))
    amdahl.run_once(Params(serial_fraction=0.25), Bench(inspect()), work, [None] * 3, 0)

    assert sorted(done) == [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]


def test_a_system_that_cannot_pin_is_told(monkeypatch):
    monkeypatch.setattr(amdahl, "CAN_PIN", False)
    items = list(EXPERIMENT.measure(TINY, Bench(Machine())))

    assert [item.key for item in items if isinstance(item, Note)] == ["not_pinned"]
    assert {item.workers for item in items if isinstance(item, Run)} == {1}


def test_twice_as_many_turns_take_twice_as_long():
    bench = Bench(inspect())
    assert takes_twice_as_long(lambda turns: bench.time(lambda: mix(turns, 1)), 200_000)
    fastest_s = min(bench.time(lambda: mix(200_000, 1)) for _ in range(15)) / 200_000
    assert fastest_s > 0.5e-9  # three dependent steps: not folded away


def test_mixing_is_xorshift():
    def one(x):
        x ^= x << 13 & (2**64 - 1)
        x ^= x >> 7
        return x ^ x << 17 & (2**64 - 1)

    assert int(mix(3, 88172645463325252)) == one(one(one(88172645463325252)))


def test_nothing_is_left_of_a_run():
    stop_after_rows(EXPERIMENT, TINY, 1)


# --- the lesson ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cores", [2, 4, 64])
def test_counting_the_cores_of_this_machine_answers_nothing(cores):
    """It asked where one more worker stops helping: at the number of cores."""
    run = lessons.made("scales_as_chosen", cores=cores)

    assert "this machine" not in lesson_of("amdahl").words.predict.ask
    assert lesson.option_of_sixteen(run) == 1


def test_the_explanation_stands_or_falls_with_what_was_measured():
    run = lessons.made("scales_less", values=lessons.USUAL | {"best_speedup": 1.74})
    told = lesson_of("amdahl").explain(run, None)

    assert "50 % off" in told.text
    assert any("below the law" in text for text in told.beside)
    assert not any("below the law" in text for text in explained("scales_as_chosen").beside)


def explained(message):
    return lesson_of("amdahl").explain(lessons.made(message), None)


@pytest.mark.parametrize("serial", [0.05, 0.5])
def test_the_serial_part_takes_its_share_of_the_motion(serial):
    run = lessons.made("scales_as_chosen", params=replace(lessons.LAW, serial_fraction=serial))
    motion = lesson.motion(run, None)
    one, four = (scene.events for scene in motion.scenes)

    assert one[0].end_s == four[0].end_s == pytest.approx(serial * motion.duration_s)
    assert one[1].end_s - one[1].start_s == pytest.approx(4 * (four[1].end_s - four[1].start_s))
    assert [each.shape for each in four[1:]] == [f"worker_{n}" for n in range(4)]
    assert {each.start_s for each in four[1:]} == {four[0].end_s}


@pytest.mark.parametrize("run", all_recorded("amdahl"))
def test_a_recording_moves_in_the_times_that_were_measured(run):
    motion = lesson.motion(run, None)
    ends = [max(event.end_s for event in scene.events) for scene in motion.scenes]

    workers = lesson.numbers(run, None)["drawn_workers"]
    speedups = [
        row.speedup
        for row in run.tables["speedups"]
        if (row.curve, row.workers) == ("measured", workers)
    ]
    assert ends[0] / ends[1] == pytest.approx(median(speedups), rel=0.05)


@pytest.mark.parametrize("run", all_recorded("amdahl"))
def test_no_more_workers_are_drawn_than_moved(run):
    shown = playable(lesson_of("amdahl"), run)
    workers = {shape.name for shape in shown.diagram.shapes}

    assert workers == {event.shape for event in shown.motion.events()}


def test_nothing_moves_where_nothing_was_gained():
    run = lessons.made("does_not_scale")
    slow = [replace(row, wall_s=1.0) for row in run.tables["runs"]]

    assert lesson.motion(replace(run, tables={**run.tables, "runs": slow}), None) is None
    assert lesson.motion(replace(run, tables={**run.tables, "runs": []}), None) is None


@pytest.mark.parametrize("run", all_recorded("amdahl"))
def test_the_headline_gives_the_share_that_its_speedup_follows_from(run):
    """It said 5 % and 7.4 times; 5 % give 9.1 times, and 7.4 came from another share."""
    found = lesson.numbers(run, None)
    alone = found["alone_fraction"]

    assert found["sixteen_speedup"] == pytest.approx(1 / (alone + (1 - alone) / 16))
    (named,) = re.findall(r"\{(\w+_fraction)\}", lesson_of("amdahl").words.explain.headline)
    assert named == "alone_fraction"


@pytest.mark.parametrize("run", all_recorded("amdahl"))
def test_a_gap_to_the_law_shows_in_two_digits(run):
    """ "It gives 1.9 times, and 1.9 times was measured": 1.90 and 1.86."""
    values = run.values
    gap = abs(values["best_speedup"] / values["law_speedup"] - 1)

    assert lesson.numbers(run, None)["off_law_fraction"] == pytest.approx(gap)
    assert show(Rounded(gap), "fraction") in lesson_of("amdahl").explain(run, None).text


@in_one(
    ("serial", "most", "holds"),
    [(0.05, 2, True), (0.5, 2, False), (0.0, 2, False), (0.05, 4, False)],
)
def test_two_workers_separate_no_law_from_a_plain_loss(serial, most, holds):
    params = replace(lessons.LAW, serial_fraction=serial, most_workers=most)

    assert lesson.few_workers(lessons.made("scales_as_chosen", params=params)) == holds


@pytest.mark.parametrize(("rate", "clock", "said"), [(0.9, 0.99, (True, True)),
                                                     (0.9, 0.92, (True, False)),
                                                     (1.0, 0.99, (False, False))])  # fmt: skip
def test_a_slower_worker_is_named_and_the_clock_only_where_it_explains_little(rate, clock, said):
    run = lessons.slower(rate, clock)
    for message in ("scales_as_chosen", "scales_less"):
        below = replace(run, message=message)
        assert (lesson.slower_beside_others(below), lesson.clock_is_not_it(below)) == said
    unclear = replace(run, unclear=("clock_beside_over_alone",))
    assert not lesson.clock_is_not_it(unclear)


def test_a_clock_of_threads_that_ticks_seldom_tells_no_speed_of_a_core(monkeypatch):
    """Windows says that it ticks each 100 ns; within a sample it may not tick at all."""
    monkeypatch.setattr(busy_cores.time, "thread_time", lambda: 0.0)
    busy_cores.ticks_finely.cache_clear()
    assert list(busy_cores.core_speeds(Bench(inspect()), [None, None], 0)) == []

    monkeypatch.undo()
    busy_cores.ticks_finely.cache_clear()
    assert busy_cores.ticks_finely()
