from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from experiments.core.teaching.lesson_run import Spot
from experiments.python_at_work.gil_threads import experiment as gil_threads
from experiments.python_at_work.gil_threads import lesson
from experiments.python_at_work.gil_threads.experiment import Params, Slice, Timing, Wake, analyse
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_gil_threads as lessons
from tests.experiments.python_at_work.recorded import all_recorded, lesson_of, recorded

AGREED = {
    "job_s", "serial_s", "threads_s", "processes_s", "released_threads_s", "released_serial_s",
    "subinterpreters_s", "threads_speedup", "processes_speedup", "released_speedup", "workers",
    "gil_enabled", "sleeper_late_idle_s", "sleeper_late_one_s", "sleeper_late_two_s",
}  # fmt: skip

NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
PARAMS = Params(workers=4, methods=("serial", "threads", "processes"), rounds=5)


def tables(*, gil=True, python="3.11", wakes=(), **medians):
    """Return five rounds of each way around its median."""
    timings = [
        Timing(method=method, python=python, repeat=repeat, wall_s=median * noise, gil=gil)
        for method, median in medians.items()
        for repeat, noise in enumerate(NOISE)
    ]
    return {"timings": timings, "slices": [], "wakes": list(wakes)}


@in_one(
    ("medians", "message"),
    [
        (
            {"serial": 0.4, "threads": 0.41, "processes": 0.11},
            "threads_take_turns_processes_do_not",
        ),
        ({"serial": 0.4, "threads": 0.41}, "threads_take_turns"),
        ({"serial": 0.4, "threads": 0.6}, "threads_take_turns"),
        ({"serial": 0.4, "threads": 0.4, "processes": 0.405}, "nothing_is_faster"),
        ({"serial": 0.4, "threads": 0.4, "processes": 0.8}, "nothing_is_faster"),
        ({"serial": 0.4}, "nothing_to_compare"),
        ({"threads": 0.4, "processes": 0.1}, "nothing_to_compare"),
        ({}, "nothing_to_compare"),
    ],
)
def test_what_is_said_follows_the_times(medians, message):
    assert analyse(PARAMS, tables(**medians), machine()).message == message


@pytest.mark.parametrize("others", [{}, {"processes": 0.11}])
def test_threads_run_side_by_side_where_no_lock_is_in_their_way(others):
    fast = {"serial": 0.4, "threads": 0.1, **others}

    assert analyse(PARAMS, tables(**fast, gil=False), machine()).message == "threads_side_by_side"
    # With the lock on they cannot: what looks like it is chance.
    assert analyse(PARAMS, tables(**fast), machine()).message != "threads_side_by_side"


@in_one(("job", "gil", "message"), [
    ("sort", True, "jobs_let_go"), ("sleep", True, "jobs_let_go"),
    ("sort", False, "threads_side_by_side"), ("loop", False, "threads_side_by_side"),
])  # fmt: skip
def test_a_job_that_lets_go_of_the_lock_is_not_a_python_without_it(job, gil, message):
    rows = tables(serial=0.4, threads=0.1, gil=gil)

    assert analyse(Params(workers=4, job=job), rows, machine()).message == message


@pytest.mark.parametrize(
    ("threads_s", "gil", "is_told"), [(0.6, True, True), (0.6, False, False), (0.41, True, False)]
)
def test_threads_that_are_slower_under_the_lock_have_a_reason(threads_s, gil, is_told):
    found = analyse(PARAMS, tables(serial=0.4, threads=threads_s, gil=gil), machine())

    assert ("threads_slower" in found.limits) is is_told


@pytest.mark.parametrize(
    ("job", "gil", "told"),
    [
        ("sort", True, {"sort_lets_go", "sorted_twice"}),
        ("sort", False, {"sorted_twice"}),
        ("loop", True, set()),
    ],
)
def test_what_is_peculiar_to_jobs_that_sort_is_told(job, gil, told):
    times = {"serial": 0.4, "threads": 0.2, "released_serial": 0.4}
    found = analyse(Params(workers=4, job=job), tables(**times, gil=gil), machine())

    assert {"sort_lets_go", "sorted_twice"} & {*found.limits} == told


