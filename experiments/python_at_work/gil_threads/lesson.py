"""Functions that the lesson of gil-threads calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from experiments import api as x

from .experiment import IN_A_ROW, SAME_JOBS, Slice

LIKE = 1.05  # times: bars that end this close to each other are a tie
MANY = 8  # threads
ONE_JOB = 1.5  # times as long as one job: clearly not two
FAR_LONGER = 5.0  # times
DRAWN = 4  # threads, and as many processes
MOST_HOLDS = 190  # of the 200 events of a motion


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float | str]:
    """Return the threads' time in jobs, and the share of it in which two or more computed."""
    found: dict[str, float | str] = {}
    if (jobs := jobs_in_threads(run)) is not None:
        found["jobs"] = f"{jobs:.2g}"
    lanes: dict[int, list[x.Interval]] = {}
    for each in _slices(run, "threads"):
        lanes.setdefault(each.worker, []).append((each.start_s, each.end_s))
    if "threads_s" in run.values:
        found["at_once_fraction"] = x.length_s(_at_once(lanes.values())) / run.values["threads_s"]
    return found


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
    """Return the way to do the same jobs that is nearest to one after another, and its ties."""
    walls = x.medians((row.method, row.wall_s) for row in run.tables["timings"])
    serial_s = walls.get("serial")
    off = {
        method: max(walls[method] / serial_s, serial_s / walls[method])
        for method in SAME_JOBS
        if serial_s is not None and method in walls and method not in IN_A_ROW
    }
    most = LIKE * min(off.values(), default=0.0)
    return x.Spot(names=tuple(method for method, times in off.items() if times <= most))


def one_worker(run: x.LessonRun) -> bool:
    """Was there a single job, so that nothing could run side by side?"""
    return run.message == "nothing_to_compare" and bool(run.params.workers == 1)


def one_core(run: x.LessonRun) -> bool:
    """Could the program use one core only, and gained nothing?"""
    is_one = x.physical_cores(run.machine) == 1
    return is_one and run.message in {"nothing_is_faster", "threads_gain_nothing"}


# Did threads run side by side, because the jobs let go of the GIL?
jobs_let_go = x.found("jobs_let_go")
# Did threads run Python side by side, without the GIL?
threads_ran_side_by_side = x.found("threads_side_by_side")
# Were processes faster, and threads not?
processes_gained = x.found("threads_take_turns_processes_do_not")


def no_lock_no_gain(run: x.LessonRun) -> bool:
    """Did threads gain nothing, though the jobs did not hold the GIL?"""
    is_held = run.params.job == "loop" and run.values.get("gil_enabled") == 1
    return run.message in {"nothing_is_faster", "threads_gain_nothing"} and not is_held


def processes_gained_nothing(run: x.LessonRun) -> bool:
    """Were processes no faster on several cores?"""
    return run.message == "nothing_is_faster" and x.physical_cores(run.machine) != 1


def starting_costs_the_gain(run: x.LessonRun) -> bool:
    """Were waiting processes faster, and processes that had to be started clearly slower?"""
    if not processes_gained(run) or "processes_started_s" not in run.values:
        return False
    return run.values["processes_started_s"] > LIKE * run.values["serial_s"]


def shared_data(run: x.LessonRun) -> bool:
    """Did the threads take turns, so that the GIL may seem to protect data?"""
    return run.message.startswith("threads_take_turns")


def eight_in_the_time_of_one(run: x.LessonRun) -> bool:
    """Did eight threads or more need no more than one job, with the GIL on?"""
    jobs = jobs_in_threads(run)
    is_many = run.values.get("workers", 0) >= MANY and run.values.get("gil_enabled") == 1
    return jobs is not None and is_many and jobs <= ONE_JOB


def starting_costs_most(run: x.LessonRun) -> bool:
    """Did processes that had to be started take far longer than threads?"""
    if not {"processes_started_s", "threads_s"} <= run.values.keys():
        return False
    return run.values["processes_started_s"] >= FAR_LONGER * run.values["threads_s"]


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return when each thread held the GIL in the first round, and when each process ran."""
    threads, processes = (_turns(_slices(run, each)) for each in ("threads", "processes"))
    if not shared_data(run) or run.params.workers > DRAWN or not threads:
        return None
    holds = [_hold(each, "thread", role="attention", label="gil") for each in threads]
    holds += [_hold(each, "process", label="own") for each in processes]
    holds.sort(key=lambda hold: hold.start_s)
    duration_s = max(hold.end_s for hold in holds)
    if len(holds) > MOST_HOLDS:  # long jobs take more turns than a motion may show
        duration_s = holds[MOST_HOLDS].start_s
    shown = (replace(hold, end_s=min(hold.end_s, duration_s)) for hold in holds[:MOST_HOLDS])
    says = [x.Say(text="one_runs", start_s=0.0)]
    if processes:
        says.append(x.Say(text="own_gils", start_s=duration_s / 4))
        if (done_s := max(each.end_s for each in processes)) < duration_s:
            says.append(x.Say(text="processes_done", start_s=done_s))
    return x.Motion(
        scenes=(x.Scene(events=tuple(shown)),),
        duration_s=duration_s,
        stills=(duration_s / 10, duration_s / 2, duration_s * 0.9),
        says=tuple(says),
    )


def _slices(run: x.LessonRun, method: str) -> list[Slice]:
    """Return when the workers of a way ran, in this Python, in order."""
    rows = run.tables.get("slices", ())
    own = [row for row in rows if row.method == method and row.python not in run.params.pythons]
    return sorted(own, key=lambda row: row.start_s)


def _turns(slices: Iterable[Slice]) -> list[Slice]:
    """Join what a worker ran before another one of the same way began to run."""
    found: list[Slice] = []
    for each in slices:
        if found and found[-1].worker == each.worker:
            found[-1] = replace(found[-1], end_s=each.end_s)
        else:
            found.append(each)
    return found


def _hold(ran: Slice, shape: str, **look: Any) -> x.Hold:
    """Return that a worker's shape is lit while it runs."""
    return x.Hold(shape=f"{shape}_{ran.worker}", start_s=ran.start_s, end_s=ran.end_s, **look)


def _at_once(lanes: Iterable[list[x.Interval]]) -> list[x.Interval]:
    """Return when two lanes or more were filled."""
    filled: list[x.Interval] = []
    twice: list[x.Interval] = []
    for lane in lanes:
        twice += x.in_both(filled, lane)
        filled += lane
    return x.merged(twice)
