"""Runs in which compile shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.numbers.compile.experiment import (
    BUSY,
    CALLS,
    EXPERIMENT,
    FP32_BYTES,
    OPERATIONS,
    Batch,
    Params,
    Ready,
    StepTime,
    analyse,
)
from experiments.numbers.compile.ways import COMPILED, EAGER, GRAPH, SCRIPT
from tests.experiments.machines import machine

GPU = "cuda:0"
CALL_S = {CPU: 2e-6, GPU: 1e-5}  # of an operation
FLOP_PER_S = {CPU: 1e11, GPU: 3e13}
BYTES_PER_S = {CPU: 5e10, GPU: 2.5e12}
ARRAYS = 3  # that an operation reads and writes
# How much of the calls, and of the trips to memory, each way leaves; and what it takes first.
LEFT = {EAGER: (1.0, 1.0), SCRIPT: (0.6, 1.0), COMPILED: (0.3, 0.2), GRAPH: (0.02, 1.0)}
PREPARE_S = {SCRIPT: 0.05, COMPILED: 10.0, GRAPH: 0.01}
ROUNDS = 4


def modelled(params: Params, prepare_s: Mapping[str, float] = PREPARE_S) -> LessonRun:
    """Return the run of a network whose steps call, multiply, and go through memory."""
    device, is_gpu = params.device, params.device != CPU
    numbers = params.width * params.batch
    calls_s = params.layers * OPERATIONS * CALL_S[device]
    product_s = params.layers * 2 * params.width * numbers / FLOP_PER_S[device]
    memory_s = params.layers * OPERATIONS * ARRAYS * FP32_BYTES * numbers / BYTES_PER_S[device]
    measured = {EAGER, *prepare_s} - (set() if is_gpu else {GRAPH})
    measured -= set() if params.compiles else {COMPILED}

    def step_s(way: str) -> float:
        calling, moving = LEFT[way]
        done = (calling * calls_s, product_s + moving * memory_s)
        return max(done) if is_gpu else sum(done)

    times = {way: step_s(way) for way in measured}
    times |= {BUSY: product_s + memory_s} if is_gpu else {CALLS: calls_s}
    steps = [
        StepTime(way=way, repeat=n, step_s=each_s * (1 + n / 1000))
        for way, each_s in times.items()
        for n in range(ROUNDS)
    ]
    ready = [Ready(way=way, prepare_s=prepare_s[way]) for way in measured & prepare_s.keys()]
    batches = [Batch(batch=params.batch + 1, first_s=6.0)] if params.other_batches else []
    tables: Tables = dict.fromkeys(EXPERIMENT.tables, ()) | {
        "steps": steps,
        "ready": ready,
        "batches": batches,
    }
    here = machine(gpus=1)
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


REACHING = {
    "pays_with_wide_layers": Params(width=512, batch=4096),
    "deep_without_gain": Params(width=2048, layers=16),
}
RUNS = {
    "usual": modelled(Params()),
    "never_pays": modelled(Params(width=8192, batch=2)),
    "older_compiler": modelled(Params(compiles=False)),
    "older_compiler_never_pays": modelled(Params(width=8192, compiles=False)),
    "on_a_gpu": modelled(Params(device=GPU, width=256, batch=64)),
    "on_a_gpu_quickly": modelled(Params(device=GPU, width=256, batch=64, compiles=False)),
    "a_gpu_that_calls_never_keep": modelled(Params(device=GPU, width=8192, batch=65536)),
    "compiled_again": modelled(Params(other_batches=True)),
    "memory_saves": modelled(Params(batch=65536)),
    "in_a_moment": modelled(Params(batch=65536), {SCRIPT: 0.05, COMPILED: 0.5}),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
