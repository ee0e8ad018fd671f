from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.devices import timing
from experiments.memory.roofline import gpu as gpu_roof
from experiments.memory.roofline.experiment import EXPERIMENT, Params, analyse, measure
from machine.devices import Gpu
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402


def multiplies_fp8() -> bool:
    """Ask this torch whether it has a product of fp8 for processors, on which the GPU is played."""
    device: Any = SimpleNamespace(torch=torch, name="cpu")
    ones = torch.ones(16, 16).to(torch.float8_e4m3fn)
    try:
        gpu_roof._product(device, "fp8", ones, ones)()  # noqa: SLF001  (as the experiment calls it)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return False
    return True


FP8 = multiplies_fp8()
needs_fp8 = pytest.mark.skipif(not FP8, reason="this torch multiplies no fp8 on processors")
PLAYED = [each for each in gpu_roof.GPU_PRECISIONS if FP8 or each != "fp8"]
SMALL = Params(device=NAME, array_bytes=2**13, few_degrees=True, rounds=3)
HERE = machine(gpus=1)


def items_of(gpu, params=SMALL, here=HERE):
    return list(measure(params, Bench(here, clock=gpu.clock)))


def tables_of(items):
    return in_tables(EXPERIMENT, items)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(gpu_roof, "LONG_S", 0.002)
    monkeypatch.setattr(timing, "MOST_QUEUED", 10)  # enough to tell, and soon over
    with fake_gpu(monkeypatch, flop_per_s=5e9) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def played():
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, flop_per_s=5e9) as gpu:
        patch.setattr(timing, "MOST_QUEUED", 10)
        patch.setattr(gpu_roof, "LONG_S", 0.002)
        return gpu, tables_of(items_of(gpu))


@pytest.fixture
def tables(played):
    return played[1]


def test_a_gpu_has_a_roof_of_its_own(tables):
    finding = analyse(SMALL, tables, HERE)
    values = finding.values

    assert finding.message == "gpu_both_sides"
    ridge = values["peak_gpu0_flop_per_s"] / values["peak_gpu0_bytes_per_s"]
    assert values["ridge_gpu0_flop_per_byte"] == pytest.approx(ridge)
    assert values["triad_flop_per_byte"] == pytest.approx(1 / 6)
    assert not any("_cpu_" in name for name in values)
    assert "no_gpu_roof" not in finding.limits


def test_each_precision_is_in_every_round(tables):
    found = {(peak.precision, peak.repeat) for peak in tables["peaks"]}

    assert found == {(name, turn) for name in PLAYED for turn in range(3)}
    assert {rate.kernel for rate in tables["rates"]} == {"copy", "triad", "read", "dot"}
    assert {peak.cores for peak in tables["peaks"]} == {100}


def test_thicker_matrices_stand_further_to_the_right(tables):
    thin = sorted({p.flop_per_byte for p in tables["points"] if p.kernel == "thin"})
    matmul = {p.flop_per_byte for p in tables["points"] if p.kernel == "matmul"}

    rows = 32
    wanted = [2 * rows**2 * k / (4 * rows * (2 * k + rows)) for k in (1, 16, 32)]
    assert thin == pytest.approx(wanted)
    assert list(matmul) == pytest.approx([rows / 6])


def test_the_roofs_follow_the_slope_up_to_their_own_ridge():
    peaks = {"fp32": 1e12, "fp16": 4e12, "fp64": 5e11}
    rows = [
        *(gpu_roof.Peak(precision=n, cores=1, repeat=0, flop_per_s=f) for n, f in peaks.items()),
        gpu_roof.Rate(kernel="read", repeat=0, bytes_per_s=1e11),
        gpu_roof.Point(kernel="triad", repeat=0, flop_per_byte=0.25, flop_per_s=1e10),
    ]
    corners = {}
    for point in gpu_roof.roofs(rows):
        corners.setdefault(point.kernel, []).append((point.flop_per_byte, point.flop_per_s))

    assert corners["roof"] == [(0.125, 1.25e10), (10.0, 1e12), (80.0, 1e12)]
    assert corners["roof_fp16"] == [(10.0, 1e12), (40.0, 4e12), (80.0, 4e12)]
    assert corners["roof_fp64"] == [(5.0, 5e11), (5.0, 5e11), (80.0, 5e11)]
    assert list(gpu_roof.roofs(rows[:3])) == []

    faster = gpu_roof.Rate(kernel="dot", repeat=0, bytes_per_s=2e11)
    roof = [point for point in gpu_roof.roofs([*rows, faster]) if point.kernel == "roof"]
    assert (roof[1].flop_per_byte, roof[1].flop_per_s) == (5.0, 1e12)  # nothing is above the slope


def test_tf32_is_on_for_its_products_alone(gpu, monkeypatch):
    chosen = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", chosen.append)
    tables = tables_of(items_of(gpu))

    assert chosen.count("high") == 1 + SMALL.rounds  # and none while one goes on for a second
    assert chosen.count("highest") == len(chosen) - chosen.count("high")
    assert len(tables["peaks"]) == len(PLAYED) * SMALL.rounds


def test_a_precision_that_the_device_lacks_is_named(gpu, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (7, 5))
    items = items_of(gpu)

    left_out = [item.values["precision"] for item in items if isinstance(item, Note)]
    assert left_out == ["tf32", "bf16", "fp8"]
    assert "precisions_left_out" in analyse(SMALL, tables_of(items), HERE).limits


