"""What does one shared counter cost?

Method: one thread, then more and more, raise a counter, each thread kept on a core of its own
(pinned). There are three ways. All share a counter with atomic additions, all share a counter
behind a lock, or each has its own. A thread's own counter has a cache line of its own and gets the
same atomic additions. Only the time counts in which all of them ran. At the end the counters must
hold what was added. Ways and numbers of threads take turns.
Source: P. McKenney, Is Parallel Programming Hard, And, If So, What Can You Do About It?, chapter 5
(counting).

Not shown: the cost of a counter that threads raise now and then, with other work between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import turn_seconds_together

ATOMIC, MUTEX, SHARDED = WAYS = ("atomic", "mutex", "sharded")
SAMPLE_S, TURN_S = 0.01, 0.0002  # a turn of one thread alone; beside others, many times that
FIRST_COUNT = 1_000
APART_BYTES = 256  # a prefetcher may take two lines at once
SLOWER = 2.0  # a contended sample over SAMPLE_S, on average


class Params(x.Params):
    """The parameters; `most_threads` as far as there are cores."""

    most_threads: int = x.param(64, minimum=2, maximum=512, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=100)


class Rate(x.Row):
    """One repeat: increments in a second, of all threads together; how many were lost."""

    way: str
    threads: int = x.column(scale="log2")
    repeat: int
    increments_per_s: float = x.column(scale="log10")
    lost: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each way, number of threads and round."""
    cores = [thread.id for thread in by_topology(bench.machine)][-params.most_threads :]
    counts = sorted({*x.ladder(1, len(cores), 2), len(cores)})
    works = {way: Work(way, len(cores), bench) for way in WAYS}
    for turn, (way, threads) in bench.interleave(
        list(itertools.product(WAYS, counts)), params.rounds
    ):
        per_s, lost = works[way].together(cores[-threads:])
        yield Rate(way=way, threads=threads, repeat=turn.round, increments_per_s=per_s, lost=lost)
        yield x.Progress(turn.fraction)


class Work:
    """One way to count, and how many increments take a turn of TURN_S while it is alone."""

    def __init__(self, way: str, most_threads: int, bench: x.Bench) -> None:
        self._memory, self._way = Buffer((most_threads + 2) * APART_BYTES), way
        self._bench, self._calls = bench, 0
        self._memory.words.fill(0)
        with bench.pinned():
            job = self._job(0)
            self._count = bench.repeat_for(job, at_least_s=TURN_S, start=FIRST_COUNT)

    def _job(self, place: int) -> Callable[[int], None]:
        """Return the function that raises the counter of a thread a given number of times."""
        from .kernels import raise_atomic, raise_locked

        lock, first = int(self._memory.address), int(self._memory.address) + APART_BYTES
        if self._way == MUTEX:
            return partial(raise_locked, first, lock)
        return partial(raise_atomic, first + (place * APART_BYTES if self._way == SHARDED else 0))

    def together(self, cores: list[int]) -> tuple[float, int]:
        """Return the increments in a second of threads on these cores, and how many were lost."""
        self._memory.words[APART_BYTES // 8 :] = 0
        calls = [0] * len(cores)

        def turn(place: int, job: Callable[[int], None]) -> None:
            job(self._count)
            calls[place] += 1

        jobs = [(core, partial(turn, n, self._job(n))) for n, core in enumerate(cores)]
        turns_s = turn_seconds_together(self._bench, jobs, at_least_s=SAMPLE_S)
        counted = int(self._memory.words[APART_BYTES // 8 :].sum())
        return sum(self._count / each_s for each_s in turns_s), sum(calls) * self._count - counted


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare each way at all threads with one, and both shared ones with a counter for each."""
    rows = tables["rates"]
    of = x.spreads_of(rows, "increments_per_s", "way", "threads", busy_cores=lambda kind: -kind[1])
    most = max((threads for _, threads in of), default=0)
    values: dict[str, float] = {"threads": most} if of else {}
    for way in WAYS:
        for threads, name in ((1, f"{way}_one_per_s"), (most, f"{way}_per_s")):
            if (way, threads) in of:
                values[name] = of[way, threads].median
    limits = x.Limits(["nothing_between"])
    limits.add("lost", any(row.lost for row in rows))
    limits.add("virtual_machine", x.is_virtual(machine))
    if most < 2 or not all((way, n) in of for way in WAYS for n in (1, most)):
        return x.Finding("nothing_to_compare", values, tuple(limits))
    one, every = of[ATOMIC, 1], of[ATOMIC, most]
    compared, unclear = x.ratios(
        {
            "atomic_slowdown": (one, every),
            "mutex_slowdown": (of[MUTEX, 1], of[MUTEX, most]),
            "sharded_speedup": (of[SHARDED, most], of[SHARDED, 1]),
            "sharded_over_atomic": (of[SHARDED, most], every),
        },
        verdict=("atomic_slowdown", "sharded_over_atomic"),
    )
    sharded = of[SHARDED, most]
    message = x.unsure((one, every), (sharded, every)) or _message(one, every, sharded)
    return x.Finding(message, values | compared, tuple(limits), unclear)


def _message(one: x.Spread, every: x.Spread, sharded: x.Spread) -> str:
    if every.is_below(one):
        return "sharing_costs"
    return "sharing_gains_less" if every.is_below(sharded) else "sharing_is_free"


def seconds(params: Params) -> float:
    """Estimate: numbers of threads double up to the most; contended samples take longer."""
    counts = len(x.ladder(1, params.most_threads, 2)) + 1
    return 0.8 + params.rounds * len(WAYS) * counts * SLOWER * SAMPLE_S


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"rates": Rate},
    measure=measure,
    loop="kernels.py:raise_atomic",
    analyse=analyse,
    views=(
        x.Lines(
            "rates",
            "rates",
            x.Axis("threads"),
            x.Axis("increments_per_s"),
            series="way",
            order=WAYS,
        ),
        x.Bars("bars", "rates", "way", "increments_per_s", detail="threads", order=WAYS),
    ),
    values=x.values(
        *(name for way in WAYS for name in (f"{way}_one_per_s", f"{way}_per_s")),
        "atomic_slowdown",
        "mutex_slowdown",
        "sharded_speedup",
        "sharded_over_atomic",
        "threads",
    ),
    keys=tuple(x.Key(f"{way}_per_s", "rates", (way,), at="threads") for way in WAYS),
    next=x.Next("false-sharing", {"rounds": lambda rounds: max(rounds, 30)}),
    parts=(x.Part.CORES, x.Part.L1),
    uses=(x.Use.PINNING,),
    needs=(x.Need.CORE_PAIR,),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(most_threads=min(64, max(2, len(by_topology(machine))))),
    quick=x.change(at_most={"rounds": 5, "most_threads": 8}),
    smallest=x.change(most_threads=2, rounds=3),
    budget=x.Budget(full={"rounds": 5}, quick={"rounds": x.ENOUGH, "most_threads": 2}),
    seconds=seconds,
    memory_bytes=lambda params: params.most_threads * APART_BYTES + 8 * x.MIB,
)
