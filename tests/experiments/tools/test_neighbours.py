from __future__ import annotations

import os
import threading
import time

import msgspec
import pytest

from experiments.core.bench import Bench, StopRequested
from experiments.tools import neighbours, side_by_side
from experiments.tools.neighbours import (
    FAR,
    SAME_CACHE,
    SAME_CORE,
    SAME_PACKAGE,
    UNKNOWN,
    by_topology,
    pairs,
    relation,
)
from experiments.tools.side_by_side import pin, seconds_together, turn_seconds_together
from machine.inspect import inspect
from machine.model import Cache, Cpu, Machine, Thread
from tests.cases import in_one
from tests.experiments.machines import MIB, machine


def server() -> Machine:
    """Two packages of four cores, two cores to a last cache, two threads to a core."""
    threads = tuple(
        Thread(id=core + 8 * turn, core=core, package=core % 2, online=True, usable=True)
        for turn in range(2)
        for core in range(8)
    )
    caches = tuple(
        Cache(level=3, kind="unified", size_bytes=MIB, threads=(a, a + 2, a + 8, a + 10))
        for a in (0, 1, 4, 5)
    )
    return Machine(cpu=Cpu(threads_list=threads, caches=caches))


def test_neighbours_stand_side_by_side():
    assert [t.id for t in by_topology(server())] == [0, 2, 4, 6, 1, 3, 5, 7]
    everyone = [t.id for t in by_topology(server(), one_per_core=False)]
    assert everyone == [0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15]


def test_threads_that_may_not_be_used_are_left_out():
    here = machine(cores=3)
    threads = list(here.cpu.threads_list)
    threads[1] = msgspec.structs.replace(threads[1], usable=False)
    here = msgspec.structs.replace(
        here, cpu=msgspec.structs.replace(here.cpu, threads_list=tuple(threads))
    )

    assert [t.id for t in by_topology(here)] == [0, 2]


@in_one(
    ("one", "other", "shared"),
    [(0, 8, SAME_CORE), (0, 2, SAME_CACHE), (0, 4, SAME_PACKAGE), (0, 1, FAR), (8, 9, FAR)],
)
def test_what_two_threads_share_is_read_off_the_topology(one, other, shared):
    of = {thread.id: thread for thread in server().cpu.threads_list}

    assert relation(server(), of[one], of[other]) == shared
    assert relation(server(), of[other], of[one]) == shared


def test_a_topology_that_nobody_tells_is_unknown():
    here = Machine(cpu=Cpu(threads_list=(Thread(id=0, usable=True), Thread(id=1, usable=True))))

    assert relation(here, *here.cpu.threads_list) == UNKNOWN
    assert [t.id for t in by_topology(here)] == [0, 1]
    assert list(pairs(here)) == [UNKNOWN]


def test_there_is_a_pair_for_each_relation_the_nearest_first():
    found = pairs(server())

    assert tuple(found) == (SAME_CORE, SAME_CACHE, SAME_PACKAGE, FAR)
    for name, (one, other) in found.items():
        assert relation(server(), one, other) == name
    assert pairs(machine(cores=1)) == {}
    assert pairs(Machine()) == {}


def test_pairs_of_a_large_machine_are_found_fast(monkeypatch):
    asked = []
    monkeypatch.setattr(neighbours, "relation", lambda *a: asked.append(a) or SAME_CACHE)
    pairs(machine(cores=16))

    assert len(asked) == 16 * 15  # once each, at the very most


# --- side by side -------------------------------------------------------------------------------


def test_jobs_run_at_once_and_the_longest_counts():
    meeting = threading.Barrier(2, timeout=10)  # one after another would never meet

    def late() -> None:
        meeting.wait()
        time.sleep(0.05)

    assert seconds_together(Bench(inspect()), [(None, meeting.wait), (None, late)]) >= 0.05


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system pins no threads")
def test_each_job_stays_on_its_thread_and_the_caller_where_it_was():
    before = os.sched_getaffinity(0)
    threads = sorted(before)[:2]
    seen = []
    seconds_together(
        Bench(inspect()), [(n, lambda: seen.append(os.sched_getaffinity(0))) for n in threads]
    )

    assert sorted(map(min, seen)) == threads
    assert all(len(one) == 1 for one in seen)
    assert os.sched_getaffinity(0) == before


def test_a_thread_that_is_not_there_stops_nobody():
    pin(None)
    assert seconds_together(Bench(inspect()), [(100_000, lambda: None), (None, lambda: None)]) < 5


def test_no_job_begins_after_a_stop():
    began = []
    with pytest.raises(StopRequested):
        seconds_together(Bench(inspect(), stop=lambda: True), [(None, lambda: began.append(1))])

    assert began == []


def test_turns_that_one_job_did_before_the_other_began_do_not_count(monkeypatch):
    own, both_run = threading.local(), threading.Event()
    monkeypatch.setattr(side_by_side, "pin", lambda thread: setattr(own, "is_late", thread == 1))

    def clock() -> float:
        if getattr(own, "is_late", False):
            own.is_late = False
            time.sleep(0.03)
        return time.perf_counter()

    def second() -> None:
        both_run.set()
        time.sleep(0.004)

    jobs = [(0, lambda: time.sleep(0.004 if both_run.is_set() else 0.0005)), (1, second)]
    first_s, second_s = turn_seconds_together(Bench(inspect(), clock=clock), jobs, at_least_s=0.01)

    assert first_s >= 0.004
    assert second_s >= 0.004


def test_all_run_until_the_slowest_has_done_some_turns():
    turns = [0, 0]

    def job(place: int, turn_s: float) -> None:
        turns[place] += 1
        time.sleep(turn_s)

    jobs = [(None, lambda: job(0, 0.001)), (None, lambda: job(1, 0.02))]
    fast_s, slow_s = turn_seconds_together(Bench(inspect()), jobs, at_least_s=0.001)

    assert turns[1] > side_by_side.LEAST_TURNS
    assert turns[0] > turns[1]
    assert 0.001 <= fast_s < slow_s


def test_a_job_that_fails_ends_the_others_too():
    def fail() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        turn_seconds_together(Bench(inspect()), [(None, lambda: None), (None, fail)], at_least_s=60)
