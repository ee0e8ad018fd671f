"""Runs in which many-small shows something else than usual."""

from __future__ import annotations

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.to_the_gpu.many_small.experiment import (
    EMPTY,
    SEPARATE,
    TOGETHER,
    Params,
    Pass,
    Piece,
    analyse,
    counts,
)
from tests.experiments.machines import machine

GPU = "cuda:0"
CALL_S = {CPU: 2e-6, GPU: 8e-6}
NUMBERS_PER_S = {CPU: 2e10, GPU: 4e11}
INSIDE = 0.8  # of a call's price that a foreach call on a processor pays as well


def modelled(params: Params, cores: int = 4, inside: float = INSIDE) -> LessonRun:
    """Return the run of a machine on which calls have a price, and numbers have one.

    On a processor both add up; a GPU adds while it is called.
    """
    is_gpu = params.device != CPU
    call_s, work_s = CALL_S[params.device], params.numbers / NUMBERS_PER_S[params.device]
    here = machine(cores=cores, gpus=1)

    def took_s(calls: int, way: str) -> float:
        paid_s = calls * call_s
        if way == EMPTY:
            return paid_s
        if way == TOGETHER:
            paid_s = call_s if is_gpu else inside * paid_s
        return max(paid_s, work_s + call_s) if is_gpu else paid_s + work_s

    passes = [
        Pass(calls=calls, way=way, repeat=n, numbers=params.numbers, took_s=took_s(calls, way))
        for calls in counts(params)
        for way in (SEPARATE, EMPTY, TOGETHER)
        for n in range(params.rounds)
    ]
    most = counts(params)[-1]
    pieces = [Piece(calls=most, repeat=n, device_s=work_s / most) for n in range(3 * is_gpu)]
    tables: Tables = {"passes": passes, "pieces": pieces, "lanes": [], "conditions": []}
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


REACHING = {
    "knee_at_2000": Params(numbers=80_000_000, calls=5000),
    "ten_thousand_hardly_cost": Params(numbers=100_000_000, calls=10_000),
}
RUNS = {
    "usual": modelled(Params()),
    "one_core": modelled(Params(), cores=1),
    "foreach_spares_python": modelled(Params(), inside=0.3),
    "few_calls": modelled(Params(calls=100)),
    "work_outweighs": modelled(Params(numbers=1_000_000_000)),
    "half_as_long_again": modelled(Params(numbers=80_000_000)),
    "no_work": modelled(Params(numbers=10_000)),
    "on_a_gpu": modelled(Params(device=GPU, numbers=200_000_000)),
    "a_gpu_that_calls_never_keep": modelled(Params(device=GPU, numbers=10_000_000_000)),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
