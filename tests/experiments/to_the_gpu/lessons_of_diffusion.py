"""Runs in which diffusion shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.to_the_gpu.diffusion.experiment import (
    GPU,
    ITEM_BYTES,
    Check,
    Params,
    Rate,
    Through,
    analyse,
    sides,
)
from experiments.to_the_gpu.diffusion.solvers import (
    COMPILED,
    COMPILED_ONE,
    MOVED,
    NUMPY,
    TORCH_CPU,
    TORCH_GPU,
    TORCH_ONE,
)
from tests.experiments.machines import MIB, machine

ROUNDS = 4
MEMORY_BYTES_PER_S, CACHE_BYTES_PER_S = 60e9, 150e9  # of one core, or of all that share it
GPU_BYTES_PER_S = 3e12
SUM_S = 1e-10  # for a cell that lies in registers
L2_BYTES, L3_BYTES = 2 * MIB, 32 * MIB
PROCESSOR = (NUMPY, TORCH_ONE, TORCH_CPU, COMPILED_ONE, COMPILED)


def modelled(
    params: Params,
    cores: int = 4,
    *,
    engines: tuple[str, ...] = PROCESSOR,
    l3_bytes: int = L3_BYTES,
    faster: Mapping[str, float] | None = None,
) -> LessonRun:
    """Return the run of engines that wait for memory; `faster` is how many times some are."""
    here = machine(cores=cores, caches=(None, None, l3_bytes), gpus=1)
    here = replace(here, gpus=(replace(here.gpus[0], l2_bytes=L2_BYTES),))
    item_bytes, rows = ITEM_BYTES[params.dtype], []
    for side in sides(params.large):
        is_near = 2 * side**2 * item_bytes < l3_bytes
        for engine in engines:
            rate = CACHE_BYTES_PER_S if is_near else MEMORY_BYTES_PER_S
            rate = GPU_BYTES_PER_S if engine == TORCH_GPU else rate
            several = cores if is_near and engine in (TORCH_CPU, COMPILED) else 1
            cell_s = MOVED[engine] * item_bytes / rate + SUM_S * (
                engine in (COMPILED_ONE, COMPILED)
            )
            per_s = several / cell_s * (faster or {}).get(engine, 1.0)
            rows += [
                Rate(side=side, engine=engine, repeat=n, cells_per_s=per_s * (1 + n / 1000),
                     bytes_per_s=per_s * MOVED[engine] * item_bytes)
                for n in range(ROUNDS)
            ]  # fmt: skip
    places = {CPU: MEMORY_BYTES_PER_S} | ({GPU: GPU_BYTES_PER_S} if TORCH_GPU in engines else {})
    tables: Tables = {
        "rates": rows,
        "through": [
            Through(where=name, repeat=0, bytes_per_s=per_s) for name, per_s in places.items()
        ],
        "checks": [Check(engine=NUMPY, difference=1e-7)],
        "drawn": [],
        "conditions": [],
    }
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


REACHING = {
    "one_gigabyte": Params(large=3101, dtype="float64"),
    "five_milliseconds": Params(large=1700, dtype="float64"),
}
WITH_GPU = (*PROCESSOR, TORCH_GPU)
RUNS = {
    "usual": modelled(Params()),
    "one_core": modelled(Params(), cores=1),
    "no_loop": modelled(Params(), engines=PROCESSOR[:3]),
    "cores_win": modelled(Params(), cores=64, faster={TORCH_CPU: 8.0, COMPILED: 3.0}),
    "one_pass_gains_nothing": modelled(Params(), faster={COMPILED_ONE: 0.2}),
    "in_cache": modelled(Params(large=640)),
    "in_a_huge_cache": modelled(Params(), l3_bytes=2**30),
    "on_a_gpu": modelled(Params(device="cuda:0"), engines=WITH_GPU),
    "on_a_gpu_in_cache": modelled(Params(device="cuda:0", large=640), engines=WITH_GPU),
    "on_a_slow_gpu": modelled(Params(device="cuda:0"), engines=WITH_GPU, faster={TORCH_GPU: 0.01}),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
