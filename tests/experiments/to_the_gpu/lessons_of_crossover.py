"""Runs in which crossover shows something else than usual."""

from __future__ import annotations

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.to_the_gpu.crossover.experiment import (
    ELEMENT_BYTES,
    NEXT,
    Params,
    Product,
    analyse,
    sizes,
)
from experiments.to_the_gpu.crossover.ways import ALL, CALLED, COPIED, KERNEL, ONE
from tests.experiments.machines import machine

GPU = "cuda:0"
CORES = 4
CORE_FLOP_PER_S, GPU_FLOP_PER_S = 1e11, 3e13
CALL_S, KERNEL_S, COPY_S = 2e-5, 3e-6, 2e-5  # whatever the size
THREADS_S = 1e-5  # to share a product
BYTES_PER_S = 2.4e10


def modelled(
    params: Params,
    cores: int = CORES,
    *,
    gpu_flop_per_s: float = GPU_FLOP_PER_S,
    threads_s: float = THREADS_S,
    copied_bytes_per_s: float = BYTES_PER_S,
    scatter: float = 1.001,
) -> LessonRun:
    """Return the run of a machine on which calls, threads and copies have a price.

    Up to 512 rows the times of all cores go up by `scatter` from round to round.
    """
    here = machine(cores=cores, gpus=1)

    def took_s(way: str, size: int) -> float:
        work, moved = 2 * size**3, 3 * ELEMENT_BYTES[params.precision] * size**2
        if way == ONE:
            return 1e-6 + work / CORE_FLOP_PER_S
        if way == ALL:
            return threads_s * (cores > 1) + 1e-6 + work / CORE_FLOP_PER_S / cores
        device_s = KERNEL_S + work / gpu_flop_per_s
        call_s = CALL_S * (way != KERNEL)
        return call_s + device_s + (COPY_S + moved / copied_bytes_per_s) * (way == COPIED)

    ways = [*([ONE] if cores > 1 else []), ALL]
    ways += [] if params.device == CPU else [KERNEL, CALLED, COPIED]
    rows = []
    for way in ways:
        for size in sizes(params):
            each_s = took_s(way, size)
            grows = scatter if way == ALL and size <= 512 else 1.001
            rows += [
                Product(size=size, kind=way, repeat=n, product_s=each_s * grows**n,
                        flop_per_s=2 * size**3 / each_s)
                for n in range(params.rounds)
            ]  # fmt: skip
            if each_s * NEXT > params.most_s:
                break
    tables: Tables = {"products": rows, "conditions": []}
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


USUAL = Params(device=GPU, largest=8192)
REACHING = {
    "copies_hardly_add": Params(device=GPU, largest=16384, most_s=1.0),
    "ends_at_3072": Params(largest=8192, most_s=1.0),
}
RUNS = {
    "usual": modelled(USUAL),
    "on_a_processor": modelled(Params()),
    "one_core": modelled(Params(), cores=1),
    "one_core_beside_a_gpu": modelled(USUAL, cores=1),
    "too_small_for_threads": modelled(Params(largest=64)),
    "wins_at_once": modelled(USUAL, threads_s=1e-4),
    "a_slow_gpu": modelled(USUAL, gpu_flop_per_s=1e11),
    "slow_copies": modelled(USUAL, copied_bytes_per_s=1e7),
    "cores_scatter": modelled(USUAL, scatter=9.0),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
