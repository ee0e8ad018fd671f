from __future__ import annotations

import contextlib
import os
import sys
import time

import psutil
import pytest

from experiments.core.bench import Bench
from experiments.memory.latency_numbers import everyday
from experiments.memory.latency_numbers.experiment import (
    NAMES,
    Number,
    Params,
    Scaled,
    analyse,
    seconds,
)
from experiments.tools.core_clock import Clock
from machine.inspect import inspect
from machine.model import Machine, cache_sizes
from tests.cases import in_one
from tests.experiments.machines import MIB, machine

AGREED = {
    "l1_s", "l2_s", "l3_s", "memory_s", "mispredict_s", "call_s", "lock_s", "system_call_s",
    "page_fault_s", "switch_s", "handoff_s", "loopback_s", "thread_s", "disk_s", "process_s",
}  # fmt: skip

TYPICAL = {
    "l1": 1.1e-9, "l2": 4e-9, "l3": 15e-9, "memory": 90e-9, "mispredict": 5e-9, "call": 30e-9,
    "lock": 40e-9, "system_call": 100e-9, "page_fault": 0.5e-6, "switch": 1.5e-6, "handoff": 20e-6,
    "loopback": 15e-6, "thread": 40e-6, "disk": 80e-6, "process": 60e-3,
}  # fmt: skip


def tables(times, clock_hz=4e9):
    return {
        "numbers": [
            Number(what=name, repeat=turn, took_s=took_s * factor)
            for name, took_s in times.items()
            for turn, factor in enumerate((1.3, 1.0, 1.1))
        ],
        "scaled": [],
        "clocks": [] if clock_hz is None else [Clock(repeat=0, core_hz=clock_hz)],
    }


def test_every_number_is_the_best_and_told_in_seconds_of_a_person():
    found = analyse(Params(), tables(TYPICAL), machine())

    assert found.message == "felt_in_seconds"
    for name, took_s in TYPICAL.items():
        assert found.values[f"{name}_s"] == took_s
    assert found.values["memory_as_if_s"] == pytest.approx(90 / 1.1)
    assert found.values["process_as_if_s"] == pytest.approx(60e-3 / 1.1e-9)
    assert found.values["cycle_s"] == 0.25e-9
    assert "virtual_machine" not in found.limits


@in_one("name", NAMES)
def test_a_number_that_was_not_measured_is_left_out_and_named(name):
    found = analyse(Params(), tables({k: v for k, v in TYPICAL.items() if k != name}), machine())

    assert f"{name}_s" not in found.values
    assert f"no_{name}" in found.limits
    in_part = name in ("l1", "memory", "disk", "process")
    assert found.message == ("numbers_in_part" if in_part else "felt_in_seconds")


def test_without_a_clock_there_is_no_tick():
    assert "cycle_s" not in analyse(Params(), tables(TYPICAL, None), machine()).values


def test_levels_in_the_wrong_order_are_doubted():
    found = analyse(Params(), tables({**TYPICAL, "l2": 50e-9}), machine())

    assert "levels_out_of_order" in found.limits


@pytest.mark.parametrize("loopback_s", [15e-6, 25e-6])
def test_a_thread_that_answers_later_than_a_process_is_explained(loopback_s):
    found = analyse(Params(), tables({**TYPICAL, "loopback": loopback_s}), machine())

    assert ("thread_behind_loopback" in found.limits) is (loopback_s < TYPICAL["handoff"])


@pytest.mark.parametrize(("memory_bytes", "took_s"), [(128 * MIB, 3.9), (1920 * MIB, 17.6)])
def test_a_run_is_expected_to_take_about_what_it_took_on_two_machines(memory_bytes, took_s):
    expected_s = seconds(Params(memory_bytes=memory_bytes))

    assert took_s / 1.5 < expected_s < 1.5 * took_s


def test_a_small_run_scales_the_best_by_the_first_cache(small_run):
    run = small_run("latency-numbers").tables()
    best = {}
    for number in run["numbers"]:
        best[number.what] = min(number.took_s, best.get(number.what, 1e9))
    scaled = {row.what: row.as_if_s for row in run["scaled"]}

    assert scaled == {name: pytest.approx(best[name] / best["l1"]) for name in best}
    assert all(isinstance(row, Scaled) for row in run["scaled"])
    assert set(best) >= {"call", "lock", "thread", "process", "handoff", "loopback"}
    assert best["call"] < best["thread"] < best["process"]


def test_processes_and_connections_end_with_the_stack():
    before = psutil.Process().children(recursive=True)
    with contextlib.ExitStack() as stack:
        bench = Bench(inspect())
        numbers = everyday.started(bench, stack) | everyday.handed_over(bench, stack)
        assert set(numbers) == {"call", "thread", "process", "handoff", "loopback"}
    assert psutil.Process().children(recursive=True) == before


def test_a_disk_that_cannot_be_read_directly_is_left_out(monkeypatch):
    with contextlib.ExitStack() as stack:
        assert everyday.from_disk(Bench(inspect()), stack, "/proc", 8 * MIB) == {}


def test_a_system_that_cannot_read_past_its_memory_has_no_number_of_the_disk(monkeypatch):
    monkeypatch.setattr(sys, "platform", "freebsd")
    monkeypatch.delattr(os, "O_DIRECT", raising=False)
    with contextlib.ExitStack() as stack:
        assert everyday.from_disk(Bench(inspect()), stack, "", 8 * MIB) == {}


@pytest.mark.parametrize(("virtualization", "l3_in_l2s"), [("none", 16), ("kvm", 4)])
def test_a_guest_finds_its_l3_near_the_l2_and_is_told_so(monkeypatch, virtualization, l3_in_l2s):
    walked = []
    monkeypatch.setattr(everyday, "step_s", lambda _, size, *_args, **_kw: walked.append(size))
    here = machine(virtualization=virtualization)
    sizes = cache_sizes(here)
    everyday.distances(Bench(here), 0)["l3"](0)

    assert walked == [min(sizes["l3"] // 2, l3_in_l2s * sizes["l2"])]
    limits = analyse(Params(), tables(TYPICAL), here).limits
    assert ("l3_of_a_guest" in limits) is (virtualization == "kvm")


def test_without_known_caches_there_are_no_distances():
    assert everyday.distances(Bench(Machine()), 0) == {}


@pytest.mark.skipif(not hasattr(os, "getppid"), reason="no such call here")
def test_a_call_of_the_kernel_is_one_and_twice_as_many_take_twice_as_long():
    from experiments.kernels.system_calls import ask_kernel

    assert ask_kernel(3) == 3 * os.getppid()

    for _ in range(5):  # a neighbour that comes and goes may spoil a try
        ratio = least_s(ask_kernel, 80_000) / least_s(ask_kernel, 40_000)
        if 1.4 < ratio < 2.8:
            break
    assert 1.4 < ratio < 2.8
    assert least_s(ask_kernel, 40_000) / 40_000 > 10e-9


def least_s(work, count):
    taken = []
    for _ in range(7):
        start_s = time.thread_time()
        work(count)
        taken.append(time.thread_time() - start_s)
    return min(taken)


def test_where_the_kernel_has_no_such_call_it_is_left_out(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")

    assert set(everyday.asked(Bench(inspect()))) == {"lock"}
