from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.devices.device import Device
from experiments.numbers.channels_last import experiment as channels_last
from experiments.numbers.channels_last.experiment import (
    CHANNELS_LAST,
    CONTIGUOUS,
    EXPERIMENT,
    LAYOUTS,
    NETWORK,
    WORKS,
    Gain,
    Params,
    Pass,
    Result,
    analyse,
    measure,
)
from experiments.tools.precisions import BF16, FP16, FP32, PRECISIONS, TF32, is_emulated
from machine.devices import Gpu
from machine.model import Cpu
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables
from tests.experiments.turns import Turns

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    f"{layout}_{precision}_images_per_s"
    for layout in ("contiguous", "channels_last")
    for precision in ("fp32", "tf32", "fp16", "bf16")
}

SMALL = Params(device=NAME, images=2, channels=8, side=8, rounds=3)
HERE = machine(gpus=1)


@pytest.fixture(scope="module", autouse=True)
def short_samples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels_last, "SAMPLE_S", 1e-5)
        yield


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def items_on(gpu, params=SMALL):
    return list(measure(params, Bench(HERE, clock=gpu.clock)))


@pytest.fixture(scope="module")
def played(short_samples):
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        return gpu, in_tables(EXPERIMENT, items_on(gpu))


def rates(of, noise=0.01):
    """Return tables as if each precision and layout had made this many pictures a second."""
    rows = [
        Pass(
            precision=precision,
            layout=layout,
            repeat=n,
            images=2,
            images_per_s=rate * (1 + noise * math.sin(9 * n + len(layout))),
        )
        for (precision, layout), rate in of.items()
        for n in range(8)
    ]
    results = [
        Result(precision=precision, difference_fraction=1e-8)
        for precision, layout in of
        if layout == CONTIGUOUS
    ]
    return {"passes": rows, "results": results, "gains": [], "places": [], "conditions": []}


def gains(*found):
    return [Gain(precision=FP32, work=NETWORK, repeat=n, gain=gain) for n, gain in enumerate(found)]


def pair(precision, contiguous, last):
    return {(precision, CONTIGUOUS): contiguous, (precision, CHANNELS_LAST): last}


def test_every_precision_and_layout_is_timed_in_every_round(played):
    _, tables = played

    assert {(row.precision, row.layout, row.repeat) for row in tables["passes"]} == {
        (precision, layout, n) for precision in PRECISIONS for layout in LAYOUTS for n in range(3)
    }
    assert {(row.precision, row.work, row.repeat) for row in tables["gains"]} == {
        (precision, work, n) for precision in PRECISIONS for work in WORKS for n in range(3)
    }


def test_a_row_is_yielded_in_the_turn_that_measured_it(gpu):
    """Else another turn's disturbance would be laid to it, and its own not."""
    bench = Turns(HERE, clock=gpu.clock)
    rows = 0
    for item in measure(SMALL, bench):
        if isinstance(item, (Pass, Gain)):
            work = item.work if isinstance(item, Gain) else NETWORK
            assert bench.now == (item.repeat, (item.precision, work))
            rows += 1

    assert rows == SMALL.rounds * len(PRECISIONS) * (len(LAYOUTS) + len(WORKS))


def test_every_mark_is_read_once_and_kernels_run_before_they_are_timed(played):
    gpu, _ = played
    first = next(n for n, entry in enumerate(gpu.log) if entry.startswith("mark"))

    assert {event.reads for event in gpu.events} <= {0, 1}
    assert sum(entry.startswith("conv2d") for entry in gpu.log[:first]) > len(PRECISIONS)


def test_tf32_is_switched_for_products_and_convolutions_alike(gpu, monkeypatch):
    seen = set()

    def looked(torch, net, pictures):
        products = torch.get_float32_matmul_precision() == "high"
        seen.add((pictures.dtype, products, torch.backends.cudnn.allow_tf32))
        return pictures + 0

    monkeypatch.setattr(channels_last, "run_forward", looked)
    items_on(gpu)

    assert seen == {
        (torch.float32, False, False),
        (torch.float32, True, True),
        (torch.float16, False, False),
        (torch.bfloat16, False, False),
    }


def test_the_order_is_that_of_the_strides(played):
    _, tables = played
    places = {(row.line, row.pixel): row.place for row in tables["places"]}

    assert [places["contiguous_green", pixel] for pixel in range(4)] == [16, 17, 18, 19]
    assert [places["channels_last_green", pixel] for pixel in range(4)] == [1, 4, 7, 10]


def test_both_layouts_come_to_the_same_result(played):
    _, tables = played

    for row in tables["results"]:
        assert row.difference_fraction <= channels_last.allowed_fraction(row.precision)


def test_a_precision_that_torch_refuses_is_left_out(gpu, monkeypatch):
    calls = channels_last.layout_calls

    def refused(params, device, precision, images):
        if precision == BF16:
            raise RuntimeError('"slow_conv2d" not implemented for BFloat16')
        return calls(params, device, precision, images)

    monkeypatch.setattr(channels_last, "layout_calls", refused)
    items = items_on(gpu)

    assert Note("precision_left_out", {"precision": BF16}) in items
    assert {row.precision for row in in_tables(EXPERIMENT, items)["passes"]} == {FP32, TF32, FP16}


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(gpu):
    error = torch.OutOfMemoryError("CUDA out of memory")
    gpu.fails = lambda work: error if work == "conv2d" else None

    with pytest.raises(torch.OutOfMemoryError):
        items_on(gpu)


def test_no_more_pictures_than_there_is_room_for(monkeypatch):
    with fake_gpu(monkeypatch, free_bytes=50_000) as gpu:
        tables = in_tables(EXPERIMENT, items_on(gpu, replace(SMALL, images=64)))

    assert {row.images for row in tables["passes"]} == {1}


