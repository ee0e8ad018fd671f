from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.teaching.lesson_run import lesson_run
from experiments.devices.device import Device
from experiments.engine.recording import sent
from experiments.numbers.amp import experiment as amp
from experiments.numbers.amp import lesson, start
from experiments.numbers.amp import training as amp_training
from experiments.numbers.amp.experiment import (
    EXPERIMENT,
    Diverged,
    Loss,
    Params,
    Speed,
    Width,
    analyse,
    measure,
    seconds,
    widths,
)
from experiments.numbers.amp.training import ARMS, RESNET, UNSCALED, Learner, Task, batches_of
from experiments.tools.precisions import BF16, FP16, FP32, TF32
from machine.devices import Gpu
from machine.model import Cpu
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    "fp32_samples_per_s", "tf32_samples_per_s", "fp16_samples_per_s", "bf16_samples_per_s",
    "fp32_peak_bytes", "tf32_peak_bytes", "fp16_peak_bytes", "bf16_peak_bytes",
    "loss_scale_final", "skipped_steps", "speedup_best",
}  # fmt: skip

SMALL = Params(device=NAME, width=16, batch=32, steps=40, rounds=3)
HERE = machine(gpus=1)


@pytest.fixture(scope="module", autouse=True)
def short():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amp, "SAMPLE_S", 1e-4)
        yield


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def items_on(gpu, params=SMALL):
    return list(measure(params, Bench(HERE, clock=gpu.clock)))


@pytest.fixture(scope="module")
def played(short):
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        held = iter(range(1_000_000_000, 2_000_000_000, 1_000_000))
        patch.setattr(torch.cuda, "memory_allocated", lambda device=0: next(held))
        patch.setattr(torch.cuda, "max_memory_allocated", lambda device=0: next(held) + 5_000_000)
        return gpu, in_tables(EXPERIMENT, items_on(gpu))


def made(rates, losses=None, diverged=(), noise=0.01):
    """Return tables as if the arms had had these speeds and learned so."""
    tables = {name: [] for name in EXPERIMENT.tables}
    for arm, rate in rates.items():
        for n in range(8):
            rate_now = rate * (1 + noise * math.sin(9 * n + sum(map(ord, arm))))
            row = {"arm": arm, "repeat": n, "samples_per_s": rate_now}
            tables["speeds"].append(Speed(**row))
            tables["widths"].append(Width(width=16, **row))
    for arm, line in (losses or {}).items():
        tables["losses"] += [Loss(arm=arm, step=n, loss=loss) for n, loss in enumerate(line)]
    tables["diverged"] = [Diverged(arm=arm, step=1) for arm in diverged]
    return tables


FALLS, STAYS = [2.8 - 0.1 * n for n in range(20)], [2.8] * 20
FAST = {FP32: 100.0, TF32: 200.0, FP16: 400.0, BF16: 390.0}


def test_every_arm_learns_every_step_and_is_timed_in_every_round(played):
    _, tables = played

    assert {row.arm for row in tables["losses"]} == set(ARMS)
    assert all(math.isfinite(row.loss) for row in tables["losses"])
    assert {(row.arm, row.repeat) for row in tables["speeds"]} == {
        (arm, n) for arm in ARMS for n in range(3)
    }
    assert [row.step for row in tables["scales"]] == [*range(SMALL.steps + 1)]


def test_all_arms_begin_with_the_same_weights_and_data(played):
    _, tables = played
    first = [row.loss for row in tables["losses"] if row.step == 0]

    assert len(first) == len(ARMS)
    assert max(first) - min(first) < 0.02


def test_without_a_scaler_small_gradients_vanish_in_fp16_alone(played):
    _, tables = played
    end = analyse(SMALL, tables, HERE).values

    assert end["fp16_unscaled_final_loss"] == pytest.approx(end["guessing_loss"], rel=0.1)
    for arm in (FP32, TF32, FP16, BF16):
        assert end[f"{arm}_final_loss"] < 0.8 * end["guessing_loss"]
    assert "breaks" in analyse(SMALL, tables, HERE).message
    assert "bf16_needs_none" in analyse(SMALL, tables, HERE).limits