def test_one_worker_alone_compares_nothing():
    found = analyse(Params(workers=1), tables(serial=0.1, threads=0.05), machine(cores=1))

    assert found.message == "nothing_to_compare"


@pytest.mark.parametrize(
    ("params", "gil"),
    [
        (PARAMS, False),
        (Params(workers=4, job="sort"), True),
        (Params(workers=4, job="sleep"), True),
    ],
    ids=["no lock in this Python", "a sort lets go of it", "a sleep does"],
)
def test_the_lock_is_not_blamed_where_it_is_not_in_the_way(params, gil):
    slow = tables(serial=0.4, threads=0.41, gil=gil)
    slow_but_processes = tables(serial=0.4, threads=0.41, processes=0.1, gil=gil)

    assert analyse(params, slow, machine()).message == "threads_gain_nothing"
    assert analyse(params, slow_but_processes, machine()).message == "threads_gain_nothing"


@pytest.mark.parametrize("scattered", ["threads", "processes"])
def test_where_the_rounds_scatter_a_gain_is_neither_claimed_nor_denied(scattered):
    rows = tables(serial=0.4, threads=0.4, processes=0.25)
    rows["timings"] = [
        replace(row, wall_s=0.3 + 0.2 * (row.repeat % 2)) if row.method == scattered else row
        for row in rows["timings"]
    ]

    assert analyse(PARAMS, rows, machine()).message == "cannot_tell"


@pytest.mark.parametrize(("job_s", "is_told"), [(0.15, False), (0.2, True), (0.1, True)])
def test_jobs_that_are_not_what_they_were_made_for_are_told_of(job_s, is_told):
    found = analyse(PARAMS, tables(serial=4 * job_s), machine())
    slept = analyse(Params(workers=4, job="sleep"), tables(serial=4 * job_s), machine())

    assert ("not_as_made_for" in found.limits) is is_told
    assert "not_as_made_for" not in slept.limits


def test_the_values_are_medians_and_their_ratios():
    found = analyse(
        PARAMS, tables(serial=0.4, threads=0.5, processes=0.1, released_serial=0.3,
                       released_threads=0.1, subinterpreters=0.2), machine(cores=2)
    )  # fmt: skip

    assert found.values == pytest.approx(
        {
            "workers": 4,
            "gil_enabled": 1,
            "job_s": 0.1,
            "made_for_s": PARAMS.job_s,
            "serial_s": 0.4,
            "threads_s": 0.5,
            "processes_s": 0.1,
            "released_serial_s": 0.3,
            "released_threads_s": 0.1,
            "subinterpreters_s": 0.2,
            "threads_speedup": 0.8,
            "processes_speedup": 4.0,
            "released_speedup": 3.0,
            "subinterpreters_speedup": 2.0,
            "perfect_s": 0.2,  # two cores
        }
    )


def test_jobs_that_sleep_need_no_core():
    found = analyse(Params(workers=8, job="sleep"), tables(serial=0.8), machine(cores=2))

    assert found.values["perfect_s"] == pytest.approx(0.1)


def test_perfect_is_no_more_workers_at_once_than_there_are():
    found = analyse(PARAMS, tables(serial=0.4, threads=0.1), machine(cores=64))

    assert found.values["perfect_s"] == pytest.approx(0.1)


def test_what_was_not_measured_has_no_value():
    found = analyse(PARAMS, tables(serial=0.4), machine())

    of_jobs = {"serial_s", "job_s", "made_for_s", "perfect_s"}
    assert set(found.values) == {"workers", "gil_enabled", *of_jobs}


def test_a_sleeper_is_told_by_how_many_compute_beside_it():
    wakes = [
        Wake(burners=burners, repeat=repeat, late_s=late_s * noise)
        for burners, late_s in ((0, 1e-4), (1, 5e-3), (2, 1e-2))
        for repeat, noise in enumerate(NOISE)
    ]
    found = analyse(PARAMS, tables(serial=0.4, wakes=wakes), machine())

    assert found.values["sleeper_late_idle_s"] == pytest.approx(1e-4)
    assert found.values["sleeper_late_one_s"] == pytest.approx(5e-3)
    assert found.values["sleeper_late_two_s"] == pytest.approx(1e-2)


