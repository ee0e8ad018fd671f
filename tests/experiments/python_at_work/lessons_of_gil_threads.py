"""Runs in which gil-threads shows something else than usual."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.gil_threads.experiment import Params, Slice
from experiments.tools.interpreters import OWN
from tests.experiments.machines import machine

USUAL = {
    "workers": 4, "serial_s": 4.0, "threads_s": 4.1, "processes_s": 1.1, "perfect_s": 1.0,
    "released_threads_s": 1.1, "released_serial_s": 4.0, "threads_speedup": 0.98, "gil_enabled": 1,
}  # fmt: skip
STARTING_S = 0.025  # a process, roughly as measured
TURNS = "threads_take_turns_processes_do_not"


def made(
    message: str,
    cores: int = 4,
    *,
    params: Params = Params(),  # noqa: B008  (frozen)
    slices: Sequence[Slice] = (),
    **values: float,
) -> LessonRun:
    return LessonRun(
        params=params,
        tables={"timings": [], "slices": slices, "wakes": []},
        machine=machine(cores=cores),
        message=message,
        values=USUAL | values,
    )


def ran(method: str, *turns: tuple[int, float, float]) -> list[Slice]:
    """Return the slices of workers in seconds: (worker, start, end)."""
    return [
        Slice(method=method, python=OWN, worker=worker, start_s=start_s, end_s=end_s)
        for worker, start_s, end_s in turns
    ]


def modelled(params: Params, cores: int = 4) -> LessonRun:
    """Return the run that threads which share a lock, and processes which start, would make."""
    jobs_s = params.workers * params.job_s
    at_once = {"loop": 1, "sort": min(cores, params.workers), "sleep": params.workers}[params.job]
    in_processes = params.workers if params.job == "sleep" else min(cores, params.workers)
    times = {
        "serial_s": jobs_s,
        "threads_s": jobs_s / at_once,
        "processes_s": jobs_s / in_processes,
        "processes_started_s": jobs_s / in_processes
        + STARTING_S * params.workers / min(cores, params.workers),
    }
    left_out = {f"{name}_s" for name in ("serial", "threads", "processes", "processes_started")
                if name not in params.methods}  # fmt: skip
    run = made(TURNS if params.job == "loop" else "jobs_let_go", cores, params=params)
    values = USUAL | times | {"workers": params.workers}
    return replace(run, values={name: values[name] for name in values.keys() - left_out})


REACHING = {
    "eight_in_the_time_of_one": Params(workers=8, job="sleep"),
    "starting_costs_most": Params(job="sleep", job_s=0.005),
}

RUNS = {
    "one_worker": made("nothing_to_compare", params=Params(workers=1), workers=1, threads_s=1.0),
    "jobs_let_go": made("jobs_let_go", threads_s=1.1, threads_speedup=3.6),
    "threads_ran_side_by_side": made(
        "threads_side_by_side", gil_enabled=0, threads_s=1.1, threads_speedup=3.6
    ),
    "starting_costs_the_gain": made(TURNS, processes_started_s=4.5),
    "one_core": made("nothing_is_faster", cores=1),
    "no_lock_no_gain": made("threads_gain_nothing", params=Params(job="sort")),
    "processes_gained_nothing": made("nothing_is_faster", processes_s=4.2),
    "turns": made(
        TURNS,
        slices=[
            *ran("threads", (0, 0.0, 0.005), (1, 0.0052, 0.0152), (0, 0.0154, 0.0204)),
            *ran("processes", (0, 0.001, 0.006), (1, 0.001, 0.011)),
        ],
    ),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
