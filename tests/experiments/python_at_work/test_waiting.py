from __future__ import annotations

import sys

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.teaching.motion import Count, Travel
from experiments.python_at_work.waiting import experiment as waiting
from experiments.python_at_work.waiting import jobs as waiting_jobs
from experiments.python_at_work.waiting.experiment import (
    EXPERIMENT,
    WAYS,
    Params,
    Wait,
    Weight,
    analyse,
    arms,
    numbers,
)
from experiments.python_at_work.waiting.lesson import motion
from experiments.tools import interpreters
from experiments.tools.interpreters import Interpreter
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.experiments.python_at_work.lessons_of_waiting import RUNS
from tests.experiments.stopping import stop_after_rows

AGREED = {
    "one_wait_s", "serial_s", "coroutines_s", "threads_s", "processes_s",
    "bytes_per_coroutine", "bytes_per_thread",
}  # fmt: skip

NOISE = (1.0, 1.05, 0.95)
AT_16 = {"serial": 1.6, "coroutines": 0.105, "threads": 0.11, "processes": 0.16}
TINY = Params(wait_s=0.02, most_waits=16, weighed=200, rounds=2)


def waits(way, number, all_s, noise=NOISE):
    return [Wait(way=way, waits=number, repeat=n, all_s=all_s * f) for n, f in enumerate(noise)]


def tables(at_16=AT_16):
    rows = [row for way in WAYS for row in waits(way, 1, 0.1)]
    rows += [row for way, all_s in at_16.items() for row in waits(way, 16, all_s)]
    rows += waits("coroutines", 1024, 0.2) + waits("threads", 256, 0.15)
    weights = [Weight(kind="coroutine", repeat=0, each_bytes=1000.0)]
    return {"waits": rows, "weights": [*weights, Weight(kind="thread", repeat=0, each_bytes=2e4)]}


def test_waits_overlap_where_coroutines_and_threads_part_from_one_after_another():
    found = analyse(Params(), tables(), machine())

    assert found.message == "waits_overlap"
    assert found.values["waits"] == 16
    assert found.values["serial_s"] == pytest.approx(1.6)
    assert found.values["one_wait_s"] == pytest.approx(0.1)
    assert found.values["most_coroutines"] == 1024
    assert found.values["most_threads_s"] == pytest.approx(0.15)
    assert found.values["bytes_per_thread"] == 2e4
    assert set(found.limits) == {
        "started_for_it", "many_coroutines_take_longer", "ways_end_early", "no_kernel_bytes"
    }  # fmt: skip


def test_coroutines_that_compute_are_the_control_and_need_not_be_there():
    assert "computing_s" not in analyse(Params(), tables(), machine()).values
    with_control = tables(AT_16 | {"computing": 1.59})
    assert analyse(Params(), with_control, machine()).values["computing_s"] == pytest.approx(1.59)


def test_a_question_moves_as_long_as_one_wait_and_all_that_were_over_are_counted():
    few = motion(RUNS["few"], None)
    serial, coroutines = few.scenes
    one_s = RUNS["few"].values["one_wait_s"]
    for event in (*serial.events, *coroutines.events):
        if isinstance(event, Travel):
            assert event.end_s - event.start_s == pytest.approx(one_s)
    counted = [event for scene in few.scenes for event in scene.events if isinstance(event, Count)]
    assert [count.at(few.duration_s) for count in counted] == [1, 16]
    assert counted[1].at(one_s) == 0


def test_few_waits_that_take_as_long_as_one_need_no_explanation():
    rows = [row for row in tables()["waits"] if row.waits <= 16]
    found = analyse(Params(most_waits=16), {**tables(), "waits": rows}, machine())

    assert not {"many_coroutines_take_longer", "ways_end_early"} & {*found.limits}


def test_thousands_of_threads_that_take_longer_are_explained():
    rows = [*tables()["waits"], *waits("threads", 1024, 0.4)]
    found = analyse(Params(), {**tables(), "waits": rows}, machine())

    assert "many_threads_take_longer" in found.limits


@in_one(
    ("at_16", "message"),
    [
        ({**AT_16, "coroutines": 1.6}, "some_waits_overlap"),
        ({**AT_16, "threads": 1.65}, "some_waits_overlap"),
        ({**AT_16, "threads": 1.62, "coroutines": 2.0}, "no_gain"),
        ({"serial": 1.6, "coroutines": 0.1}, "nothing_to_compare"),
    ],
    ids=["one blocks", "threads do not", "neither", "not all measured"],
)
def test_what_does_not_part_is_not_claimed(at_16, message):
    assert analyse(Params(), tables(at_16), machine()).message == message


def test_what_scatters_is_neither_called_faster_nor_the_same():
    rows = [row for row in tables()["waits"] if (row.way, row.waits) != ("threads", 16)]
    rows += waits("threads", 16, 1.4, noise=(0.8, 1.3, 1.0))

    assert analyse(Params(), {**tables(), "waits": rows}, machine()).message == "cannot_tell"


@pytest.mark.parametrize(("noise", "is_told"), [((1.0, 1.05, 0.95), True), ((0.4, 1, 6), False)])
def test_many_take_longer_only_where_the_rounds_show_it(noise, is_told):
    rows = [*tables()["waits"], *waits("coroutines", 2048, 0.2, noise)]
    found = analyse(Params(), {**tables(), "waits": rows}, machine())

    assert ("many_coroutines_take_longer" in found.limits) is is_told


