from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.devices import timing
from experiments.devices.device import Device
from experiments.to_the_gpu.many_small import experiment as many_small
from experiments.to_the_gpu.many_small.experiment import (
    EMPTY,
    EXPERIMENT,
    MANY,
    ONE,
    SEPARATE,
    SHOWN,
    TOGETHER,
    Params,
    analyse,
    counts,
    measure,
)
from experiments.tools.lanes import CALLS, WORK
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments import fake_gpu as fake  # noqa: E402
from tests.experiments.fake_gpu import CALL_S, LAUNCH_S, NAME, fake_gpu  # noqa: E402

AGREED = {"launch_s", "one_op_s", "thousand_ops_s"}
# Beside a figure of CUDA in `make gpu-check`; torch's way to a kernel is longer: no budget.

SMALL = Params(device=NAME, numbers=100_000, calls=1000, rounds=3)
WORK_S = 50e-6  # for all the numbers at once


@pytest.fixture(scope="module", autouse=True)
def slow_memory():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fake, "MEMORY_BYTES_PER_S", SMALL.numbers * 4 / WORK_S)
        patch.setattr(timing, "SAMPLE_S", 1e-4)
        yield


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: its tables, and the GPU."""
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        return on_gpu(gpu), gpu


@pytest.fixture
def tables(run):
    return run[0]


def on_gpu(gpu, params=SMALL):
    return in_tables(EXPERIMENT, measure(params, Bench(machine(gpus=1), clock=gpu.clock)))


@pytest.mark.parametrize(("by", "message"), [(0, "no_difference"), (1, "cannot_tell")])
def test_that_calls_cost_nothing_is_told_from_that_nobody_can_tell(tables, by, message):
    rows = [
        replace(row, took_s=1e-3 * (1 + by * ((row.repeat + row.calls) % 2)))
        for row in tables["passes"]
    ]

    assert analyse(SMALL, {**tables, "passes": rows}, machine(gpus=1)).message == message


def test_a_thousand_calls_take_a_thousand_launches(tables):
    finding = analyse(SMALL, tables, machine(gpus=1))

    assert finding.message == "calls_cost_and_device_waits"
    assert finding.values["launch_s"] == pytest.approx(CALL_S, rel=0.05)
    assert finding.values["one_op_s"] == pytest.approx(WORK_S + LAUNCH_S, rel=0.2)
    assert finding.values["thousand_ops_s"] == pytest.approx(1000 * CALL_S, rel=0.05)
    assert finding.values["thousand_together_s"] < 2 * finding.values["one_op_s"]
    assert finding.values["busy_fraction"] == pytest.approx(LAUNCH_S / CALL_S, rel=0.1)
    assert finding.values["knee_calls"] == pytest.approx(WORK_S / CALL_S, rel=0.3)


def test_the_lanes_show_the_gaps_between_small_calls(tables):
    work = [row for row in tables["lanes"] if row.way == MANY and row.lane == WORK]
    calls = [row for row in tables["lanes"] if row.way == MANY and row.lane == CALLS]

    assert len(work) == len(calls) == SHOWN
    for call, done in zip(calls, work, strict=True):
        assert done.start_s >= call.start_s - 1e-9
    worked_s = sum(row.end_s - row.start_s for row in work)
    assert worked_s < 0.6 * (work[-1].end_s - work[0].start_s)
    assert len([row for row in tables["lanes"] if row.way == ONE]) == 2


def test_every_mark_is_read_once(run):
    assert {event.reads for event in run[1].events} <= {0, 1}


def test_warming_up_is_not_counted(run):
    tables, gpu = run
    arms = len(counts(SMALL)) * len(many_small.WAYS)
    called = sum(entry.startswith("add_") for entry in gpu.log)

    assert len(tables["passes"]) == SMALL.rounds * arms
    assert called > 2 * (SMALL.rounds + 2) * sum(counts(SMALL))  # two ways, and each was warm


def test_where_no_queue_can_be_held_the_own_time_is_left_out(monkeypatch):
    monkeypatch.setattr(Device, "hold", lambda self, seconds: False)
    with fake_gpu(monkeypatch) as gpu:
        tables = on_gpu(gpu, replace(SMALL, rounds=3))
    finding = analyse(SMALL, tables, machine(gpus=1))

    assert tables["pieces"] == []
    assert finding.message == "calls_cost"
    assert "own_time_not_told" in finding.limits
    assert "busy_fraction" not in finding.values


def test_no_more_numbers_than_there_is_room_for(monkeypatch):
    with fake_gpu(monkeypatch, free_bytes=100_000) as gpu:
        tables = on_gpu(gpu, replace(SMALL, calls=10))

    assert {row.numbers for row in tables["passes"]} == {15_000}  # 60 % of it


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(gpu):
    error = torch.OutOfMemoryError("CUDA out of memory")
    gpu.fails = lambda work: error if work == "_foreach_add_" else None

    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(gpu)


def test_one_call_faster_than_the_memory_is_suspect(tables):
    here = machine(gpus=1)
    known = {"vendor": "NVIDIA", "memory_bus_bits": 512, "l2_bytes": 1000}

    def limits(hertz):
        gpu = replace(here.gpus[0], memory_clock_hz=hertz, **known)
        return analyse(SMALL, tables, replace(here, gpus=(gpu,))).limits

    assert "above_the_limit" in limits(10_000_000)
    assert "above_the_limit" not in limits(1_000_000_000)
    assert "peak_unknown" in analyse(SMALL, tables, here).limits


def test_every_way_adds_one_to_every_number():
    device = Device("cpu", Bench(machine()))
    vector = torch.zeros(1000)
    works = many_small.works_of(device, vector, [1, 10, 500])
    for (_, way), work in works.items():
        if way == EMPTY:
            continue
        vector.zero_()
        work()
        assert torch.equal(vector, torch.ones(1000))
    assert {way for _, way in works} == {SEPARATE, TOGETHER, EMPTY}


def test_on_the_processor_calls_are_compared_and_gaps_left_to_a_gpu():
    params = Params(numbers=10_000, calls=20, rounds=3)
    finding = analyse(params, in_tables(EXPERIMENT, measure(params, Bench(machine()))), machine())

    assert finding.message == "in_part"  # no thousand calls
    assert {"gaps_need_gpu", "fewer_than_thousand", "fits_in_cache"} <= set(finding.limits)
    assert finding.values["launch_s"] > 0
    assert "busy_fraction" not in finding.values