def test_the_scaler_skips_the_step_whose_scale_is_too_high(played):
    _, tables = played
    powers = [row.power for row in tables["scales"]]
    finding = analyse(SMALL, tables, HERE)

    assert finding.values["skipped_steps"] == sum(row.is_skipped for row in tables["scales"]) > 0
    assert finding.values["loss_scale_final"] == 2.0 ** powers[-1]
    falls = [after < before for before, after in pairwise(powers)]
    assert finding.values["skipped_steps"] == sum(falls)  # as many as the plot shows
    assert {after - before for before, after in pairwise(powers)} <= {-1, 0, 1}


def test_clipping_before_the_gradients_are_unscaled_stops_learning(played):
    tables = played[1]
    finding = analyse(SMALL, tables, HERE)

    assert {row.clip for row in tables["clipped"]} == {"unscaled_first", "still_scaled"}
    guessing = finding.values["guessing_loss"]
    assert finding.values["clip_unscaled_first_final_loss"] < 0.8 * guessing
    assert finding.values["clip_still_scaled_final_loss"] > 0.9 * guessing
    assert "clip_after_unscaling" in finding.limits
    right = [row for row in tables["clipped"] if row.clip == "unscaled_first"]
    assert "clip_after_unscaling" not in analyse(SMALL, {**tables, "clipped": right}, HERE).limits


def test_a_nested_region_widens_nothing_that_comes_in_half(played):
    values = analyse(SMALL, played[1], HERE).values

    outer, kept, converted = (
        values[f"nested_{region}_error_fraction"] for region in ("outer", "kept", "converted")
    )
    assert kept == pytest.approx(outer, rel=0.2)
    assert converted < 0.01 * outer


def test_on_a_gpu_a_step_is_long_against_its_calls():
    large = EXPERIMENT.defaults(HERE)

    assert (large.width, large.batch) == (4096, 4096)
    assert seconds(large) <= 30
    assert seconds(EXPERIMENT.reduced(large)) <= 5


def test_the_memory_of_an_arm_is_what_came_on_top(played):
    _, tables = played

    assert {row.arm: row.peak_bytes for row in tables["peaks"]} == dict.fromkeys(ARMS, 6_000_000)


def test_steps_are_warm_before_they_are_timed_and_waited_for(played):
    gpu, _ = played
    backward = [n for n, entry in enumerate(gpu.log) if entry.startswith("backward")]

    assert len(backward) > len(ARMS) * (SMALL.steps + 3)
    assert gpu.log[-1] == "wait"


def test_tf32_is_switched_for_products_and_convolutions_alike(gpu, monkeypatch):
    seen = {}
    step = Learner.step

    def looked(self):
        products = torch.get_float32_matmul_precision() == "high"
        seen.setdefault(self._arm, set()).add((products, torch.backends.cudnn.allow_tf32))
        return step(self)

    monkeypatch.setattr(Learner, "step", looked)
    items_on(gpu, replace(SMALL, steps=10))

    assert seen == {arm: {(arm == TF32, arm == TF32)} for arm in ARMS}


def test_out_of_memory_in_a_step_is_told_by_its_own_error(gpu):
    error = torch.OutOfMemoryError("CUDA out of memory")
    gpu.fails = lambda work: error if work == "linear" else None

    with pytest.raises(torch.OutOfMemoryError):
        items_on(gpu)


def test_an_arm_that_torch_refuses_is_left_out(gpu, monkeypatch):
    step = Learner.step

    def refused(self):
        if self._arm == BF16:
            raise RuntimeError("bfloat16 is not supported")
        return step(self)

    monkeypatch.setattr(Learner, "step", refused)
    items = items_on(gpu, replace(SMALL, steps=10))

    assert Note("precision_left_out", {"precision": BF16}) in items
    assert {row.arm for row in in_tables(EXPERIMENT, items)["speeds"]} == {*ARMS} - {BF16}


def test_a_network_that_does_not_fit_is_made_narrower(monkeypatch):
    with fake_gpu(monkeypatch, free_bytes=500_000) as gpu:
        tables = in_tables(EXPERIMENT, items_on(gpu, replace(SMALL, width=256, steps=10)))

    assert 8 <= max(row.width for row in tables["widths"]) < 256
    assert tables["speeds"]


