"""What the lesson of gil-threads computes."""

from __future__ import annotations

from experiments import api as x

SIDE_BY_SIDE = "threads_side_by_side"
LIKE = 1.15  # times: bars that are this close look as long


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float | str]:
    """Return the threads' time in jobs: 4 s where one job takes 1 s."""
    jobs = jobs_in_threads(run)
    return {} if jobs is None else {"jobs_in_threads": f"as long as {jobs:.1f} jobs"}


def jobs_in_threads(run: x.LessonRun) -> float | None:
    """Return how many jobs one thread does in the time that all threads need."""
    if not {"threads_s", "serial_s", "workers"} <= run.values.keys():
        return None
    return run.values["workers"] * run.values["threads_s"] / run.values["serial_s"]


def nearest_option(run: x.LessonRun) -> int | None:
    """Return the option that is nearest to what was measured, for four jobs."""
    jobs = jobs_in_threads(run)
    if jobs is None:
        return None
    four = 4 * jobs / run.values["workers"]
    return next((n for n, most in enumerate((1.5, 3.0, 4.4)) if four <= most), 3)


def bars_like_the_first(run: x.LessonRun) -> x.Spot:
    """Return the ways that took about as long as one after another."""
    walls = x.medians((row.method, row.wall_s) for row in run.tables["timings"])
    if (serial_s := walls.get("serial")) is None:  # it was not chosen
        return x.Spot()
    return x.Spot(
        names=tuple(
            method
            for method, wall_s in walls.items()
            if method != "serial" and 1 / LIKE <= wall_s / serial_s <= LIKE
        )
    )


def jobs_let_go(run: x.LessonRun) -> bool:
    """Did threads run side by side, although this Python has the GIL?"""
    return run.message == SIDE_BY_SIDE and run.values.get("gil_enabled") == 1


def threads_ran_side_by_side(run: x.LessonRun) -> bool:
    """Did threads run Python side by side, as without the GIL?"""
    return run.message == SIDE_BY_SIDE and not jobs_let_go(run)


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only?"""
    return x.physical_cores(run.machine) == 1


def processes_gained_nothing(run: x.LessonRun) -> bool:
    """Were processes no faster on several cores?"""
    return run.message == "nothing_is_faster" and not one_core(run)


def processes_lost(run: x.LessonRun) -> bool:
    """Did processes take longer than threads?"""
    times = run.values.get("processes_s"), run.values.get("threads_s")
    return None not in times and times[0] > times[1]  # type: ignore[operator]


def threads_gained(run: x.LessonRun) -> bool:
    """Did threads gain with the work that was chosen?"""
    return run.message == SIDE_BY_SIDE or (
        "threads_speedup" not in run.unclear and run.values.get("threads_speedup", 0.0) > LIKE
    )
