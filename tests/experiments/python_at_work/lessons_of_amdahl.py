"""Runs in which amdahl shows something else than usual."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.amdahl.experiment import (
    GROWING,
    IDEAL,
    MEASURED,
    MEMORY,
    Params,
    Run,
    Speedup,
    by_law,
)
from tests.experiments.machines import machine

USUAL = {
    "cores": 4, "best_workers": 4, "best_speedup": 3.4, "law_speedup": 3.48,
    "parallel_fraction": 0.94,
}  # fmt: skip
LAW = Params(most_workers=4)


def seconds(params: Params, workers: int) -> float:
    """Return how long a job of one second takes `workers` that never slow down."""
    shared_s = 1 - params.serial_fraction
    return params.serial_fraction + (shared_s if params.problem == GROWING else shared_s / workers)


def made(
    message: str,
    *,
    params: Params = LAW,
    cores: int = 4,
    threads_per_core: int = 1,
    values: dict[str, float] = USUAL,
) -> LessonRun:
    counts = [n for n in (1, 2, 3, 4, 6, 8) if n <= params.most_workers]
    speedups = [
        Speedup(curve=curve, workers=n, repeat=0, speedup=speedup)
        for n in counts
        for curve, speedup in (
            (IDEAL, float(n)),
            (MEASURED, by_law(params, 1 - params.serial_fraction, n)),
        )
    ]
    runs = [Run(workers=n, repeat=0, wall_s=seconds(params, n), each_per_s=1.0) for n in counts]
    return LessonRun(
        params=params,
        tables={"speedups": speedups, "runs": runs, "losses": [], "core_speeds": []},
        machine=machine(cores=cores, threads_per_core=threads_per_core),
        message=message,
        values=values | {"serial_fraction": params.serial_fraction},
    )


def modelled(params: Params) -> LessonRun:
    """Return the run of workers that never slow down, on as many cores as there are workers."""
    workers = min(params.most_workers, 4)
    values = USUAL | {
        "best_workers": workers,
        "best_speedup": by_law(params, 1 - params.serial_fraction, workers),
    }
    message = "grows_as_chosen" if params.problem == GROWING else "scales_as_chosen"
    return made(message, params=params, values=values)


def slower(rate: float, clock: float) -> LessonRun:
    """Return a run by the law whose workers kept these shares of their rate and of the clock."""
    usual = made("scales_as_chosen")
    runs = [
        replace(row, each_per_s=rate if row.workers > 1 else 1.0) for row in usual.tables["runs"]
    ]
    values = {**usual.values, "clock_beside_over_alone": clock}
    return replace(usual, tables={**usual.tables, "runs": runs}, values=values)


REACHING = {"passed_the_law": Params(serial_fraction=0.5, problem=GROWING)}

ALONE = replace(LAW, most_workers=1)
GROWN, READ = replace(LAW, problem=GROWING), replace(LAW, kernel=MEMORY)
RUNS = {
    "one_core": made("nothing_to_compare", params=ALONE, cores=1, values={"cores": 1}),
    "no_gain": made("does_not_scale", values={"cores": 4, "best_speedup": 1.01}),
    "work_grows": made("grows_as_chosen", params=GROWN),
    "work_grows_less": made("grows_less", params=GROWN),
    "all_shared": made("scales_as_chosen", params=replace(LAW, serial_fraction=0.0)),
    "beyond_cores": made(
        "scales_as_chosen", params=replace(LAW, most_workers=8), threads_per_core=2
    ),
    "more_were_possible": made("scales_as_chosen", params=replace(LAW, most_workers=2)),
    "memory_is_shared": made("scales_less_memory", params=READ),
    "workers_slowed_down": made("scales_less"),
    "law_unclear": made("scales_unclear"),
    "slower_beside_others": slower(0.97, 0.999),
    "few_workers": made("scales_as_chosen", params=replace(LAW, most_workers=2)),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