def test_an_arm_that_is_slow_ends_at_a_narrower_network(monkeypatch):
    device = Device("cpu", Bench(machine()))
    tasks = [Task("mlp", width, 8) for width in widths(Params(width=256))]

    class Slow:
        def __init__(self, task):
            self.step = task.width

    def in_time(s_per_width):
        monkeypatch.setattr(amp, "whole_s", lambda device, width: width * s_per_width)
        return [task.width for task in amp.tasks_in_time(0.1, device, Slow, tasks)]

    assert in_time(1e-6) == [16, 64, 256]
    assert in_time(1e-3) == [16, 64]
    assert in_time(1.0) == []


def test_a_loss_that_is_no_number_ends_the_line_and_makes_no_row(monkeypatch):
    device = Device("cpu", Bench(machine()))
    losses = iter([2.5, 2.0, math.nan])

    class Learned:
        def step(self):
            return torch.tensor(next(losses))

        def power(self):
            return 0

    rows = list(amp.learn_arm(Params(), device, UNSCALED, Learned()))

    assert [row.loss for row in rows[:-1]] == [2.5, 2.0]
    assert rows[-1] == Diverged(arm=UNSCALED, step=2)


@pytest.mark.parametrize(
    ("rates", "unscaled", "message"),
    [
        (FAST, STAYS, "faster_and_breaks"),
        (FAST, FALLS, "faster"),
        ({FP32: 100, BF16: 101}, STAYS, "no_gain_and_breaks"),
        ({FP32: 100, BF16: 101}, FALLS, "no_gain"),
        ({FP32: 100, BF16: 10}, STAYS, "slower_and_breaks"),
        ({FP32: 100, BF16: 10}, FALLS, "slower"),
        ({FP32: 100}, STAYS, "in_part"),
        ({BF16: 100}, STAYS, "in_part"),
    ],
)
def test_the_sentence_follows_the_data(rates, unscaled, message):
    tables = made(rates, {FP32: FALLS, FP16: FALLS, UNSCALED: unscaled})

    assert analyse(SMALL, tables, HERE).message == message


@pytest.mark.parametrize(
    ("unscaled", "message"), [(STAYS, "unclear_and_breaks"), (FALLS, CANNOT_TELL)]
)
def test_noise_is_not_called_no_gain(unscaled, message):
    losses = {FP32: FALLS, FP16: FALLS, UNSCALED: unscaled}
    finding = analyse(SMALL, made({FP32: 100, BF16: 101}, losses, noise=0.3), HERE)

    assert finding.message == message
    assert finding.unclear == ("speedup_best",)
    assert not any(each.startswith("pays") for each in finding.limits)


def test_a_loss_that_became_no_number_breaks_too():
    tables = made(FAST, {FP32: FALLS, FP16: FALLS}, diverged=[UNSCALED])

    assert analyse(SMALL, tables, HERE).message == "faster_and_breaks"


def test_nothing_is_said_of_scalers_where_learning_cannot_be_judged():
    few = made(FAST, {FP32: FALLS[:5], FP16: FALLS[:5], UNSCALED: STAYS[:5]})
    both = made(FAST, {FP32: FALLS, FP16: STAYS, UNSCALED: STAYS})
    holds = made(FAST, {FP32: FALLS, FP16: FALLS, UNSCALED: FALLS})

    assert "learning_not_judged" in analyse(SMALL, few, HERE).limits
    assert "learning_not_judged" in analyse(SMALL, both, HERE).limits
    assert "unscaled_holds" in analyse(SMALL, holds, HERE).limits


@pytest.mark.parametrize(
    ("rates", "limit"),
    [
        (FAST, "pays_at_some_width"),
        (FAST | {FP32: 500.0}, "pays_at_no_width"),
        ({FP32: 100.0, UNSCALED: 400.0}, None),  # which does not learn
        ({}, None),
    ],
)
def test_it_is_said_whether_it_pays_at_any_width(rates, limit):
    limits = analyse(SMALL, made(rates), HERE).limits

    assert [each for each in limits if each.startswith("pays")] == ([limit] if limit else [])


def test_where_it_pays_cannot_be_told_from_too_few_rounds():
    tables = made(FAST | {FP32: 500.0})
    tables["widths"] = [row for row in tables["widths"] if row.repeat < 2]

    assert not any(each.startswith("pays") for each in analyse(SMALL, tables, HERE).limits)


