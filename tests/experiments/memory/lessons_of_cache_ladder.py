"""Runs in which cache-ladder shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.cache_ladder.experiment import RANDOM, Params, Step, sizes
from tests.experiments.machines import KIB, MIB, machine

L1 = {"l1_latency_s": 1e-9, "l2_latency_s": 4e-9}
MEMORY = {"memory_latency_s": 1e-7}


def latency_s(size: int) -> float:
    return 1e-9 if size <= 32 * KIB else 4e-9 if size <= MIB else 1e-7


def made(message: str, *limits: str, params: Params, **values: float) -> LessonRun:
    steps = [
        Step(size_bytes=size, order=RANDOM, repeat=0, latency_s=latency_s(size))
        for size in sizes(params)
    ]
    return LessonRun(
        params=params,
        tables={"steps": steps},
        machine=machine(),
        message=message,
        values=values,
        limits=limits,
    )


SMALL, FINE = Params(largest_bytes=MIB), Params(largest_bytes=MIB, points_per_octave=8)
RUNS = {
    "memory_not_reached": made("ladder_in_part", "no_memory_latency", params=SMALL, **L1),
    "caches_unknown": made("memory_alone", "no_l1_cache_known", params=Params(), **MEMORY),
    "end_pinned_down": made("ladder_in_part", "no_memory_latency", params=FINE, **L1),
    "pages_take_a_share": made(
        "ladder_climbed", "pages_take_a_share", "spike", "part_of_l3", params=Params(),
        memory_over_l1=100.0, memory_huge_latency_s=8e-8, **L1, **MEMORY,
    ),
}  # fmt: skip
# A single setting changed: none of these reaches a goal.
SINGLE = [
    made("ladder_in_part", params=SMALL, **L1),
    *(
        made("ladder_climbed", params=params, memory_over_l1=100.0, **L1, **MEMORY)
        for params in (Params(points_per_octave=16), Params(rounds=50), Params(huge_pages=False))
    ),
]
