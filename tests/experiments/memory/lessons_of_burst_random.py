"""Runs in which burst-random shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.burst_random.experiment import Params
from tests.experiments.machines import machine

USUAL = {
    "sequential_s": 4e-10, "random_s": 8e-9, "dependent_s": 1e-7, "reads_in_flight": 12.0,
    "random_over_sequential": 20.0, "dependent_over_sequential": 250.0,
}  # fmt: skip


def made(message: str, *limits: str, **values: float) -> LessonRun:
    return LessonRun(
        params=Params(),
        tables={"reads": []},
        machine=machine(),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


RUNS = {
    "fits_in_cache": made("three_answers", "partly_in_cache"),
    "all_alike": made("all_the_same", "partly_in_cache", random_over_sequential=1.02),
    "far_slower": made("three_answers"),
}
