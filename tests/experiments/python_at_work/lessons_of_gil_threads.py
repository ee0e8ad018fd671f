"""Runs in which gil-threads shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.gil_threads.experiment import Params
from tests.experiments.machines import machine

USUAL = {
    "workers": 4, "serial_s": 4.0, "threads_s": 4.1, "processes_s": 1.1, "perfect_s": 1.0,
    "released_threads_s": 1.1, "released_serial_s": 4.0, "threads_speedup": 0.98,
}  # fmt: skip


def made(message: str, cores: int = 4, **values: float) -> LessonRun:
    return LessonRun(
        params=Params(),
        tables={"timings": []},
        machine=machine(cores=cores),
        message=message,
        values=USUAL | values,
    )


RUNS = {
    "jobs_let_go": made("threads_side_by_side", threads_s=1.1, threads_speedup=3.6, gil_enabled=1),
    "threads_ran_side_by_side": made(
        "threads_side_by_side", threads_s=1.1, threads_speedup=3.6, gil_enabled=0
    ),
    "one_core": made("nothing_is_faster", cores=1),
    "processes_gained_nothing": made("nothing_is_faster", processes_s=4.2),
}
