"""Do four threads make it four times faster? The same jobs, one after another and side by side.

Method: several workers do one job each, all of the same size. All ways of doing so (in a row, in
threads, in processes) are timed again and again, in shuffled order. The median of each way counts.
Each interpreter is a process of its own, also that of each other Python. It is started before the
clock runs, unless starting is measured. A second part asks how late a thread wakes that sleeps 1 ms
beside threads that compute: the lock is handed over once a switch interval.
Source: D. Beazley, Understanding the Python GIL (2010); PEP 684 (a lock for each interpreter), PEP
703 (free threading).

Not shown: the behaviour of other work; a job that reads or waits lets go of the lock.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.tools.interpreters import OWN, other_pythons
from machine.system.pythons import find

from .arms import BURNERS, SLEEPS, Arm, Arms

METHODS = ("serial", "threads", "released", "processes", "processes_started", "subinterpreters")
SAME_JOBS = ("serial", "threads", "subinterpreters", "processes", "processes_started")
IN_A_ROW = ("serial", "released_serial")
IN_PROCESSES = ("processes", "processes_started")
AT_ONCE = (*IN_PROCESSES, "subinterpreters", "released_threads")  # on several cores
ORDER = (*SAME_JOBS, "released_serial", "released_threads")  # the order of the plot
ASKED_WORKERS = 4  # in the question
EARLIER = 0.9  # of its lateness beside one thread
HARDLY = 0.2  # a gain below that is next to nothing: several cores would give 100 % and more
OTHERWISE = 1.25  # times longer or shorter than expected


class Params(x.Params):
    """The parameters."""

    workers: int = x.param(4, minimum=1, maximum=64)
    job_s: float = x.param(0.15, minimum=0.005, maximum=10.0, scale="log10")
    job: str = x.param("loop", choices=("loop", "sort", "sleep"))
    methods: tuple[str, ...] = x.param(METHODS, choices=METHODS)
    pythons: tuple[str, ...] = x.param((), choices=other_pythons)
    rounds: int = x.param(11, minimum=1, maximum=50)
    switch_interval_s: float = x.param(0.005, minimum=1e-5, maximum=0.5, scale="log10")


class Timing(x.Row):
    """The time of all workers together, once; `gil`: does this Python have the GIL on."""

    method: str
    python: str
    repeat: int
    wall_s: float
    gil: bool


class Slice(x.Row):
    """A stretch in which a worker really ran, in the first round; time from the common start."""

    method: str
    python: str
    worker: int
    start_s: float
    end_s: float


class Wake(x.Row):
    """The delay of the sleeper's waking beside `burners` threads that compute."""

    burners: int
    repeat: int
    late_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a timing for each method and round, the slices of the first round, and the wakes."""
    with contextlib.ExitStack() as stack:
        arms, notes = Arms(params, bench, stack).build()
        yield from notes
        for turn, arm in bench.interleave(arms, params.rounds):
            answer = arm.run()
            if arm.method == "sleeper":
                for late_s in answer["late_s"]:
                    yield Wake(
                        burners=answer["burners"], repeat=turn.round, late_s=max(late_s, 0.0)
                    )
            else:
                yield Timing(
                    method=arm.method,
                    python=arm.python,
                    repeat=turn.round,
                    wall_s=answer["wall_s"],
                    gil=answer["gil"],
                )
                if turn.round == 0:
                    yield from _slices(arm, answer)
            yield x.Progress(turn.fraction)


def _slices(arm: Arm, answer: dict[str, Any]) -> Iterator[Slice]:
    for worker, marks in enumerate(answer["slices"]):
        for start_s, end_s in zip(marks[::2], marks[1::2], strict=True):
            yield Slice(
                method=arm.method,
                python=arm.python,
                worker=worker,
                start_s=max(start_s - answer["start_s"], 0.0),
                end_s=max(end_s - answer["start_s"], 0.0),
            )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the ways round by round; under the lock threads cannot be faster."""
    at_once = min(params.workers, x.physical_cores(machine) or 1)
    found_of = x.spreads(
        (((t.method, t.python), t.wall_s, t.repeat) for t in tables["timings"]),
        lambda way: at_once if way[0] in AT_ONCE else 1,
    )
    # Rounds are shuffled: the first row may be that of another Python.
    own = next((t.python for t in tables["timings"] if t.python not in params.pythons), OWN)
    of = {method: found for (method, python), found in found_of.items() if python == own}
    values: dict[str, float] = {"workers": params.workers}
    for (method, python), found in found_of.items():
        suffix = "" if python == own else "_python_" + re.sub(r"\W+", "_", python).strip("_")
        values[f"{method}{suffix}_s"] = found.median
    speedups, unclear = x.ratios(
        {name: (of[a], of[b]) for name, (a, b) in SPEEDUPS.items() if {a, b} <= of.keys()}
    )
    values |= speedups
    if "serial" in of:
        values["job_s"] = of["serial"].median / params.workers
        values["made_for_s"] = params.job_s
        is_asleep = params.job == "sleep"  # so it needs no core
        values["perfect_s"] = of["serial"].median / (params.workers if is_asleep else at_once)
    gil = [t.gil for t in tables["timings"] if t.python == own]
    if gil:
        values["gil_enabled"] = int(gil[-1])
    for burners, late in x.spreads(
        (wake.burners, wake.late_s, wake.repeat) for wake in tables["wakes"]
    ).items():
        values[f"sleeper_late_{_COUNTS[burners]}_s"] = late.median
    locked = params.job == "loop" and values.get("gil_enabled") == 1
    message = _message(of, params.workers, locked=locked, gil=values.get("gil_enabled") == 1)
    limits = _limits(params, of, machine)
    if locked and {"serial", "threads"} <= of.keys() and of["serial"].is_below(of["threads"]):
        limits.append("threads_slower")
    limits.add("sort_lets_go", params.job == "sort" and values.get("gil_enabled") == 1)
    limits.add("sorted_twice", params.job == "sort" and "released_serial" in of)
    limits.add("gaps_in_a_row", _has_gaps(tables["slices"], own, IN_A_ROW))
    is_room = params.workers <= (x.physical_cores(machine) or 1)
    limits.add("gaps_in_processes", is_room and _has_gaps(tables["slices"], own, IN_PROCESSES))
    beside = [values.get(f"sleeper_late_{name}_s", 0.0) for name in ("one", "two")]
    if values.get("gil_enabled") == 1 and 0 < beside[1] < EARLIER * beside[0]:
        limits.append("earlier_beside_two")
    by_chance = "threads_speedup"
    if locked and speedups.get(by_chance, 0.0) > 1 and by_chance not in unclear:
        unclear = (*unclear, by_chance)
    return x.Finding(message, values, tuple(limits), unclear)


