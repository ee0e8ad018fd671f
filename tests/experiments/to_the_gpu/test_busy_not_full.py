from __future__ import annotations

import contextlib

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.devices.conditions import Conditions
from experiments.to_the_gpu.busy_not_full.experiment import (
    EXPERIMENT,
    LOADS,
    TINY,
    Params,
    analyse,
    measure,
)
from machine.devices import Gpu
from machine.live.gpu_samples import GpuSample
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import LAUNCH_S, NAME, fake_gpu  # noqa: E402

SMALL = Params(device=NAME, size=32, copy_bytes=2**16, load_s=0.002, rounds=3)
KNOWN = Gpu(
    index=0, torch_backend="cuda", vendor="NVIDIA", name="NVIDIA H100", compute_capability="9.0",
    sms=1, sm_clock_hz=1_000_000_000, memory_clock_hz=1_000_000_000, memory_bus_bits=4096,
)  # fmt: skip
HERE = machine(gpus=1)
WATTS = {"graph": 120.0, "copy": 300.0, "mm": 650.0}


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch, flop_per_s=5e9) as gpu:
        yield gpu


@contextlib.contextmanager
def told(gpu, patch):
    """Let the driver report: busy whatever runs, and the power of the work queued last."""
    asked: list[tuple[str | None, bool]] = []

    def look(_conditions):
        works = (entry.split(" ")[0] for entry in reversed(gpu.log))
        work = next((work for work in works if work in WATTS), None)
        asked.append((work, gpu.default.query()))
        return GpuSample(
            index=0, busy=1.0 if work else 0.0, power_watts=WATTS.get(work or "", 70.0),
            power_limit_watts=700.0,
        )  # fmt: skip

    patch.setattr(Conditions, "look", look)
    yield asked


@pytest.fixture(scope="module")
def played():
    """One run: the GPU, what the driver was asked for, and the tables."""
    with (
        pytest.MonkeyPatch.context() as patch,
        fake_gpu(patch, flop_per_s=5e9) as gpu,
        told(gpu, patch) as asked,
    ):
        yield gpu, asked, tables_of(gpu)


def tables_of(gpu, params=SMALL, here=HERE):
    return in_tables(EXPERIMENT, measure(params, Bench(here, clock=gpu.clock)))


def test_a_tiny_kernel_is_as_busy_as_a_large_product_and_takes_less_power(played):
    finding = analyse(SMALL, played[-1], HERE)
    values = finding.values

    assert finding.message == "busy_but_not_full"
    assert [values[f"{load}_busy_fraction"] for load in LOADS] == [1.0, 1.0, 1.0]
    assert values["tiny_power_watts"] == 120
    assert values["product_power_fraction"] == pytest.approx(650 / 700)
    assert values["idle_power_watts"] == 70
    assert values["tiny_work_fraction"] < 1e-3 < values["product_work_fraction"]


def test_the_driver_is_asked_while_the_load_is_under_way(played):
    (before, _), *others = played[1]

    assert before is None
    assert {work for work, _ in others} == set(WATTS)
    products = [is_done for work, is_done in others if work == "mm"]
    assert products == [False, True] * SMALL.rounds  # and once more for the conditions


def test_tiny_kernels_are_called_faster_than_they_run(played):
    """Python needs 5 µs to call what takes 2 µs: called one by one, the GPU would mostly wait."""
    gpu, _, tables = played

    assert "add_ in default" not in gpu.log[gpu.log.index("graph in default") :]
    values = analyse(SMALL, tables, HERE).values
    assert values["tiny_calls_per_s"] == pytest.approx(1 / LAUNCH_S, rel=0.05)


def test_the_queue_outlasts_a_slow_driver(gpu, monkeypatch):
    """To answer, the driver may take 40 ms; the load must still be under way then."""
    done = []

    def look(_conditions):
        gpu.now_s += 0.04
        done.append(gpu.default.query())

    monkeypatch.setattr(Conditions, "look", look)
    long = replace(SMALL, load_s=0.05, rounds=2)
    gpu.flop_per_s = 1e7  # of a product in 7 ms
    monkeypatch.setattr(Conditions, "rows", lambda *_: [])
    loads = [row.load for row in tables_of(gpu, long)["done"]]

    assert [load for load, is_done in zip(loads, done[1:], strict=True) if is_done] == ["copy"] * 2


def test_without_graphs_the_gaps_are_told(played):
    apple = replace(SMALL, device="mps")

    assert "tiny_called_one_by_one" in analyse(apple, played[-1], HERE).limits
    assert "tiny_called_one_by_one" not in analyse(SMALL, played[-1], HERE).limits


def test_every_mark_is_read_once(played):
    assert max(event.reads for event in played[0].events) == 1


def test_work_is_counted_by_the_device_s_own_time(played):
    values = analyse(SMALL, played[-1], HERE).values

    assert values["product_flop_per_s"] < played[0].flop_per_s
    assert values["copy_bytes_per_s"] < 3e12
    assert values["tiny_calls_per_s"] < 1e6


def test_where_a_limit_is_known_work_is_a_share_of_it(gpu, monkeypatch):
    here = replace(HERE, gpus=(KNOWN,))
    with told(gpu, monkeypatch):
        tables = tables_of(gpu, here=here)
    finding = analyse(SMALL, tables, here)

    assert "share_of_the_best_seen" not in finding.limits
    wanted = finding.values["product_flop_per_s"] / (4096 * 1e9)
    assert finding.values["product_work_fraction"] == pytest.approx(wanted, rel=0.1)
    assert "share_of_the_best_seen" in analyse(SMALL, tables, HERE).limits


def test_more_than_the_limit_is_suspect(played):
    slow = replace(HERE, gpus=(replace(KNOWN, memory_clock_hz=1000, sms=100_000),))

    assert "above_the_limit" in analyse(SMALL, played[-1], slow).limits


def test_where_nobody_tells_the_work_is_measured_all_the_same(gpu, monkeypatch):
    monkeypatch.setattr(Conditions, "look", lambda _: None)
    tables = tables_of(gpu)
    finding = analyse(SMALL, tables, HERE)

    assert finding.message == "nobody_tells"
    assert finding.values["product_flop_per_s"] > 0
    assert not tables["power"]


def test_loads_that_look_alike_by_power_are_said_to(played):
    even = {**played[-1], "power": [replace(row, power_watts=50.0) for row in played[-1]["power"]]}
    assert analyse(SMALL, even, HERE).message == "busy_alike"
    wild = [
        replace(row, power_watts=50.0 * (1 + (row.repeat + (row.load == TINY)) % 2))
        for row in even["power"]
    ]
    assert analyse(SMALL, {**even, "power": wild}, HERE).message == "cannot_tell"

    seldom = {**even, "seen": [replace(row, share_fraction=0.3) for row in even["seen"]]}
    assert analyse(SMALL, seldom, HERE).message == "not_always_busy"


def test_out_of_memory_ends_the_run_by_its_own_error(gpu):
    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory") if work == "mm" else None
    with pytest.raises(torch.OutOfMemoryError):
        tables_of(gpu)


def test_a_stop_is_obeyed_under_a_load(gpu):
    from experiments.core.bench import StopRequested

    bench = Bench(HERE, clock=gpu.clock, stop=lambda: len(gpu.log) > 3000)
    with pytest.raises(StopRequested):
        list(measure(replace(SMALL, load_s=50.0), bench))
