from __future__ import annotations

import psutil
import pytest

from experiments.core.bench import Bench
from experiments.inside_a_core.counters.experiment import (
    ATOMIC,
    MUTEX,
    SHARDED,
    WAYS,
    Params,
    Rate,
    Work,
    analyse,
)
from machine.inspect import inspect
from tests.experiments.machines import machine

AGREED = {f"{way}{which}_per_s" for way in WAYS for which in ("_one", "")}
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
USUAL = {
    (ATOMIC, 1): 2e8, (ATOMIC, 2): 6e7, (MUTEX, 1): 9e7, (MUTEX, 2): 3e7,
    (SHARDED, 1): 2e8, (SHARDED, 2): 4e8,
}  # fmt: skip


def found(more=None, here=None, noise=NOISE, lost=0, most=2):
    rows = [
        Rate(way=way, threads=threads, repeat=turn, increments_per_s=per_s * factor, lost=lost)
        for (way, threads), per_s in (USUAL | (more or {})).items()
        for turn, factor in enumerate(noise if (way, threads) == (ATOMIC, 2) else NOISE)
        if threads <= most
    ]
    return analyse(Params(), {"rates": rows}, here or machine())


def test_a_shared_counter_slows_down_and_one_for_each_does_not():
    finding = found()

    assert finding.message == "sharing_costs"
    assert finding.values["atomic_one_per_s"] == pytest.approx(2e8)
    assert finding.values["atomic_per_s"] == pytest.approx(6e7)
    assert finding.values["atomic_slowdown"] == pytest.approx(10 / 3)
    assert finding.values["sharded_speedup"] == pytest.approx(2)
    assert finding.values["threads"] == 2
    assert finding.limits == ("nothing_between",)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({(ATOMIC, 2): 2.5e8}, "sharing_gains_less"),
        ({(ATOMIC, 2): 4e8}, "sharing_is_free"),
    ],
)
def test_other_outcomes_are_said_as_they_are(more, message):
    assert found(more).message == message


def test_one_thread_alone_and_scatter_tell_nothing():
    assert found(most=1).message == "nothing_to_compare"
    assert found(noise=(0.1, 9, 0.2, 12, 0.05, 10)).message == "cannot_tell"


def test_what_must_not_happen_is_said():
    assert "lost" in found(lost=3).limits
    assert "virtual_machine" in found(here=machine(virtualization="kvm")).limits


CORES = psutil.Process().cpu_affinity()


@pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")
@pytest.mark.parametrize("way", WAYS)
def test_two_real_threads_lose_nothing(way):
    per_s, lost = Work(way, 2, Bench(inspect())).together(CORES[:2])

    assert lost == 0
    assert per_s > 1e4


@pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")
def test_an_increment_that_did_not_arrive_is_counted_as_lost(monkeypatch):
    work = Work(ATOMIC, 2, Bench(inspect()))
    job = work._job(0)  # noqa: SLF001  (what it does is the subject)
    monkeypatch.setattr(work, "_job", lambda _place: lambda count: job(count - 1))

    assert work.together(CORES[:2])[1] > 0