SPEEDUPS = {
    "threads_speedup": ("serial", "threads"),
    "processes_speedup": ("serial", "processes"),
    "subinterpreters_speedup": ("serial", "subinterpreters"),
    "released_speedup": ("released_serial", "released_threads"),
}
_COUNTS = dict(zip(BURNERS, ("idle", "one", "two"), strict=True))


def _message(of: dict[str, x.Spread], workers: int, *, locked: bool, gil: bool) -> str:
    """Return the message; the GIL is blamed only where it is on and the job holds it: `locked`."""
    if "serial" not in of or "threads" not in of or workers == 1:
        return "nothing_to_compare"
    serial, threads, processes = of["serial"], of["threads"], of.get("processes")
    if x.too_few(each for each in (serial, threads, processes) if each is not None):
        return x.TOO_FEW
    if not locked and threads.is_below(serial):
        return "jobs_let_go" if gil else "threads_side_by_side"
    # Beside load many threads get more turns than one: it can make them quicker, not slower.
    if not threads.is_no_lower(serial, within=HARDLY, is_alike=True):
        return x.CANNOT_TELL
    if processes is not None and not processes.is_below(serial):
        return (
            "nothing_is_faster" if processes.is_no_lower(serial, within=HARDLY) else x.CANNOT_TELL
        )
    if not locked:
        return "threads_gain_nothing"
    return "threads_take_turns_processes_do_not" if processes else "threads_take_turns"


def _has_gaps(slices: Sequence[Slice], own: str, methods: Sequence[str]) -> bool:
    """Was a worker interrupted in ways where no other worker is in its way?"""
    alone = [(s.method, s.worker) for s in slices if s.method in methods and s.python == own]
    return len(alone) > len(set(alone))


