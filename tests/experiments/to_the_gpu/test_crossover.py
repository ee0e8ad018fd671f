from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.to_the_gpu.crossover.experiment import (
    EXPERIMENT,
    Params,
    Product,
    analyse,
    measure,
    seconds,
    sizes,
)
from machine.devices import Gpu
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    "crossover_size", "crossover_size_with_copies", "cpu_peak_flop_per_s",
    "gpu_peak_flop_per_s",
}  # fmt: skip

SMALL = Params(device=NAME, largest=128, rounds=3)
HERE = machine(gpus=1, cores=1)  # threads that are not there slow each other down


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch, cpu_flop_per_s=2e10) as gpu:
        yield gpu


def tables_of(params, bench):
    return in_tables(EXPERIMENT, measure(params, bench))


@pytest.fixture(scope="module")
def played():
    """Return a fake GPU after a run, and its tables."""
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, cpu_flop_per_s=2e10) as gpu:
        return gpu, tables_of(SMALL, Bench(HERE, clock=gpu.clock))


@pytest.fixture
def tables(played):
    return played[1]


def test_sizes_are_powers_of_two_and_half_way_between():
    assert sizes(replace(SMALL, largest=100)) == [16, 24, 32, 48, 64, 96]


def test_a_gpu_wins_later_with_copies_than_without(tables):
    finding = analyse(SMALL, tables, HERE)
    values = finding.values

    assert finding.message == "two_crossings"
    assert values["crossover_size_low"] < values["crossover_size"] < values["crossover_size_high"]
    assert values["crossover_size"] < values["crossover_size_with_copies"]
    assert values["gpu_floor_s"] < values["copies_floor_s"]
    assert values["gpu_speedup"] > 1


def test_the_device_alone_is_faster_than_its_caller_sees(tables):
    of = {(row.kind, row.size): row.product_s for row in tables["products"]}

    for size in sizes(SMALL):
        assert of["kernel", size] < of["called", size] < of["with_copies", size]


def test_a_slow_gpu_never_wins(gpu):
    gpu.flop_per_s = 1e9
    tables = tables_of(SMALL, Bench(HERE, clock=gpu.clock))

    assert analyse(SMALL, tables, HERE).message == "gpu_never_wins"


def test_a_gpu_beside_slow_cores_wins_from_the_smallest_size(gpu):
    gpu.cpu_flop_per_s = 1e7
    tables = tables_of(SMALL, Bench(HERE, clock=gpu.clock))

    assert analyse(SMALL, tables, HERE).message == "wins_from_the_smallest"


def test_a_line_ends_before_its_products_take_too_long(gpu):
    short = replace(SMALL, most_s=1e-4)
    tables = tables_of(short, Bench(HERE, clock=gpu.clock))

    assert max(r.size for r in tables["products"] if r.kind == "all_cores") < 128
    assert max(r.size for r in tables["products"] if r.kind == "called") == 128
    assert "cores_end_early" in analyse(short, tables, HERE).limits


def test_a_line_that_reaches_the_last_size_has_not_ended_early(gpu):
    uneven = replace(SMALL, largest=120)  # the last size is 96
    tables = tables_of(uneven, Bench(HERE, clock=gpu.clock))

    assert "cores_end_early" not in analyse(uneven, tables, HERE).limits


def test_without_a_hold_there_is_no_line_of_the_device_alone(gpu, monkeypatch):
    monkeypatch.setattr("experiments.devices.device.Device.hold", lambda *_: False)
    tables = tables_of(replace(SMALL, largest=32), Bench(HERE, clock=gpu.clock))

    small = {row.size for row in tables["products"] if row.kind == "kernel"}
    assert 16 not in small  # the device waited for its caller
    assert "no_kernel_line" in analyse(SMALL, tables, HERE).limits


def test_products_come_after_a_warm_up_and_every_kind_in_every_round(played):
    gpu, tables = played
    called = [row for row in tables["products"] if row.kind == "called"]

    assert {row.repeat for row in called} == {0, 1, 2}
    assert len(called) == 3 * len(sizes(SMALL))
    assert sum(entry.startswith("mm") for entry in gpu.log) > len(called)
    assert sum("copy pinned to_gpu" in entry for entry in gpu.log) >= 2 * len(called)
    assert max(event.reads for event in gpu.events) == 1