@in_one("order", list(itertools.permutations(["3.11", "3.13", "3.14t"])))
def test_other_pythons_have_values_of_their_own_whichever_came_first(order):
    params = Params(workers=4, pythons=("3.13", "3.14t"))
    times = {"3.11": (0.4, 0.41), "3.13": (0.5, 0.52), "3.14t": (0.6, 0.15)}
    rows = tables()
    for python in order:
        serial, threads = times[python]
        each = tables(serial=serial, threads=threads, python=python, gil=python != "3.14t")
        rows["timings"] += each["timings"]

    found = analyse(params, rows, machine())

    assert found.message == "threads_take_turns"  # of ours
    assert found.values["serial_s"] == pytest.approx(0.4)
    assert found.values["serial_python_3_13_s"] == pytest.approx(0.5)
    assert found.values["threads_python_3_14t_s"] == pytest.approx(0.15)
    assert found.values["gil_enabled"] == 1


def test_a_second_build_of_a_version_has_a_name_that_is_a_name():
    params = Params(workers=4, pythons=("3.13.0 (2)",))

    found = analyse(params, tables(serial=0.4, python="3.13.0 (2)"), machine())

    assert "serial_python_3_13_0_2_s" in found.values


@in_one(
    ("params", "here", "limit"),
    [
        (Params(workers=4), machine(cores=2), "more_workers_than_cores"),
        (Params(workers=4), machine(virtualization="kvm"), "virtual_machine"),
        (Params(job="sleep"), machine(), "sleep_never_runs"),
        (Params(workers=2), Machine(), "more_workers_than_cores"),  # nobody knows the cores
    ],
)
def test_what_the_result_cannot_tell_is_said(params, here, limit):
    assert limit in analyse(params, tables(serial=0.4, threads=0.4), here).limits


def test_a_full_run_on_a_plain_machine_has_no_limits():
    full = tables(serial=0.6, threads=0.6, subinterpreters=0.2)

    assert analyse(Params(workers=4, job_s=0.15), full, machine()).limits == ()


@pytest.mark.parametrize("cores", [1, 4, 64])
@pytest.mark.parametrize("others", [0, 1, 3])
def test_more_pythons_make_shorter_jobs_not_a_longer_run(monkeypatch, cores, others):
    free_threaded = [SimpleNamespace(name=f"3.1{n}t", free_threaded=True) for n in range(others)]
    monkeypatch.setattr(gil_threads, "find", lambda **_: free_threaded)

    full = gil_threads.EXPERIMENT.suited(machine(cores=cores))
    quick = gil_threads.EXPERIMENT.reduced(full)

    assert len(full.pythons) == others
    assert gil_threads.seconds(full) <= 30
    assert gil_threads.seconds(quick) <= 5
    assert full.job_s > 2 * quick.job_s >= 0.01


def test_the_run_has_four_workers_on_every_machine_as_the_question_has(monkeypatch):
    monkeypatch.setattr(gil_threads, "find", lambda **_: ())
    machines = [machine(cores=cores) for cores in (1, 2, 3, 4, 64)]

    assert {gil_threads.EXPERIMENT.suited(here).workers for here in (*machines, Machine())} == {4}
    for here in machines:
        assert gil_threads.seconds(gil_threads.EXPERIMENT.suited(here)) <= 30


@pytest.mark.parametrize("virtualization", [None, "none"])
def test_a_machine_of_its_own_is_not_called_virtual(virtualization):
    here = machine(virtualization=virtualization)

    assert "virtual_machine" not in analyse(Params(), tables(), here).limits


def test_a_speedup_is_unclear_only_where_nobody_can_tell():
    found = analyse(PARAMS, tables(serial=0.4, threads=0.41, processes=0.11), machine())
    assert found.unclear == ()

    rows = tables(serial=0.4, threads=0.41, processes=0.11)
    rows["timings"] = [
        replace(row, wall_s=row.wall_s * (1 + row.repeat % 2)) if row.method == "threads" else row
        for row in rows["timings"]
    ]
    assert analyse(PARAMS, rows, machine()).unclear == ("threads_speedup",)


