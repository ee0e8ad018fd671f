from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.needs import missing_need
from experiments.devices.device import Device
from experiments.to_the_gpu.logging.experiment import (
    EACH,
    EXPERIMENT,
    KEPT,
    LARGE,
    NEVER,
    SHOWN,
    SMALL,
    Model,
    Params,
    StepTime,
    analyse,
    distances,
    measure,
    steps_of,
)
from experiments.tools.lanes import READS, WORK
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import CALL_S, NAME, fake_gpu  # noqa: E402

AGREED = {"every_step_slowdown", "on_device_slowdown"}

FEW = Params(device=NAME, small=4, large=64, steps=20, rounds=3)
SLOW = (
    2 * 64**3 / 1e-3
)  # FLOP a second: a large step then takes a millisecond, a small one less than a call


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch, flop_per_s=SLOW) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: its tables, and the GPU."""
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, flop_per_s=SLOW) as gpu:
        return on_gpu(gpu), gpu


@pytest.fixture
def tables(run):
    return run[0]


def on_gpu(gpu, params=FEW):
    return in_tables(EXPERIMENT, measure(params, Bench(machine(gpus=1), clock=gpu.clock)))


def test_reading_every_step_slows_small_steps_and_hardly_large_ones(tables):
    finding = analyse(FEW, tables, machine(gpus=1))

    assert finding.message == "small_pays"  # a large step is slower by less than 5 %
    assert finding.values["every_step_slowdown"] > 1.4
    assert finding.values["large_every_step_slowdown"] < 1.1
    assert finding.values["small_never_step_s"] == pytest.approx(2 * CALL_S, rel=0.1)
    assert finding.values["small_kept_step_s"] == pytest.approx(3 * CALL_S, rel=0.1)
    assert finding.values["small_kept_step_s"] < finding.values["small_each_step_s"]


def test_the_less_often_it_is_read_the_faster_it_goes(tables):
    rates = {row.every: row.steps_per_s for row in tables["logs"] if row.matrices == SMALL}
    ordered = [rates[every] for every in sorted(rates)]

    assert sorted(rates) == distances(FEW.steps) == [1, 2, 5, 10, 20]
    assert ordered == sorted(ordered)
    assert ordered[-1] == pytest.approx(1 / (2 * CALL_S), rel=0.1)


def test_a_difference_within_the_spread_is_not_claimed(tables):
    def shaken(matrices):
        return [
            replace(row, step_s=row.step_s * (1 + (row.repeat + (row.way == EACH)) % 2))
            if row.matrices == matrices
            else row
            for row in tables["ways"]
        ]

    large = analyse(FEW, tables | {"ways": shaken(LARGE)}, machine(gpus=1))
    small = analyse(FEW, tables | {"ways": shaken(SMALL)}, machine(gpus=1))

    assert large.message == "small_pays_at_least"
    assert "large_every_step_slowdown" in large.unclear
    assert small.message == "cannot_tell"


def test_on_the_lanes_the_device_waits_for_a_caller_who_reads(tables):
    def idle_fraction(way):
        work = [row for row in tables["lanes"] if row.way == way and row.lane == WORK]
        assert len(work) == SHOWN
        worked_s = sum(row.end_s - row.start_s for row in work)
        return 1 - worked_s / (work[-1].end_s - work[0].start_s)

    assert idle_fraction(EACH) > idle_fraction(NEVER)
    assert len([row for row in tables["lanes"] if row.lane == READS]) == SHOWN


def test_every_step_is_made_and_every_reading_waits(gpu):
    model = Model(Device(NAME, Bench(machine(gpus=1), clock=gpu.clock)), 16, 10)

    def log_of(work):
        gpu.log.clear()
        work()
        return gpu.log

    assert sum("mm" in entry for entry in log_of(lambda: model.run(0))) == 10
    assert not any("read" in entry for entry in gpu.log)
    assert sum("read by item" in entry for entry in log_of(lambda: model.run(3))) == 3
    assert sum("read by item" in entry for entry in log_of(model.run_kept)) == 1


def test_warming_up_is_not_counted(run):
    tables, gpu = run
    made = sum(FEW.rounds * steps * (2 + len(distances(steps))) for steps in steps_of(FEW).values())
    called = sum(entry.startswith("mm") for entry in gpu.log)

    assert called > made + 3 * SHOWN
    assert len(tables["ways"]) == FEW.rounds * 6
    assert {event.reads for event in gpu.events} <= {0, 1}


def test_a_gpu_that_fails_in_the_middle_is_told_by_its_own_error(gpu):
    norms = []

    def fails(work):
        norms.append(work)
        return torch.OutOfMemoryError("CUDA out of memory") if len(norms) > 100 else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(gpu)


def test_what_is_kept_on_the_device_is_the_sum_of_what_would_have_been_read():
    model = Model(Device("cpu", Bench(machine())), 8, 5)
    model.step()

    assert model.run_kept() == pytest.approx(5 * model.read(), rel=1e-4)


ON_PROCESSOR = Params(small=8, large=16, steps=10, rounds=3)


def on_processor(small_s, scatter=0.01):
    """Return the finding of made-up steps on a processor; each way scatters by itself."""
    ways = {(SMALL, way): step_s for way, step_s in small_s.items()}
    ways |= dict.fromkeys([(LARGE, way) for way in small_s], 1e-3)
    rows = [
        StepTime(
            matrices=matrices,
            way=way,
            repeat=n,
            step_s=step_s * (1 + scatter * ((n + len(way)) % 3)),
        )
        for (matrices, way), step_s in ways.items()
        for n in range(9)
    ]
    tables = {name: [] for name in EXPERIMENT.tables} | {"ways": rows}
    return analyse(ON_PROCESSOR, tables, machine())


def test_it_runs_on_a_processor_and_says_what_only_a_gpu_shows():
    tables = in_tables(EXPERIMENT, measure(ON_PROCESSOR, Bench(machine())))
    finding = analyse(ON_PROCESSOR, tables, machine())

    assert missing_need(EXPERIMENT, machine()) is None
    assert all(tables[name] for name in ("ways", "logs", "lanes"))
    assert finding.limits == ("queue_needs_gpu",)
    assert {row for row in finding.values if KEPT in row} > {"small_kept_step_s"}
    suited = EXPERIMENT.params_for(machine(), quick=True)
    assert suited.device == "cpu"
    assert EXPERIMENT.seconds(suited) < 5


def test_on_a_processor_reading_is_a_call_or_costs_nothing_and_never_a_wait():
    dear = on_processor({NEVER: 1e-5, KEPT: 1.2e-5, EACH: 1.5e-5})
    cheap = on_processor({NEVER: 1e-5, KEPT: 1.2e-5, EACH: 1.005e-5})
    unclear = on_processor({NEVER: 1e-5, KEPT: 1.2e-5, EACH: 1.3e-5}, scatter=0.5)

    found = [each.message for each in (dear, cheap, unclear)]
    assert found == ["reading_is_a_call", "nothing_to_wait_for", "cannot_tell"]
    assert dear.values["every_step_slowdown"] == pytest.approx(1.5)
    assert {each.limits for each in (dear, cheap, unclear)} == {("queue_needs_gpu",)}
