"""Runs in which false-sharing shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.false_sharing.experiment import (
    DISTANCES_BYTES,
    Increment,
    Params,
)
from experiments.tools.neighbours import SAME_CACHE
from tests.experiments.machines import machine

USUAL = {
    "same_line_s": 3e-8, "far_apart_s": 3e-9, "alone_s": 3e-9, "slowdown": 10.0,
    "line_bytes_seen": 64.0, "fall_bytes": 64.0, "nearest_bytes": 8, "farthest_bytes": 512,
}  # fmt: skip
APART = USUAL | {"first_bytes": 56, "line_bytes": 64}
ALIKE = USUAL | {"same_line_s": 3e-9, "slowdown": 1.0}
FELL_AT_64 = {at: 3e-8 if at < 64 else 3e-9 for at in DISTANCES_BYTES}


def rows(times: Mapping[int, float], rounds: int) -> list[Increment]:
    return [
        Increment(pair=SAME_CACHE, distance_bytes=at, repeat=n, increment_s=s, together_per_s=2 / s)
        for n in range(rounds)
        for at, s in times.items()
    ]


def made(
    message: str,
    *limits: str,
    rounds: int = 15,
    cores: int = 4,
    values: Mapping[str, float] = USUAL,
) -> LessonRun:
    return LessonRun(
        params=Params(rounds=rounds),
        tables={"increments": rows(FELL_AT_64, rounds) if cores > 1 else [], "alone": []},
        machine=machine(cores=cores),
        message=message,
        values=values,
        limits=limits,
    )


def modelled(params: Params) -> LessonRun:
    """Return the run in which counters fight that lie in one line of 64 bytes."""
    first = params.first_bytes // 8 * 8
    is_one_line = {at: first // LINE_BYTES == (first + at) // LINE_BYTES for at in DISTANCES_BYTES}
    times = {at: 3e-8 if is_one else 3e-9 for at, is_one in is_one_line.items()}
    run = made(FIGHT if any(is_one_line.values()) else "apart_anyway")
    tables = {"increments": rows(times, params.rounds), "alone": []}
    return replace(run, params=params, tables=tables, values=APART)


FIGHT = "neighbours_fight"
LINE_BYTES = 64
REACHING = {"falls_at_16": Params(first_bytes=48, rounds=30)}
RUNS = {
    "one_core": made("nothing_to_compare", "no_two_cores", cores=1, values={"alone_s": 3e-9}),
    "alike": made("alike", values=ALIKE),
    "near_is_faster": made("near_is_faster", values=ALIKE | {"slowdown": 0.8}),
    "pair_of_lines": made(FIGHT, values=USUAL | {"line_bytes": 64, "line_bytes_seen": 128}),
    "plain_lose_less": made(FIGHT, "plain_is_forwarded"),
    "apart_anyway": made("apart_anyway", values=APART),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
