"""Runs in which amp shows something else than usual."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.numbers.amp.experiment import (
    EXPERIMENT,
    Loss,
    Params,
    Scale,
    Speed,
    Width,
    analyse,
    widths,
)
from experiments.numbers.amp.training import GROWTH_STEPS, START_POWER, UNSCALED, Task
from experiments.tools.networks import CLASSES
from experiments.tools.precisions import BF16, FP16, FP32, TF32
from machine.model import Cpu
from tests.experiments.machines import machine

GPU = "cuda:0"
CALLS_S = {CPU: 1e-4, GPU: 2e-3}
FLOP_PER_S = {CPU: 1e11, GPU: 5e13}
GAIN: Mapping[str, Mapping[str, float]] = {
    CPU: {FP16: 0.5, UNSCALED: 0.5, BF16: 0.5},
    GPU: {TF32: 6, FP16: 12, UNSCALED: 12, BF16: 12},
}
LARGEST_GRADIENT = 0.03  # of a loss of weight 1
ENOUGH = 7e-7  # weight of a sample's loss: from there on fp16 learns without a scaler
ROUNDS = 4


def modelled(
    params: Params, *, without: Collection[str] = (), bits: float = 1.0, own: bool = False
) -> LessonRun:
    """Return the run of a network in which fp16 loses the gradients that are too small.

    bf16 learns `bits` of what fp32 does. With a scaler of one's `own` torch's is at rest.
    """
    arms = [arm for arm in (FP32, *GAIN[params.device]) if arm not in without]
    tables: dict[str, list[Any]] = {name: [] for name in EXPERIMENT.tables}
    is_lost = params.loss_weight / params.batch < ENOUGH
    first = math.log(CLASSES)
    for arm in arms:
        share = 0.0 if arm == UNSCALED and is_lost else bits if arm == BF16 else 1.0
        tables["losses"] += [
            Loss(arm=arm, step=n, loss=first * (1 - share * (1 - math.exp(-n / 10))))
            for n in range(params.steps)
        ]
        for width in widths(params):
            flop = Task(params.model, width, params.batch).step_flop
            gain = GAIN[params.device].get(arm, 1)
            step_s = CALLS_S[params.device] + flop / FLOP_PER_S[params.device] / gain
            rates = [params.batch / step_s * (1 + n / 1000) for n in range(ROUNDS)]
            tables["widths"] += [
                Width(arm=arm, width=width, repeat=n, samples_per_s=rate)
                for n, rate in enumerate(rates)
            ]
        tables["speeds"] += [
            Speed(arm=arm, repeat=n, samples_per_s=rate) for n, rate in enumerate(rates)
        ]
    if FP16 in arms:
        tables["scales"] = scales(params, own=own)
    here = replace(machine(gpus=1), cpu=Cpu(features=("avx2",)))
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


def scales(params: Params, *, own: bool) -> list[Scale]:
    """Return the scale of each step: it falls at once where it is too high, and grows slowly."""
    power = round(START_POWER - math.log2(params.loss_weight))
    found = [Scale(step=0, power=power, is_skipped=False)]
    good = 0
    for step in range(params.steps):
        is_skipped = not own and LARGEST_GRADIENT * params.loss_weight * 2.0**power > 65504
        good = 0 if is_skipped else good + 1
        grows = not own and good and good % GROWTH_STEPS == 0
        power += -1 if is_skipped else 1 if grows else 0
        found.append(Scale(step=step + 1, power=power, is_skipped=is_skipped))
    return found


ON_GPU = Params(device=GPU, width=4096, batch=4096, steps=200)
LITTLE = replace(ON_GPU, loss_weight=3e-5, batch=32)
RUNS = {
    "usual": modelled(ON_GPU),
    "on_a_processor": modelled(Params()),
    "holds": modelled(replace(ON_GPU, loss_weight=1.0)),
    "bf16_too": modelled(ON_GPU, bits=0.2),
    "bf16_alone": modelled(replace(ON_GPU, loss_weight=1.0), bits=0.2),
    "without_bf16": modelled(ON_GPU, without=(BF16,)),
    "fp32_alone": modelled(Params(), without=(FP16, UNSCALED, BF16)),
    "few_steps": modelled(replace(ON_GPU, steps=10)),
    "own_scaler": modelled(ON_GPU, own=True),
    "little_weight": modelled(LITTLE),
}