def test_threads_gain_nothing_clear_while_the_lock_is_on():
    rows = tables(serial=0.4, threads=0.2)

    assert "threads_speedup" in analyse(Params(workers=4), rows, machine()).unclear
    free = tables(serial=0.4, threads=0.2, gil=False)
    assert "threads_speedup" not in analyse(Params(workers=4), free, machine()).unclear


@pytest.mark.parametrize(
    ("processes_s", "rounds", "is_told"),
    [(0.11, 5, False), (0.16, 5, True), (0.16, 2, False)],
)
def test_cores_that_are_slower_at_once_than_alone_are_told_of(processes_s, rounds, is_told):
    rows = tables(serial=0.4, threads=0.4, processes=processes_s)
    rows["timings"] = [timing for timing in rows["timings"] if timing.repeat < rounds]

    found = analyse(PARAMS, rows, machine(cores=4))

    assert ("not_perfect" in found.limits) is is_told


@pytest.mark.parametrize(
    ("two_s", "gil", "is_told"), [(0.004, True, True), (0.006, True, False), (0.004, False, False)]
)
def test_a_sleeper_that_wakes_earlier_beside_two_is_explained(two_s, gil, is_told):
    wakes = [
        Wake(burners=burners, repeat=repeat, late_s=late_s)
        for burners, late_s in ((0, 0.0001), (1, 0.005), (2, two_s))
        for repeat in range(5)
    ]

    found = analyse(PARAMS, tables(serial=0.4, threads=0.4, wakes=wakes, gil=gil), machine())

    assert ("earlier_beside_two" in found.limits) is is_told


@pytest.mark.parametrize(("cores", "is_told"), [(4, True), (1, False)])
def test_gaps_of_processes_are_explained_where_each_has_a_core(cores, is_told):
    rows = tables(serial=0.4, threads=0.4)
    rows["slices"] = [
        Slice(method="processes", python="3.11", worker=0, start_s=start_s, end_s=start_s + 0.1)
        for start_s in (0.0, 0.2)
    ]
    found = analyse(PARAMS, rows, machine(cores=cores))

    assert ("gaps_in_processes" in found.limits) is is_told


@pytest.mark.parametrize(
    ("method", "is_told"), [("serial", True), ("released_serial", True), ("threads", False)]
)
def test_gaps_where_nobody_was_in_the_way_are_explained(method, is_told):
    rows = tables(serial=0.4, threads=0.4)
    whole = Slice(method="serial", python="3.11", worker=1, start_s=0.4, end_s=0.5)
    rows["slices"] = [
        Slice(method=method, python="3.11", worker=0, start_s=start_s, end_s=start_s + 0.1)
        for start_s in (0.0, 0.2)
    ]
    found = analyse(PARAMS, rows, machine())
    without = analyse(PARAMS, {**rows, "slices": [whole]}, machine())

    assert ("gaps_in_a_row" in found.limits) is is_told
    assert "gaps_in_processes" not in found.limits
    assert "gaps_in_a_row" not in without.limits


# --- the lesson ---------------------------------------------------------------------------------


def explained(run):
    return lesson_of("gil-threads").explain(run, None)


@pytest.mark.parametrize(("workers", "jobs"), [(4, "4 "), (8, "8 "), (2, "2 ")])
def test_as_many_jobs_are_said_as_there_were(workers, jobs):
    """ "Four jobs took as long as 1.7 jobs" stood there on fewer cores, whatever the workers."""
    run = lessons.modelled(Params(workers=workers), cores=2)

    assert f"{workers} jobs took as long as {jobs}jobs" in explained(run).headline


def test_a_sort_is_no_right_answer_to_which_way_took_as_long():
    usual = lessons.made(lessons.TURNS)
    rows = tables(serial=0.4, threads=0.41, released_serial=0.4, processes=0.11)
    run = replace(usual, tables=rows)

    assert lesson.bars_like_the_first(run) == Spot(names=("threads",))


