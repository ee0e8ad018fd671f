from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.teaching.motion import Pointed, Travel
from experiments.core.words import load
from experiments.python_at_work.start_cost import experiment as start_cost
from experiments.python_at_work.start_cost import lesson
from experiments.python_at_work.start_cost.experiment import (
    EXPERIMENT,
    Params,
    Start,
    analyse,
)
from experiments.python_at_work.start_cost.lesson import motion
from experiments.tools import own_folder, start_jobs
from machine.inspect import inspect
from machine.model import OperatingSystem
from tests.cases import in_one
from tests.experiments.doubling import takes_twice_as_long
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_start_cost as lessons
from tests.experiments.python_at_work.lessons_of_start_cost import RUNS, USUAL_S
from tests.experiments.python_at_work.recorded import recorded
from tests.experiments.stopping import stop_after_rows

AGREED = {
    "call_s", "coroutine_s", "task_s", "thread_s", "fork_s", "forkserver_s", "spawn_s",
    "subinterpreter_s",
}  # fmt: skip

NOISE = (1.0, 1.1, 0.9, 1.02, 0.97)
USUAL = {
    "call": 40e-9, "coroutine": 100e-9, "task": 8e-6, "thread": 100e-6, "posix_spawn": 9e-4,
    "os_fork": 6e-4, "fork": 3e-3,
    "forkserver": 30e-3, "spawn": 80e-3,
}  # fmt: skip
SMALL = Params(
    methods=("call", "coroutine", "task", "thread", "posix_spawn", "os_fork", "fork"),
    sample_s=0.001,
    rounds=3,
)


def tables(times=USUAL, noise=NOISE):
    return {
        "starts": [
            Start(method=m, repeat=n, count=4, each_s=each_s * f, all_s=4 * each_s * f)
            for m, each_s in times.items()
            for n, f in enumerate(noise)
        ]
    }


def test_what_scatters_so_much_that_no_ratio_holds_is_named():
    assert "unsteady" in analyse(Params(), tables(noise=(0.5, 1.0, 1.2)), machine()).limits
    assert "unsteady" not in analyse(Params(), tables(noise=(0.8, 1.0, 1.2)), machine()).limits


@pytest.mark.parametrize(("pool_s", "is_told"), [(40e-6, False), (60e-6, True)])
def test_a_pool_that_saves_little_is_explained(pool_s, is_told):
    found = analyse(Params(), tables({**USUAL, "thread_pool_warm": pool_s}), machine())

    assert ("pool_saves_little" in found.limits) is is_told


@pytest.mark.parametrize(("noise", "is_told"), [((0.8, 1.0, 1.2), False), ((0.4, 1.0, 1.2), True)])
def test_a_pool_whose_jobs_differ_much_is_explained(noise, is_told):
    found = analyse(Params(), tables({**USUAL, "thread_pool_warm": 20e-6}, noise), machine())

    assert ("pool_uneven" in found.limits) is is_told


def test_all_move_at_the_measured_times_and_as_many_are_done_as_fit():
    whole = motion(RUNS["usual"], None)
    by_title = {scene.title: scene.events for scene in whole.scenes}
    forks = [event for event in by_title["os_fork"] if isinstance(event, Travel)]
    python = [event for event in by_title["spawn"] if isinstance(event, Travel)]
    done = {name: events[-1].at(whole.duration_s) for name, events in by_title.items()}

    assert whole.duration_s == pytest.approx(USUAL_S["spawn"])
    assert [each.end_s - each.start_s for each in python] == pytest.approx([USUAL_S["spawn"]])
    assert {round(each.end_s - each.start_s, 9) for each in forks} == {USUAL_S["os_fork"]}
    assert done == {"call": 1_600_000, "thread": 800, "os_fork": 40, "spawn": 1}


def test_a_thread_that_is_pointed_at_moves_alone_with_the_calls_of_its_time():
    thread = motion(RUNS["usual"], Pointed(view="each", name="thread"))
    assert [scene.title for scene in thread.scenes] == ["call", "thread"]
    assert thread.duration_s == pytest.approx(USUAL_S["thread"])
    assert motion(RUNS["four_steps"], None) is None


def test_each_step_costs_more_where_all_of_them_part():
    found = analyse(Params(), tables(), machine())

    assert found.message == "each_step_costs_more"
    assert found.values["thread_s"] == pytest.approx(100e-6)
    assert found.values["thread_over_call"] == pytest.approx(2500)
    assert found.values["spawn_over_thread"] == pytest.approx(800)
    assert found.limits == ("loop_included",)


@pytest.mark.parametrize(
    "times",
    [{**USUAL, "coroutine": 40e-9}, {**USUAL, "thread": 1e-6}, {**USUAL, "spawn": 100e-6}],
    ids=["the same", "the other way round", "spawn as a thread"],
)
def test_a_step_that_costs_no_more_is_told(times):
    assert analyse(Params(), tables(times), machine()).message == "some_cost_no_more"


def test_where_a_step_scatters_nobody_can_tell():
    wild = [
        replace(row, each_s=row.each_s * (1 + row.repeat % 2)) if row.method == "task" else row
        for row in tables({**USUAL, "thread": 12e-6})["starts"]
    ]
    assert analyse(Params(), {"starts": wild}, machine()).message == "cannot_tell"