def test_a_rate_above_the_limit_is_suspect(tables):
    slow = Gpu(
        index=0, torch_backend="cuda", vendor="NVIDIA", name="NVIDIA A100",
        compute_capability="8.0", sms=1, sm_clock_hz=1e9,
    )  # fmt: skip

    assert "above_the_limit" in analyse(SMALL, tables, replace(HERE, gpus=(slow,))).limits
    assert "above_the_limit" not in analyse(SMALL, tables, HERE).limits


def test_out_of_memory_in_the_middle_ends_the_run_by_its_own_error(gpu):
    def fails(work):
        full = len(gpu.log) > 2000 and work == "mm"
        return torch.OutOfMemoryError("CUDA out of memory") if full else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        tables_of(SMALL, Bench(HERE, clock=gpu.clock))


def test_the_processor_has_its_line_and_says_what_a_gpu_would_add():
    params = Params(largest=32, rounds=3)
    tables = tables_of(params, Bench(machine(cores=2)))
    finding = analyse(params, tables, machine(cores=2))

    # Which of them is found depends on what else runs here.
    assert finding.message in ("cores_cross", "cores_ahead", "cores_alone")
    assert "needs_gpu" in finding.limits
    assert not any("gpu" in name for name in finding.values)
    assert {row.kind for row in tables["products"]} >= {"one_core", "all_cores", "cpu_slope"}


def cores(one, every):
    """Return what is found of one core and all, their times given by size, round for round."""
    rows = [
        Product(size=size, kind=kind, repeat=repeat, product_s=took_s, flop_per_s=1.0)
        for kind, line in (("one_core", one), ("all_cores", every))
        for size, times in line.items()
        for repeat, took_s in enumerate(times)
    ]
    return analyse(Params(), {"products": rows, "conditions": []}, machine(cores=2))


ONE = {
    64: [4.1, 4.5, 5.1, 4.3, 4.4, 4.6, 4.2, 4.5, 4.7, 4.4],
    128: [25.7, 25.8, 26.8, 25.9, 26.0, 25.8, 26.3, 25.7, 26.1, 25.9],
    256: [201.0, 208.0, 219.0, 203.0, 205.0, 202.0, 210.0, 204.0, 206.0, 203.0],
}
DISTURBED = {
    128: [17.3, 19.5, 22.6, 18.0, 18.3, 17.9, 19.0, 18.8, 17.6, 18.1],
    256: [105.0, 114.0, 230.0, 108.0, 110.0, 106.0, 109.0, 112.0, 107.0, 111.0],
}


def test_cores_that_win_clearly_are_told_from_where_though_no_crossing_was_seen():
    unsure = [5.0, 3.5, 9.9, 4.0, 7.5, 3.9, 5.5, 4.1, 8.0, 4.2]
    found = cores(ONE, {64: unsure, **DISTURBED})

    assert found.message == "cores_ahead"
    assert found.values["threads_crossover_size_high"] == 128
    assert "threads_crossover_size" not in found.values


def test_a_crossing_of_cores_lies_between_where_each_clearly_wins():
    slower = [7.0, 7.5, 9.9, 7.2, 7.1, 7.4, 7.3, 7.0, 8.0, 7.2]
    found = cores(ONE, {64: slower, **DISTURBED})

    assert found.message == "cores_cross"
    assert found.values["threads_crossover_size_low"] == 64
    assert 64 < found.values["threads_crossover_size"] < 128
    assert found.values["threads_crossover_size_high"] == 128


def test_cores_that_never_win_clearly_have_nothing_told_of_where():
    found = cores(ONE, ONE)

    assert found.message == "cores_alone"
    assert not any(name.startswith("threads") for name in found.values)


def test_a_run_is_expected_to_take_about_what_it_took_on_two_machines():
    assert 3.5 < seconds(Params()) < 6.0  # of two cores each, one nearly five times as fast


def test_with_one_core_there_is_one_line():
    params = Params(largest=32, rounds=2)
    tables = tables_of(params, Bench(machine(cores=1)))

    assert "one_core" not in {row.kind for row in tables["products"]}