def test_processes_that_must_start_are_no_nearest_bar_where_threads_are():
    """Both were right answers, though threads took 384 ms, the start 439, the jobs in a row 382."""
    shown = lesson.bars_like_the_first(recorded("gil-threads"))
    tie = tables(serial=0.4, threads=0.401, processes_started=0.404, processes=0.1)

    assert shown == Spot(names=("threads",))
    both = lesson.bars_like_the_first(replace(lessons.made("x"), tables=tie)).names
    assert set(both) == {"threads", "processes_started"}


def test_a_start_is_said_to_cost_more_than_it_gains_only_where_it_did():
    run = lessons.RUNS["starting_costs_the_gain"]

    assert lesson.starting_costs_the_gain(run)
    quick = replace(run, values={**run.values, "processes_started_s": 2.0})
    assert not lesson.starting_costs_the_gain(quick)
    assert not lesson.starting_costs_the_gain(lessons.made("nothing_is_faster"))


def test_where_no_way_took_as_long_the_nearest_is_right():
    rows = tables(serial=0.4, threads=0.2, processes=0.1)

    assert lesson.bars_like_the_first(replace(lessons.made("x"), tables=rows)).names == ("threads",)


@pytest.mark.parametrize("made", ["jobs_let_go", "no_lock_no_gain", "threads_ran_side_by_side"])
def test_the_lock_is_blamed_in_no_text_where_it_was_not_in_the_way(made):
    told = explained(lessons.RUNS[made])

    assert "take turns: at any moment" not in told.text
    assert not any("The GIL does not" in text for text in told.beside)
    assert "without the" not in told.text or made != "jobs_let_go"


def test_the_lanes_are_told_by_how_much_they_overlap():
    apart = lessons.ran("threads", (0, 0.0, 0.005), (1, 0.005, 0.01))
    side_by_side = lessons.ran("threads", (0, 0.0, 1.0), (1, 0.5, 1.5), (2, 0.5, 0.6))

    def overlap(slices):
        run = lessons.made(lessons.TURNS, slices=slices, threads_s=2.0)
        return lesson.numbers(run, None)["at_once_fraction"]

    assert overlap(apart) == 0
    assert overlap(side_by_side) == pytest.approx(0.25)
    assert lesson.numbers(recorded("gil-threads"), None)["at_once_fraction"] == 0


def test_the_lock_walks_in_the_time_that_was_measured():
    motion = lesson.motion(lessons.RUNS["turns"], None)
    (scene,) = motion.scenes
    lit = {each.shape: each for each in scene.events}
    lengths = {name: each.end_s - each.start_s for name, each in lit.items()}

    assert lengths["thread_1"] == pytest.approx(2 * lengths["thread_0"])
    assert lengths["process_1"] == pytest.approx(2 * lengths["process_0"])
    assert {each.label for name, each in lit.items() if name.startswith("thread")} == {"gil"}
    assert motion.duration_s == pytest.approx(0.0204)
    assert [say.text for say in motion.says][-1] == "processes_done"


@pytest.mark.parametrize("run", all_recorded("gil-threads"))
def test_one_thread_at_a_time_holds_the_lock_in_the_motion_of_a_recording(run):
    motion = lesson.motion(run, None)
    holds = [each for scene in motion.scenes for each in scene.events if each.label == "gil"]

    assert len(holds) > 40
    for one, other in itertools.pairwise(sorted(holds, key=lambda each: each.start_s)):
        assert one.end_s <= other.start_s
        assert one.shape != other.shape


def test_many_turns_are_cut_and_nothing_is_drawn_where_no_lock_was_held():
    turns = [(n % 4, n * 0.005, (n + 1) * 0.005) for n in range(900)]
    run = lessons.made(lessons.TURNS, slices=lessons.ran("threads", *turns))

    assert lesson.motion(run, None).duration_s == pytest.approx(lesson.MOST_HOLDS * 0.005)
    assert lesson.motion(replace(run, message="jobs_let_go"), None) is None
    assert lesson.motion(replace(run, params=Params(workers=8)), None) is None
    assert lesson.motion(lessons.made(lessons.TURNS), None) is None
