from __future__ import annotations

import os
import subprocess
import sys
import time

import msgspec
import pytest

from experiments.core import declare
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import (
    DISTURBED_FRACTION,
    WATCH,
    Loss,
    Spent,
    counting,
    loss_of,
    mark,
)
from experiments.core.judging.disturbed import watch as begin
from experiments.core.needs import missing_need
from machine.inspect import inspect

LOSS = Loss(0.25, 7)


class Row(declare.Row):
    value: float
    repeat: int


def spin(seconds):
    end_s = time.thread_time() + seconds
    while time.thread_time() < end_s:
        pass


@pytest.mark.skipif(WATCH is None, reason="this system tells no thread what it lost")
def test_a_thread_that_shares_its_core_loses_half_of_it():
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    other = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()  # it runs, on the same core: an affinity is inherited
        loss = begin()
        spin(0.1)
        found = loss()
    finally:
        other.kill()
        other.communicate()
        os.sched_setaffinity(0, before)

    assert found.lost_fraction > 0.2
    assert found.switches > 0


@pytest.mark.skipif(WATCH is None, reason="this system tells no thread what it lost")
def test_a_thread_that_waits_loses_nothing_by_that():
    loss = begin()
    time.sleep(0.5)

    assert loss().lost_fraction < DISTURBED_FRACTION


def test_the_time_in_the_queue_is_the_second_number_and_0_where_none_is_counted(
    tmp_path, monkeypatch
):
    file = tmp_path / "schedstat"
    monkeypatch.setattr("experiments.core.judging.disturbed.SCHEDULER", str(file))
    assert Spent.now().queued_s == 0
    file.write_text("5 2500000000 3\n")
    assert Spent.now().queued_s == 2.5


def test_a_marked_row_says_the_same_and_does_not_count():
    row = Row(value=1.5, repeat=3)
    marked = mark(row, LOSS)

    assert (marked.value, marked.repeat) == (1.5, 3)
    assert msgspec.structs.asdict(marked) == msgspec.structs.asdict(row)
    assert isinstance(marked, Row)
    assert loss_of(marked) == LOSS
    assert loss_of(row) is None
    assert counting([row, marked]) == [row]


@pytest.mark.parametrize("name", ["amdahl", "latency-numbers", "roofline"])  # these keep rows
def test_a_run_ends_though_every_sample_was_disturbed(name):
    here, experiment = inspect(), Catalogue().load(name)
    if missing_need(experiment, here) is not None:
        pytest.skip("it cannot run here")
    params = experiment.smallest(experiment.params_for(here, quick=True))
    hasty = lambda: 5 * time.perf_counter()  # noqa: E731 (samples are long enough sooner)
    bench = Bench(here, quick=True, clock=hasty, watch=lambda: lambda: Loss(1.0, 1))

    assert [item for item in experiment.measure(params, bench) if hasattr(item, "repeat")]