def test_a_system_without_fork_is_no_reason_to_compare_nothing():
    unix = start_cost.PROCESSES[:-1]
    times = {m: each_s for m, each_s in USUAL.items() if m not in unix}
    found = analyse(Params(), tables(times), machine())

    assert found.message == "each_step_costs_more"
    assert {f"no_{method}" for method in unix} <= set(found.limits)
    assert not {f"{method}_s" for method in unix} & found.values.keys()

    windows = replace(machine(), os=OperatingSystem(kind="windows"))
    told = set(analyse(Params(), tables(times), windows).limits)
    assert told == {each for each in found.limits if each.removeprefix("no_") not in unix}


def test_a_ladder_in_part_is_not_compared():
    times = {m: each_s for m, each_s in USUAL.items() if m != "spawn"}

    assert analyse(Params(), tables(times), machine()).message == "ladder_in_part"
    assert analyse(Params(), {"starts": []}, machine()).values == {}


def test_batches_double_and_cost_each_the_same():
    rows = [r for r in EXPERIMENT.measure(SMALL, Bench(inspect())) if isinstance(r, Start)]

    for method in SMALL.methods:
        counts = {row.repeat: row.count for row in rows if row.method == method}
        assert counts[1] == 2 * counts[0]
        assert counts[2] == 4 * counts[0]
    assert all(row.each_s == row.all_s / row.count for row in rows)


@in_one(
    ("method", "count"), [("call", 20_000), ("coroutine", 10_000), ("task", 100), ("thread", 20)]
)
def test_twice_as_many_take_twice_as_long(method, count):
    assert takes_twice_as_long(start_jobs.STARTS[method], count)


def test_a_call_costs_more_than_the_loop_around_it():
    assert min(start_jobs.calls(100_000) for _ in range(5)) / 100_000 > 5e-9


def test_a_warm_pool_is_cheaper_than_a_cold_one():
    for kind in ("thread", "process"):
        cold_s = min(start_jobs.STARTS[f"{kind}_pool_cold"](5) for _ in range(3)) / 5
        warm_s = min(start_jobs.STARTS[f"{kind}_pool_warm"](50) for _ in range(3)) / 50
        assert warm_s < cold_s


def test_what_this_system_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(start_cost, "HAS_SUBINTERPRETERS", False)
    assert start_cost.possible_methods(Params().methods, ["spawn"]) == [
        m for m in Params().methods if m not in (*start_cost.PROCESSES[:-1], "subinterpreter")
    ]
    monkeypatch.setattr(start_cost, "HAS_SUBINTERPRETERS", True)
    assert "subinterpreter" in start_cost.possible_methods(Params().methods, ["fork"])


def test_a_python_without_subinterpreters_is_told():
    params = Params(methods=("subinterpreter", "call"), sample_s=0.001, rounds=1)
    notes = [item for item in EXPERIMENT.measure(params, Bench(inspect())) if type(item) is Note]

    assert len(notes) == (sys.version_info < (3, 12))


@pytest.fixture
def folder(monkeypatch):
    """A folder for the folders of runs; that of pytest is too long for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(own_folder, "SHORT_PATH", folder)
        yield Path(folder)


def test_nothing_is_left_of_a_run(folder):
    params = Params(methods=("forkserver", "spawn", "process_pool_cold"), rounds=2)

    stop_after_rows(EXPERIMENT, params, 2)

    assert list(folder.iterdir()) == []


def test_a_process_is_held_against_a_thread_in_every_way_that_there_is():
    found = analyse(Params(), tables(), machine())

    assert found.values["os_fork_over_thread"] == pytest.approx(6)
    assert found.values["fork_over_thread"] == pytest.approx(30)
    assert found.values["posix_spawn_over_thread"] == pytest.approx(9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("start", [start_jobs.forks, start_jobs.programs])
def test_no_process_is_left_of_what_was_started(start):
    before = psutil.Process().children()

    assert start(3) > 0
    assert psutil.Process().children() == before


def test_only_a_new_python_is_said_to_load_itself():
    """ "A process must also load Python" stood there; a bare fork and a tiny program load none."""
    cause = load().say("start-cost.because.each_step_costs_more", RUNS["usual"].values)

    assert "a process must" not in cause


def test_the_largest_jump_is_explained_where_it_leads_to_the_event_loop():
    assert lesson.jump_to_the_event_loop(recorded("start-cost"))
    values = lesson.numbers(recorded("start-cost"), None)
    spot = lesson.largest_jump(recorded("start-cost"))
    assert values["task_over_coroutine"] == pytest.approx(spot.high / spot.low)
    quick = lessons.made(USUAL_S | {"coroutine": 5e-6})
    assert not lesson.jump_to_the_event_loop(quick)


@pytest.mark.parametrize(("server_s", "holds"), [(2e-2, True), (3e-3, False), (9e-2, False)])
def test_a_fork_server_costs_too_where_it_takes_far_longer_than_a_bare_fork(server_s, holds):
    assert lesson.server_costs_too(lessons.made(USUAL_S | {"forkserver": server_s})) == holds