def test_tf32_that_was_passed_over_is_named():
    def limits(*arms):
        return analyse(SMALL, made({}, dict.fromkeys(arms, FALLS)), HERE).limits

    assert "tf32_left_out" in limits(FP32, FP16)
    assert "tf32_left_out" not in limits(FP32)  # stopped before
    assert "tf32_left_out" not in limits(FP32, TF32, FP16)


def test_the_limit_of_the_hardware_is_the_ratio_of_its_peaks():
    known = Gpu(
        index=0, torch_backend="cuda", vendor="NVIDIA", name="NVIDIA A100",
        compute_capability="8.0", sms=108, sm_clock_hz=1410e6,
    )  # fmt: skip
    values = analyse(SMALL, made(FAST), replace(HERE, gpus=(known,))).values

    assert values["hardware_samples_per_s"] == pytest.approx(16 * values["fp32_samples_per_s"])
    assert "hardware_samples_per_s" not in analyse(SMALL, made(FAST), HERE).values


def test_bf16_on_an_older_gpu_is_called_emulated_by_its_capability():
    old = Gpu(index=0, torch_backend="cuda", compute_capability="7.5")

    assert "bf16_is_emulated" in analyse(SMALL, made(FAST), replace(HERE, gpus=(old,))).limits
    plain = replace(machine(), cpu=Cpu(features=("avx2",)))
    assert "fp16_is_emulated" in analyse(Params(), made(FAST), plain).limits


def test_the_residual_network_learns_in_either_layout():
    device = Device("cpu", Bench(machine()))
    task = Task(RESNET, 16, 16)
    lines = {}
    for channels_last in (False, True):
        learner = Learner(device, FP32, task, batches_of(device, task, channels_last), 1e-6)
        lines[channels_last] = [float(learner.step()) for _ in range(24)]

    assert lines[True] == pytest.approx(lines[False], rel=1e-2)
    assert min(lines[False][-4:]) < 0.9 * lines[False][0]


def test_what_a_scale_is_for_is_told_by_a_weight_of_one():
    device = Device("cpu", Bench(machine()))
    task = Task("mlp", 16, 32)
    learner = Learner(device, UNSCALED, task, batches_of(device, task, False), 1.0)
    losses = [float(learner.step()) for _ in range(40)]

    assert losses[-1] < 0.8 * losses[0]
    assert amp_training.precision_of(UNSCALED) == FP16


# --- the exercise -------------------------------------------------------------------------------

BARE = """\
        (loss * self._weight).backward()
        self._optimiser.step()
"""
BY_HAND = """\
        (loss * self._weight * 2.0**36).backward()
        for each in self._net.parameters():
            each.grad /= 2.0**36
        self._optimiser.step()
"""
BY_TORCH = """\
        made = torch.amp.GradScaler(self._device.kind, init_scale=2.0**36)
        scaler = self.__dict__.setdefault("own", made)
        scaler.scale(loss * self._weight).backward()
        scaler.step(self._optimiser)
        scaler.update()
"""
NOT_DIVIDED = BARE.replace("self._weight", "self._weight * 2.0**36")


@pytest.mark.parametrize(
    ("loop", "weight", "is_reached"),
    [
        (BARE, 1e-6, False),
        (BARE, 1.0, False),  # learns, and needs no scaler
        (NOT_DIVIDED, 1e-6, False),
        (BY_HAND, 1e-6, True),
        (BY_TORCH, 1e-6, True),
    ],
)
def test_the_exercise_is_done_on_a_processor_by_who_writes_the_scaler(
    monkeypatch, loop, weight, is_reached
):
    begun = Path(start.__file__).read_text(encoding="utf-8")
    names = {"__name__": start.__name__}
    assert BARE in begun
    exec(begun.replace(BARE, loop), names)
    monkeypatch.setattr(amp, "Learner", names["Learner"])
    params = Params(width=16, batch=32, steps=40, rounds=1, most_s=10, loss_weight=weight)
    tables = in_tables(EXPERIMENT, measure(params, Bench(machine())))
    run = lesson_run(params, tables, machine(), sent(analyse(params, tables, machine())))

    assert lesson.own_scaler(run) is is_reached