@pytest.mark.parametrize("params", [Params(), waiting.EXPERIMENT.quick(Params())])
def test_a_run_takes_enough_rounds_to_compare_and_no_more_time_than_allowed(params):
    is_quick = params.wait_s < Params().wait_s

    assert params.rounds >= (5 if is_quick else 10)
    assert waiting.seconds(params) <= (5 if is_quick else 30)


def test_the_kernels_part_of_a_thread_is_told_where_the_system_tells_it():
    weights = [*tables()["weights"], Weight(kind="in_kernel", repeat=0, each_bytes=16384.0)]
    found = analyse(Params(), {**tables(), "weights": weights}, machine())

    assert found.values["kernel_bytes_per_thread"] == 16384
    assert "no_kernel_bytes" not in found.limits


def test_nothing_measured_names_the_memory_that_is_missing():
    found = analyse(Params(), {"waits": [], "weights": []}, machine())

    assert found.message == "nothing_to_compare"
    assert {"no_bytes_per_coroutine", "no_bytes_per_thread"} <= set(found.limits)


def test_numbers_are_powers_of_four_and_slow_ways_stop_early():
    assert numbers(Params(most_waits=100)) == [1, 4, 16, 64]
    assert max(number for way, number in arms(Params()) if way == "serial") == 16
    assert max(number for way, number in arms(Params()) if way == "processes") == 64
    assert max(number for way, number in arms(Params()) if way == "threads") == 1024


def measured(params):
    return list(EXPERIMENT.measure(params, Bench(inspect())))


def test_no_wait_is_shorter_than_the_server_takes_and_a_thread_is_heavier_than_a_coroutine():
    found = measured(TINY)
    rows = [row for row in found if isinstance(row, Wait)]
    weighed = [row for row in found if isinstance(row, Weight)]
    weights = {kind: min(r.each_bytes for r in weighed if r.kind == kind) for kind in waiting.KINDS}

    assert {(row.way, row.waits) for row in rows} == set(arms(TINY))
    assert all(row.all_s >= TINY.wait_s for row in rows)
    assert all(
        row.all_s >= 16 * TINY.wait_s for row in rows if (row.way, row.waits) == ("serial", 16)
    )
    assert 300 < weights["coroutine"] < 10_000
    assert weights["coroutine"] < weights["thread"] < 256 * 2**10


@pytest.mark.skipif(waiting_jobs.kernel_bytes() is None, reason="the system does not tell it")
def test_a_thread_weighs_its_kernel_stack_too():
    weighed = [
        waiting_jobs.weigh({"kind": "thread", "count": 400}) for _ in range(3)
    ]  # others start and end threads meanwhile
    in_kernel = sorted(each["kernel_bytes"] for each in weighed)[1] / 400

    assert 14 * 2**10 < in_kernel < 24 * 2**10  # a stack of 16 KiB on x86-64 and arm64
    assert all(each["growth_bytes"] >= each["kernel_bytes"] for each in weighed)


def test_kernel_memory_is_that_of_stacks_and_page_tables(tmp_path):
    meminfo = tmp_path / "meminfo"
    assert waiting_jobs.kernel_bytes(meminfo) is None
    meminfo.write_text("MemTotal: 9 kB\n")
    assert waiting_jobs.kernel_bytes(meminfo) is None
    meminfo.write_text("MemTotal:  9 kB\nKernelStack:  3 kB\nPageTables:   4 kB\nHugePages: 0\n")
    assert waiting_jobs.kernel_bytes(meminfo) == 7 * 2**10


def test_coroutines_that_compute_take_as_long_as_all_of_them():
    request = {"way": "computing", "count": 4, "wait_s": 0.02, "work_s": 0.0}

    assert waiting_jobs.wait(request)["taken_s"] >= 0.08


def test_a_coroutine_that_blocks_keeps_the_others_waiting():
    params = Params(wait_s=0.05, most_waits=4, weighed=100, rounds=1)
    free, blocked = (
        next(
            r.all_s
            for r in EXPERIMENT.measure(p, Bench(inspect()))
            if isinstance(r, Wait) and (r.way, r.waits) == ("coroutines", 4)
        )
        for p in (params, replace(params, one_blocks=True))
    )

    assert free >= 0.05
    assert blocked > 0.09


def test_a_system_that_allows_few_files_is_told(monkeypatch):
    class Scarce(Interpreter):
        def answer(self):
            answer = super().answer()
            return {**answer, "files": 68} if "files" in answer else answer

    monkeypatch.setattr(interpreters, "Interpreter", Scarce)
    found = measured(replace(TINY, rounds=1))

    assert [item.key for item in found if isinstance(item, Note)] == ["too_few_files"]
    assert max(row.waits for row in found if isinstance(row, Wait)) == 4


def test_a_system_without_limits_of_files_has_none(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")  # Windows

    assert waiting_jobs.allow_files() is None


def test_refused_threads_are_left_out(monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(waiting_jobs.threading.Thread, "start", refuse)

    assert waiting_jobs.weigh({"kind": "thread", "count": 10}) == {"refused": True}
    request = {"way": "threads", "count": 3, "port": 1, "work_s": 0.0}
    assert waiting_jobs.wait(request) == {"refused": True}


def test_a_server_that_is_gone_refuses():
    request = {"way": "serial", "count": 1, "port": 1, "work_s": 0.0}

    assert waiting_jobs.wait(request) == {"refused": True}


def test_nothing_is_left_of_a_run():
    stop_after_rows(EXPERIMENT, TINY, 3)
