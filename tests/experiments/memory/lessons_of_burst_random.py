"""Runs in which burst-random shows something else than usual."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.burst_random.experiment import IN_A_ROW, RANDOM, Params, Read, sizes
from tests.experiments.machines import KIB, MIB, machine

USUAL = {
    "size_bytes": 512 * MIB, "sequential_s": 4e-10, "random_s": 8e-9, "dependent_s": 1e-7,
    "reads_in_flight": 12.0, "random_over_sequential": 20.0, "dependent_over_sequential": 250.0,
}  # fmt: skip
ALIKE = USUAL | {"random_s": 4e-10, "dependent_s": 1e-9, "random_over_sequential": 1.0}
KNEE = 4 * MIB


def made(message: str, *limits: str, params: Params | None = None, **values: float) -> LessonRun:
    params = params or Params()
    return LessonRun(
        params=params,
        tables={"reads": reads(params)},
        machine=machine(),
        message=message,
        values=USUAL | {"size_bytes": max(sizes(params))} | values,
        limits=limits,
    )


def reads(params: Params) -> list[Read]:
    """Return reads that are alike up to a cache's size, and take 20 times as long beyond."""
    return [
        Read(
            size_bytes=size, order=order, repeat=0, element_s=took_s, useful_bytes_per_s=8 / took_s
        )
        for size in sizes(params)
        for order, took_s in ((IN_A_ROW, 4e-10), (RANDOM, 4e-10 if size < KNEE else 8e-9))
    ]


def in_l1(*, huge_pages: bool) -> LessonRun:
    params = Params(largest_bytes=16 * KIB, huge_pages=huge_pages)
    return made("only_chains_wait", "partly_in_cache", params=params, **{
        name: value for name, value in ALIKE.items() if name != "size_bytes"
    })  # fmt: skip


RUNS = {
    "partly_in_cache": made(
        "three_answers", "partly_in_cache", params=Params(largest_bytes=64 * MIB)
    ),
    "in_cache": in_l1(huge_pages=False),
    "alike_in_huge_pages": in_l1(huge_pages=True),
    "other_order": made("other_order"),
    "knee_found": made("three_answers", params=Params(largest_bytes=KNEE, rounds=20)),
}
# A single setting changed: none of these reaches a goal.
SINGLE = [
    made("three_answers", params=replace(Params(), **change))
    for change in ({"largest_bytes": KNEE}, {"rounds": 50}, {"huge_pages": True})
] + [in_l1(huge_pages=False)]