@needs_fp8
def test_fp8_needs_units_and_a_torch_that_has_its_product(gpu, monkeypatch):
    device = gpu_roof.Device(NAME, Bench(HERE, clock=gpu.clock))
    arm = gpu_roof.large_product(device, "fp8", 2**13)
    assert arm is not None
    result = arm.call()
    assert (result.dtype, result.shape) == (torch.bfloat16, (32, 32))

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (8, 6))
    assert gpu_roof.large_product(device, "fp8", 2**13) is None
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (8, 9))
    assert gpu_roof.large_product(device, "fp8", 2**13) is not None
    monkeypatch.delattr(torch.nn.functional, "scaled_mm", raising=False)
    assert gpu_roof.large_product(device, "fp8", 2**13) is None


@pytest.mark.parametrize("precision", ["fp32", pytest.param("fp8", marks=needs_fp8)])
def test_a_product_has_two_factors_as_that_of_cuda_has(gpu, monkeypatch, precision):
    seen, product = [], gpu_roof._product  # noqa: SLF001  (its factors are hidden in a call)
    monkeypatch.setattr(
        gpu_roof, "_product", lambda *given: seen.append(given[2:]) or product(*given)
    )
    device = gpu_roof.Device(NAME, Bench(HERE, clock=gpu.clock))
    result = gpu_roof.large_product(device, precision, 2**13).call()

    [(left, right)] = seen
    assert not torch.equal(left, right)
    if precision == "fp32":
        assert torch.equal(result, left @ right)


def test_a_gpu_that_slows_down_within_a_second_is_seen_and_a_burst_is_not(gpu, monkeypatch):
    device = gpu_roof.Device(NAME, Bench(HERE, clock=gpu.clock))
    arm = gpu_roof.large_product(device, "bf16", 2**13)
    burst = arm.row(0, timing.taken(device, arm.call).device_s).flop_per_s
    monkeypatch.setattr(gpu_roof, "LONG_S", 0.02)
    monkeypatch.setattr(gpu_roof, "WINDOW_S", 0.001)
    begin_s, queue = gpu.now_s, gpu.queue

    def hot(work, seconds, engine="kernels"):
        queue(work, seconds * (2 if gpu.now_s - begin_s > 0.01 else 1), engine)

    monkeypatch.setattr(gpu, "queue", hot)
    rows = list(gpu_roof._sustained(device, "bf16", arm))  # noqa: SLF001  (the run hides the arm)
    found = gpu_roof.sustained_flop_per_s(rows)

    assert rows[0].flop_per_s == pytest.approx(burst, rel=0.1)
    assert rows[-1].flop_per_s == pytest.approx(burst / 2, rel=0.1)
    assert 0.5 * burst < found < 0.9 * burst
    assert gpu_roof.sustained_flop_per_s(rows[: len(rows) // 2]) is None


def test_the_rate_of_a_second_stands_beside_the_bursts(played, monkeypatch):
    monkeypatch.setattr(gpu_roof, "LONG_S", 0.002)
    finding = analyse(SMALL, played[1], HERE)

    assert "peaks_are_bursts" in finding.limits
    burst = finding.values["bf16_gpu0_flop_per_s"]
    assert finding.values["sustained_gpu0_flop_per_s"] == pytest.approx(burst, rel=0.3)
    assert "peaks_are_bursts" not in analyse(SMALL, {**played[1], "sustained": []}, HERE).limits


def test_an_operation_that_torch_refuses_is_left_out_and_a_broken_gpu_is_not(gpu, monkeypatch):
    device = gpu_roof.Device(NAME, Bench(HERE, clock=gpu.clock))
    gpu.fails = lambda work: RuntimeError("aspect fp64 is missing") if work == "mm" else None
    assert gpu_roof.large_product(device, "fp64", 2**13) is None

    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory") if work == "mm" else None
    with pytest.raises(torch.OutOfMemoryError):
        gpu_roof.large_product(device, "fp64", 2**13)


def test_products_that_take_too_long_get_smaller(gpu, monkeypatch):
    device = gpu_roof.Device(NAME, Bench(HERE, clock=gpu.clock))
    gpu.flop_per_s = 1e6

    arm = gpu_roof.large_product(device, "fp32", 2**13)
    assert arm.row(0, 1.0).flop_per_s <= gpu_roof.MOST_S * 1e6


def test_limits_are_told_and_more_than_them_is_suspect(tables):
    known = Gpu(
        index=0, torch_backend="cuda", vendor="NVIDIA", name="NVIDIA A100",
        compute_capability="8.0", sms=100, sm_clock_hz=1_000_000_000,
        memory_clock_hz=1_000_000_000, memory_bus_bits=40960, l2_bytes=2**10,
    )  # fmt: skip
    fine = analyse(SMALL, tables, replace(HERE, gpus=(known,)))
    slow = analyse(SMALL, tables, replace(HERE, gpus=(replace(known, memory_clock_hz=1000),)))

    assert fine.values["fp64_limit_flop_per_s"] == 100 * 128 * 1e9  # of the matrix units
    assert "above_the_limit" not in fine.limits
    assert "partly_in_gpu_cache" not in fine.limits
    assert "above_the_limit" in slow.limits
    assert "partly_in_gpu_cache" in analyse(SMALL, tables, HERE).limits


def test_arrays_shrink_to_a_share_of_what_is_free(gpu):
    gpu.free_bytes = 2**20
    large = replace(SMALL, array_bytes=2**30, rounds=1)
    tables = tables_of(items_of(gpu, large))

    assert tables["rates"]


@pytest.mark.parametrize("missing", ["points", "peaks", "rates"])
def test_a_roof_in_part_is_called_so(tables, missing):
    found = analyse(SMALL, {**tables, missing: []}, HERE)

    assert found.message in ("roof_in_part", "gpu_both_sides")
    assert found.message == "roof_in_part" or missing == "peaks"
