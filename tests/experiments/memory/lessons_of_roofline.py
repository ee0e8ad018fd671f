"""Runs in which roofline shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.roofline.arms import Point
from experiments.memory.roofline.experiment import Params
from tests.experiments.machines import MIB, machine

PEAK, SLOPE = 1e11, 2e10
TRIAD_AT, RIDGE = 1 / 12, PEAK / SLOPE
USUAL = {
    "peak_cpu_flop_per_s": PEAK, "peak_cpu_bytes_per_s": SLOPE, "ridge_cpu_flop_per_byte": RIDGE,
    "triad_cpu_flop_per_s": 0.9 * SLOPE * TRIAD_AT, "triad_flop_per_byte": TRIAD_AT,
    "triad_roof_fraction": 0.9, "matmul_flop_per_byte": 85.0, "matmul_roof_fraction": 0.9,
}  # fmt: skip
ON_GPU = {name.replace("cpu", "gpu0"): value for name, value in USUAL.items()}
LOOPS = (
    ("roof", RIDGE),
    ("triad", TRIAD_AT),
    ("dot", 1 / 8),
    *(("polynomial", degree / 4) for degree in (1, 2, 4, 8, 16, 32, 64)),
    ("matmul", 85.0),
)


def made(
    message: str,
    *limits: str,
    params: Params | None = None,
    usual: dict[str, float] = USUAL,
    **values: float,
) -> LessonRun:
    points = [
        Point(kernel=kernel, repeat=0, flop_per_byte=at, flop_per_s=0.9 * min(PEAK, SLOPE * at))
        for kernel, at in LOOPS
        if kernel != "polynomial" or message != "gpu_both_sides"
    ]
    return LessonRun(
        params=params or Params(),
        tables={"points": points, "peaks": [], "rates": [], "sustained": [], "conditions": []},
        machine=machine(),
        message=message,
        values=usual | values,
        limits=limits,
    )


BOTH, CACHED = "both_sides", "partly_in_cache"
ONE_CORE = Params(threads=1, array_bytes=8 * MIB)
RUNS = {
    "usual": made(BOTH),
    "on_a_gpu": made("gpu_both_sides", "partly_in_gpu_cache", usual=ON_GPU),
    "small_matrices": made("all_on_the_slope", matmul_flop_per_byte=2.0),
    "triad_is_the_slope": made(BOTH, "triad_is_the_slope", triad_roof_fraction=1.0),
    "writes_cost": made(BOTH, "write_allocate_not_counted", triad_roof_fraction=0.7),
    "roof_is_low": made(BOTH, "above_the_roof"),
    "one_core_near": made(BOTH, CACHED, params=ONE_CORE, ridge_cpu_flop_per_byte=1.2),
}