def test_a_slow_precision_gets_fewer_pictures_and_then_none(monkeypatch):
    device = Device("cpu", Bench(machine()))
    params = Params(images=64, channels=8, side=8, most_s=0.1)

    def slow(device, call):  # a hundredth of a second for each picture
        return 0.01 * call.args[2].shape[0]

    monkeypatch.setattr(channels_last, "whole_s", slow)
    monkeypatch.setattr(channels_last, "warm", lambda device, call: None)

    assert channels_last.prepare(params, device, FP32)[0] == 8
    assert channels_last.prepare(replace(params, most_s=0.005), device, BF16)[1] == {}
    assert channels_last.prepare(replace(params, most_s=0.005), device, FP32)[0] == 1


@pytest.mark.parametrize(
    ("found", "is_clear"),
    [
        ((1.3, 1.1, 1.2, 1.4, 1.2), True),
        ((0.9, 0.8, 0.9, 0.7, 0.8, 0.9, 0.8, 0.8), True),
        ((1.3, 0.9, 1.2, 1.4, 1.2), False),
        ((1.3, 1.1, 1.2, 1.4), False),
    ],
)
def test_what_is_faster_in_every_round_is_a_gain_though_rates_overlap(found, is_clear):
    drifting = [100.0 * (1 + n) for n in range(len(found))]
    tables = rates({}) | {"gains": gains(*found)}
    tables["passes"] = [
        Pass(precision=FP32, layout=layout, repeat=n, images=2, images_per_s=rate)
        for n, (first, gain) in enumerate(zip(drifting, found, strict=True))
        for layout, rate in ((CONTIGUOUS, first), (CHANNELS_LAST, first * gain))
    ]
    finding = analyse(SMALL, tables, HERE)

    assert (finding.unclear == ()) is is_clear
    assert finding.values["gain_fp32"] == pytest.approx(sorted(found)[len(found) // 2], rel=0.05)
    assert (finding.message == CANNOT_TELL) is not is_clear


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (pair(FP32, 100, 101) | pair(FP16, 200, 500), "half_only"),
        (pair(FP32, 100, 200) | pair(FP16, 200, 500), "faster"),
        (pair(FP32, 100, 50) | pair(FP16, 200, 500), "mixed"),
        (pair(FP32, 100, 50) | pair(FP16, 200, 201), "slower"),
        (pair(FP32, 100, 101) | pair(FP16, 200, 201), "the_same"),
        ({(FP32, CONTIGUOUS): 100}, "in_part"),
    ],
)
def test_the_sentence_follows_the_rates(made, message):
    finding = analyse(SMALL, rates(made), HERE)

    assert finding.message == message
    assert finding.values["contiguous_fp32_images_per_s"] == pytest.approx(100, rel=0.01)


def test_a_gain_that_is_not_clear_is_named_so():
    made = rates(pair(FP32, 100, 101), noise=0.3)
    made["passes"] += rates(pair(FP16, 200, 500))["passes"]
    finding = analyse(SMALL, made, HERE)

    assert finding.unclear == ("gain_fp32",)
    assert finding.values["greatest_gain"] == pytest.approx(2.5, rel=0.03)
    assert analyse(SMALL, rates(pair(FP32, 100, 101), noise=0.3), HERE).message == CANNOT_TELL


def test_an_emulated_precision_is_no_gain_of_the_order():
    here = replace(machine(), cpu=Cpu(features=("avx2",)))
    params = Params(images=2, channels=8, side=8, rounds=3)
    found = analyse(params, rates(pair(FP32, 100, 134) | pair(BF16, 10, 62)), here)

    assert "bf16_is_emulated" in found.limits
    assert found.message == "faster"
    assert found.values["greatest_gain"] == pytest.approx(1.34, rel=0.03)
    assert found.values["gain_bf16"] == pytest.approx(6.2, rel=0.03)


def test_a_loss_is_told_as_how_many_times_slower():
    found = analyse(SMALL, rates(pair(FP32, 100, 50) | pair(FP16, 200, 201)), HERE)

    assert found.values["default_order_gain"] == pytest.approx(2, rel=0.03)


def test_results_that_differ_are_told_before_any_speed():
    tables = rates(pair(FP32, 100, 200))
    tables["results"] = [Result(precision=FP32, difference_fraction=0.01)]

    assert analyse(SMALL, tables, HERE).message == "results_differ"


def test_on_the_processor_single_precision_and_bf16_are_compared():
    params = Params(images=2, channels=8, side=8, rounds=3)
    tables = in_tables(EXPERIMENT, list(measure(params, Bench(machine()))))

    assert {row.precision for row in tables["passes"]} == {FP32, BF16}
    assert "matrix_units_need_gpu" in analyse(params, tables, machine()).limits
    assert {row.work for row in tables["gains"]} >= {NETWORK}


def test_what_is_emulated_is_known_by_instructions_and_capability():
    plain = replace(machine(), cpu=Cpu(features=("avx2",)))
    wide = replace(machine(), cpu=Cpu(features=("avx512_bf16",)))

    def with_capability(number):
        gpu = Gpu(index=0, torch_backend="cuda", compute_capability=number)
        return replace(machine(), gpus=(gpu,))

    assert is_emulated(plain, "cpu", BF16)
    assert is_emulated(wide, "cpu", FP16)
    assert not is_emulated(wide, "cpu", BF16)
    assert not is_emulated(plain, "cpu", FP32)
    assert not is_emulated(machine(), "cpu", BF16)  # nothing is known
    assert is_emulated(with_capability("7.5"), NAME, BF16)
    assert not is_emulated(with_capability("7.5"), NAME, FP16)
    assert not is_emulated(with_capability("12.0"), NAME, BF16)