def _limits(params: Params, of: dict[str, x.Spread], machine: x.Machine) -> x.Limits:
    limits = x.Limits()
    cores = x.physical_cores(machine) or 1
    limits.add("more_workers_than_cores", cores < params.workers)
    if params.job == "sleep":
        limits.append("sleep_never_runs")
    elif "serial" in of:
        factor = of["serial"].median / (params.job_s * params.workers)
        limits.add("not_as_made_for", max(factor, 1 / factor) > OTHERWISE)
        at_once = min(params.workers, cores)
        if "processes" in of and _falls_short(of["processes"], of["serial"], at_once):
            limits.append("not_perfect")
    limits.add("virtual_machine", x.is_virtual(machine))
    return limits


def _falls_short(processes: x.Spread, serial: x.Spread, at_once: int) -> bool:
    """Did the processes take longer than a perfect division of the jobs in a row?"""
    perfect = x.spreads((0, taken_s / at_once, n) for n, taken_s in serial.by_round.items())[0]
    return perfect.is_below(processes) and processes.median > OTHERWISE * perfect.median


def defaults(machine: x.Machine) -> Params:
    """Use four workers, as the question does, and every free-threaded Python found."""
    free_threaded = tuple(
        python.name for python in find(free_threaded=True) if python.free_threaded
    )
    return Params(workers=ASKED_WORKERS, pythons=free_threaded)


def quick(params: Params) -> Params:
    """Do shorter jobs, in few rounds, and start no processes anew, which takes longest."""
    methods = tuple(method for method in params.methods if method != "processes_started")
    return replace(params, methods=methods, job_s=0.03, rounds=5)


def seconds(params: Params) -> float:
    """Estimate: every method once a round, the sleeper beside 0, 1 and 2 threads, and warm-up."""
    in_turn = sum({"serial": 1, "threads": 1, "released": 1.5}.get(m, 0) for m in params.methods)
    jobs = (
        in_turn * params.workers + 0.6 * params.workers + 2.5 * params.workers * len(params.pythons)
    )
    sizing = 6 * (2 if "released" in params.methods else 1)  # three looks, each at two jobs
    starting_s = 0.1 + 0.05 * params.workers if "processes_started" in params.methods else 0.0
    sleeper_s = SLEEPS * (0.0011 + 3.5 * params.switch_interval_s + 0.002)
    jobs_s = ((params.rounds + 1) * jobs + sizing) * params.job_s
    return jobs_s + params.rounds * (sleeper_s + starting_s) + 0.5


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"timings": Timing, "slices": Slice, "wakes": Wake},
    measure=measure,
    loop="jobs.py:loop",
    analyse=analyse,
    views=(
        x.Bars(
            "wall",
            "timings",
            "method",
            "wall_s",
            detail="python",
            order=ORDER,
            limits=(
                x.Limit("one_after_another", "serial_s", "x", of=SAME_JOBS),
                x.Limit("perfect", "perfect_s", "x", of=SAME_JOBS),
            ),
        ),
        x.Timeline(
            "lanes",
            "slices",
            "worker",
            "start_s",
            "end_s",
            group="method",
            detail="python",
            order=ORDER,
        ),
        x.Bars("sleeper", "wakes", "burners", "late_s"),
    ),
    values=x.values(
        "job_s",
        "made_for_s",
        "serial_s",
        "threads_s",
        "processes_s",
        "processes_started_s",
        "released_threads_s",
        "released_serial_s",
        "subinterpreters_s",
        "threads_speedup",
        x.Value("processes_speedup", x.Part.CORES),
        x.Value("released_speedup", x.Part.CORES),
        "subinterpreters_speedup",
        "perfect_s",
        "workers",
        "gil_enabled",
        "sleeper_late_idle_s",
        "sleeper_late_one_s",
        "sleeper_late_two_s",
    ),
    keys=(
        x.Key("serial_s", "wall", ("serial",)),
        x.Key("threads_s", "wall", ("threads",)),
        x.Key("processes_s", "wall", ("processes",)),
    ),
    next=x.Next("waiting", {"job_s": 0.005}),
    parts=(x.Part.CORES,),
    defaults=defaults,
    quick=quick,
    smallest=x.change(job_s=0.005, rounds=2, workers=2),
    budget=x.Budget(full={"job_s": 0.005}, quick={"job_s": 0.005}),
    seconds=seconds,
    memory_bytes=lambda params: params.workers * 60 * x.MIB,
    is_in_tour=True,
)
