"""One of four crashes: who is left? Four threads, and four processes, of which one fails hard.

Method: four workers report again and again that they are alive. They are threads of one process, or
processes of their own. After a while one of them crashes for real. At the end each survivor
reports. It also says whether it sees the value that the first worker wrote into a variable. In a
third way one thread only raises an exception. All run in processes beside the measuring one.
Source: A. S. Tanenbaum, H. Bos, Modern Operating Systems, chapter 2 (threads share one address
space); POSIX: an uncaught signal ends the whole process.

Not shown: what a crash leaves behind in files, or in memory shared on purpose.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from experiments import api as x

from .jobs import ABORT, EXCEPTION, NULL
from .team import LATE_S, Team

THREADS, PROCESSES, RAISED = WAYS = ("threads", "processes", "exception")
_AFTER_EXCEPTION = "threads_left_after_exception"
FAILING = 1  # its number; worker 0 writes the variable


class Params(x.Params):
    """The parameters."""

    workers: int = x.param(4, minimum=3, maximum=16)
    crash: str = x.param(ABORT, choices=(ABORT, NULL))
    lane_s: float = x.param(1.0, minimum=0.1, maximum=10.0)
    rounds: int = x.param(3, minimum=1, maximum=50)


class Life(x.Row):
    """A stretch in which a worker was heard, in the first round; time from the common start."""

    way: str
    worker: int
    start_s: float
    end_s: float


class End(x.Row):
    """Who was left at the end, and how many others saw what the first worker wrote."""

    way: str
    repeat: int
    left: int
    seeing: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the lanes of the first round as they grow, and who is left in each way and round."""
    for turn, way in bench.interleave(WAYS, params.rounds):
        for item in _try(way, params, bench):
            if isinstance(item, End):
                yield replace(item, repeat=turn.round)
            elif turn.round == 0:
                yield item
        yield x.Progress(turn.fraction)


def _try(way: str, params: Params, bench: x.Bench) -> Iterator[Life | End]:
    how = EXCEPTION if way == RAISED else params.crash
    workers = params.workers
    team = Team(bench, workers=workers, failing=FAILING, how=how, in_processes=way == PROCESSES)
    with contextlib.closing(team):
        heard: set[int] = set()
        for said in team.until(bench.now_s() + LATE_S):
            heard.add(said["worker"])
            if len(heard) == workers:
                break
        if len(heard) < workers:
            raise x.UserError("workers_silent", limit_s=LATE_S)
        start_s = bench.now_s()
        last_s = dict.fromkeys(range(workers), 0.0)
        left: set[int] = set()
        seeing: set[int] = set()
        for said in _story(team, start_s, params.lane_s):
            worker, now_s = said["worker"], bench.now_s() - start_s
            yield Life(way=way, worker=worker, start_s=last_s[worker], end_s=now_s)
            last_s[worker] = now_s
            if "left" in said:
                left.add(worker)
                seeing |= {worker} if said["sees"] else set()
        yield End(way=way, repeat=0, left=len(left), seeing=len(seeing - {0}))


def _story(team: Team, start_s: float, lane_s: float) -> Iterator[dict[str, Any]]:
    yield from team.until(start_s + lane_s / 2)
    team.let_one_fail()
    yield from team.until(start_s + lane_s)
    yield from team.call()


def analyse(params: Params, tables: x.Tables, _machine: x.Machine) -> x.Finding:
    """Count the workers left in each way; a limit says where rounds differ."""
    left, seeing = (x.collected(tables["ends"], name, "way") for name in ("left", "seeing"))
    values: dict[str, float] = {"workers": params.workers, "others": params.workers - 1}
    for way, name in (
        (THREADS, "threads_left"),
        (PROCESSES, "processes_left"),
        (RAISED, _AFTER_EXCEPTION),
    ):
        if way in left:
            values[name] = max(left[way]) if way == THREADS else min(left[way])
    # Threads that crashed cannot be asked; those beside an exception live in one process as well.
    if RAISED in seeing:
        values["shared_write_visible"] = min(seeing[RAISED])
    if PROCESSES in seeing:
        values["processes_seeing_write"] = max(seeing[PROCESSES])
    limits = x.Limits()
    limits.add("only_this_thread", values.get(_AFTER_EXCEPTION))
    if {THREADS, PROCESSES} - left.keys():
        return x.Finding("nothing_to_compare", values, tuple(limits))
    limits.add("not_always", any(len(set(counts)) > 1 for counts in left.values()))
    if values["threads_left"] == 0 and values["processes_left"] == params.workers - 1:
        return x.Finding("threads_all_gone", values, tuple(limits))
    return x.Finding("otherwise", values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate: three ways a round, each with the start of its processes."""
    starts_s = 0.06 * (params.workers + 2)
    return params.rounds * (3 * params.lane_s + starts_s) + 0.2


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"lives": Life, "ends": End},
    measure=measure,
    loop="jobs.py:work",
    analyse=analyse,
    views=(
        x.Timeline("lanes", "lives", "worker", "start_s", "end_s", group="way", order=WAYS),
        x.Bars(
            "left", "ends", "way", "left", order=WAYS, limits=(x.Limit("others", "others", "x"),)
        ),
    ),
    values=x.values(
        "threads_left",
        "processes_left",
        "threads_left_after_exception",
        "shared_write_visible",
        "processes_seeing_write",
        "workers",
        "others",
    ),
    keys=(
        x.Key("threads_left", "left", (THREADS,)),
        x.Key("processes_left", "left", (PROCESSES,)),
        x.Key("threads_left_after_exception", "left", (RAISED,)),
    ),
    next=x.Next("start-cost", {"crash": NULL}),
    parts=(x.Part.CORES, x.Part.MEMORY),
    defaults=lambda _machine: Params(),
    quick=x.change(lane_s=0.6, rounds=1),
    smallest=x.change(lane_s=0.2, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: params.workers * 20 * x.MIB,
)
