from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.checkup.probes.core_sweep.experiment import (
    EXPERIMENT,
    CoreRate,
    Params,
    analyse,
    measure,
    seconds,
)
from experiments.core.bench import Bench
from experiments.core.declare import Note
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows

AGREED = {"slowest_over_usual", "fastest_over_usual", "slowest_core", "cores_measured"}
AGREED_COLUMNS = {"rates": {"thread", "core", "repeat", "flop_per_s"}}

NOISE = (1.0, 1.004, 0.997, 1.002, 0.999, 1.001, 0.998)
EIGHT = machine(cores=8, threads_per_core=2)


def rates(of=lambda core: 1.0, here=EIGHT, noise=NOISE):
    """Rows of every hardware thread; each has the noise of the rounds in an order of its own."""
    return [
        CoreRate(
            thread=thread.id,
            core=thread.core,
            repeat=turn,
            flop_per_s=4e10 * of(thread.core) * noise[(turn + thread.id) % len(noise)],
        )
        for thread in here.cpu.threads_list
        for turn in range(len(noise))
    ]


def found(rows, here=EIGHT):
    return analyse(Params(threads=16), {"rates": rows}, here)


def of_two_kinds():
    """Four fast cores and four that do a third of their work."""
    threads = tuple(
        replace(thread, kind="performance" if thread.core < 4 else "efficiency")
        for thread in EIGHT.cpu.threads_list
    )
    return replace(EIGHT, cpu=replace(EIGHT.cpu, threads_list=threads))


def test_cores_that_are_alike_are_said_to_be():
    finding = found(rates())

    assert finding.message == "cores_agree"
    assert finding.values["cores_measured"] == 8
    assert finding.values["slowest_over_usual"] == pytest.approx(1, abs=0.01)
    assert finding.values["usual_flop_per_s"] == pytest.approx(4e10, rel=0.01)


def test_a_core_that_is_slow_is_named():
    finding = found(rates(lambda core: 0.8 if core == 5 else 1.0))

    assert finding.message == "core_is_slow"
    assert finding.values["slowest_core"] == 5
    assert finding.values["slowest_over_usual"] == pytest.approx(0.8, rel=0.02)


def test_of_two_cores_the_slow_one_is_compared_with_the_other():
    two = machine(cores=2)
    finding = found(rates(lambda core: 0.8 if core == 0 else 1.0, two), two)

    assert finding.message == "core_is_slow"
    assert finding.values["slowest_over_usual"] == pytest.approx(0.8, rel=0.02)


def test_a_core_is_compared_with_those_of_its_kind_alone():
    here = of_two_kinds()
    assert found(rates(lambda core: 1.0 if core < 4 else 0.33, here), here).message == "cores_agree"

    slow = {6: 0.25}
    finding = found(rates(lambda core: slow.get(core, 1.0 if core < 4 else 0.33), here), here)
    assert finding.message == "core_is_slow"
    assert finding.values["slowest_core"] == 6


def test_rounds_that_scatter_tell_nothing():
    finding = found(rates(noise=(1.0, 0.5, 2.0, 0.7, 1.6, 0.4, 1.1)))

    assert finding.message == "cannot_tell"


def test_two_rounds_are_too_few_and_one_core_has_nothing_to_compare_with():
    assert found([row for row in rates() if row.repeat < 2]).message == "too_few_rounds"
    assert found([row for row in rates() if row.core == 1]).message == "nothing_to_compare"


def test_threads_that_were_left_out_are_told_of():
    assert "threads_left_out" not in found(rates()).limits
    assert "threads_left_out" in found([row for row in rates() if row.thread < 8]).limits


def test_a_large_machine_is_measured_on_one_thread_a_core_and_in_time():
    large = machine(cores=128, threads_per_core=2)

    assert EXPERIMENT.suited(EIGHT).threads == 16
    assert EXPERIMENT.suited(large).threads == 128
    assert EXPERIMENT.suited(large).rounds >= 5
    assert seconds(EXPERIMENT.suited(large)) <= 30
    assert seconds(EXPERIMENT.reduced(EXPERIMENT.suited(machine(cores=256)))) <= 5


def test_every_usable_thread_is_measured_in_every_round():
    here = inspect()
    params = Params(threads=2, sample_s=0.002, rounds=3)
    rows = [row for row in measure(params, Bench(here)) if isinstance(row, CoreRate)]

    wanted = {t.id: t.core for t in here.cpu.threads_list if t.usable}
    assert {row.thread: row.core for row in rows} == dict([*wanted.items()][:2])
    assert {(row.thread, row.repeat) for row in rows} == {
        (thread, turn) for thread in [*wanted][:2] for turn in range(3)
    }
    assert all(1e8 < row.flop_per_s < 1e12 for row in rows)


def test_a_thread_that_the_system_refuses_is_left_out_and_named_once(monkeypatch):
    import os

    here, set_affinity = inspect(), os.sched_setaffinity
    refused = next(t.id for t in here.cpu.threads_list if t.usable)

    def refusing(pid, threads):
        if set(threads) == {refused}:
            raise OSError
        set_affinity(pid, threads)

    monkeypatch.setattr(os, "sched_setaffinity", refusing)
    items = list(measure(Params(threads=2, sample_s=0.001, rounds=3), Bench(here)))

    assert [item for item in items if isinstance(item, Note)] == [
        Note("thread_refused", {"thread": refused})
    ]
    assert refused not in {row.thread for row in items if isinstance(row, CoreRate)}


def test_it_can_be_stopped_between_two_samples():
    stop_after_rows(EXPERIMENT, Params(threads=2, rounds=100), 3)
