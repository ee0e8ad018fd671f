"""Do four threads make it four times faster? The same jobs, one after another and side by side.

Method: each of n workers does one job of fixed size; every way of doing so is timed in turn, in
shuffled rounds, and compared by the median. Each interpreter is a process of its own (the chosen
other Pythons too), started before the clock runs, except where starting is the thing measured.
A second part asks how late a thread wakes that sleeps 1 ms beside threads that compute: the lock
is handed over once a switch interval.
Source: D. Beazley, Understanding the Python GIL (2010); PEP 684 (a lock for each interpreter),
PEP 703 (free threading).

What it cannot tell: how other work behaves; a job that reads or waits lets go of the lock.
"""

from __future__ import annotations

import contextlib
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from experiments.bench import Bench
from experiments.declare import (
    Experiment,
    Finding,
    Measured,
    Note,
    Part,
    Progress,
    Shelf,
    Tables,
    Value,
    column,
    param,
)
from experiments.python_at_work.interpreters import Interpreter
from experiments.statistics import Spread, spread
from experiments.views import Bars, Limit, Timeline
from machine.model import Machine, physical_cores
from machine.pythons import find

OWN = ".".join(platform.python_version_tuple()[:2]) + ("t" if "t" in sys.abiflags else "")
METHODS = ("serial", "threads", "released", "processes", "processes_started", "subinterpreters")
ORDER = (
    "serial",
    "threads",
    "released_serial",
    "released_threads",
    "subinterpreters",
    "processes",
    "processes_started",
)  # in which the ways are shown
BURNERS = (0, 1, 2)
SLEEPS = 25  # samples of the sleeper in each round
FEW_ROUNDS = 5
SIZE_TRIES, SIZE_TOLERANCE = 6, 0.05


def other_pythons() -> tuple[str, ...]:
    """Return the names of the other CPythons of this machine, such as "3.13" or "3.14t"."""
    return tuple(python.name for python in find())


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What may be turned."""

    workers: int = param(4, minimum=1, maximum=64)
    job_s: float = param(0.15, unit="s", minimum=0.005, maximum=10.0, scale="log10")
    job: str = param("loop", choices=("loop", "sort", "sleep"))
    methods: tuple[str, ...] = param(METHODS, choices=METHODS)
    pythons: tuple[str, ...] = param((), choices=other_pythons)
    rounds: int = param(9, minimum=1, maximum=50)
    switch_interval_s: float = param(0.005, unit="s", minimum=1e-5, maximum=0.5, scale="log10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long all workers together took, once; `gil`: does this Python have the lock on."""

    method: str = column()
    python: str = column()
    repeat: int = column()
    wall_s: float = column("s")
    gil: bool = column()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch in which a worker really ran, in the first round; time from the common start."""

    method: str = column()
    python: str = column()
    worker: int = column()
    start_s: float = column("s")
    end_s: float = column("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """How late the sleeper woke beside `burners` threads that compute."""

    burners: int = column()
    repeat: int = column()
    late_s: float = column("s", scale="log10")


@dataclass(frozen=True, slots=True)
class _Arm:
    method: str
    python: str
    run: Callable[[], dict[str, Any]]


def measure(params: Params, bench: Bench) -> Measured:
    """Yield a timing for each method and round, the slices of the first round, and the wakes."""
    with contextlib.ExitStack() as stack:
        arms, notes = _Arms(params, bench, stack).build()
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
            yield Progress(turn.fraction)


class _Arms:
    """Starts the interpreters, sizes the jobs, and says what one turn of each method is."""

    def __init__(self, params: Params, bench: Bench, stack: contextlib.ExitStack) -> None:
        self._params, self._bench, self._stack = params, bench, stack

    def build(self) -> tuple[list[_Arm], list[Note]]:
        """Return the arms, warmed up, and what has to be said of those left out."""
        params, notes = self._params, []
        own = self._start(OWN, [sys.executable, "-P"])
        size = self._size(own, params.job)
        arms = []
        if "serial" in params.methods:
            arms.append(self._arm("serial", own, "serial", params.job, size))
        if "threads" in params.methods:
            arms.append(self._arm("threads", own, "threads", params.job, size))
        if "released" in params.methods:
            sorts = self._size(own, "sort")
            arms.append(self._arm("released_serial", own, "serial", "sort", sorts))
            arms.append(self._arm("released_threads", own, "threads", "sort", sorts))
        if "processes" in params.methods:
            pool = [self._start(OWN, [sys.executable, "-P"]) for _ in range(params.workers)]
            arms.append(_Arm("processes", OWN, lambda: self._in_pool(pool, size)))
        if "processes_started" in params.methods:
            arms.append(_Arm("processes_started", OWN, lambda: self._in_new_processes(size)))
        if "subinterpreters" in params.methods and sys.version_info >= (3, 12):
            arms.append(self._arm("subinterpreters", own, "subinterpreters", params.job, size))
        arms += self._other_pythons(size)
        arms += [_Arm("sleeper", OWN, lambda n=n: self._sleeper(own, n)) for n in BURNERS]  # type: ignore[misc]
        for arm in arms:  # everything has run once before it is timed
            if arm.method != "sleeper":
                arm.run()
        if "subinterpreters" in params.methods and not any(
            a.method == "subinterpreters" for a in arms
        ):
            notes.append(Note("no_subinterpreters", {"python": OWN}))
        return arms, notes

    def _other_pythons(self, size: int) -> Iterator[_Arm]:
        if self._params.job == "sort":
            return  # no NumPy can be counted on there
        for python in find():
            if python.name not in self._params.pythons:
                continue
            other = self._start(python.name, [str(python.path), "-I", "-S"])
            for method in ("serial", "threads", "subinterpreters"):
                if method in self._params.methods and (
                    method != "subinterpreters" or python.subinterpreters
                ):
                    yield self._arm(method, other, method, self._params.job, size)

    def _start(self, name: str, command: list[str]) -> Interpreter:
        interpreter = Interpreter(name, command, self._bench.check_stop)
        self._stack.callback(interpreter.close)
        return interpreter

    def _size(self, python: Interpreter, job: str) -> int:
        """Return the size for which one job takes `job_s`; a core may need a while to get going."""
        if job == "sleep":
            return round(self._params.job_s * 1e6)
        size = 5 if job == "sort" else 20_000
        for _ in range(SIZE_TRIES):
            taken_s = min(self._ask(python, "serial", 1, job, size)["wall_s"] for _ in range(2))
            if abs(taken_s / self._params.job_s - 1) < SIZE_TOLERANCE:
                break
            size = max(1, round(size * self._params.job_s / taken_s))
        return size

    def _arm(self, method: str, python: Interpreter, arm: str, job: str, size: int) -> _Arm:
        return _Arm(
            method,
            python.name,
            lambda: self._ask(python, arm, self._params.workers, job, size),
        )

    def _ask(
        self, python: Interpreter, arm: str, workers: int, job: str, size: int
    ) -> dict[str, Any]:
        self._send(python, arm, workers, job, size)
        return python.answer()

    def _send(self, python: Interpreter, arm: str, workers: int, job: str, size: int) -> None:
        switch_s = self._params.switch_interval_s
        python.ask(arm=arm, workers=workers, job=job, size=size, switch_s=switch_s)

    def _sleeper(self, python: Interpreter, burners: int) -> dict[str, Any]:
        return {**self._ask(python, "sleeper", burners, "loop", SLEEPS), "burners": burners}

    def _in_pool(self, pool: list[Interpreter], size: int) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []

        def ask_all() -> None:
            for python in pool:
                self._send(python, "serial", 1, self._params.job, size)
            answers.extend(python.answer() for python in pool)

        start_s = self._bench.now_s()
        wall_s = self._bench.time(ask_all)
        slices = [answer["slices"][0] for answer in answers]
        return {"wall_s": wall_s, "start_s": start_s, "slices": slices, "gil": answers[0]["gil"]}

    def _in_new_processes(self, size: int) -> dict[str, Any]:
        """From nothing to the last answer: what a program pays that starts processes each time."""
        start_s = self._bench.now_s()
        with contextlib.ExitStack() as stack:
            pool = []
            for _ in range(self._params.workers):
                pool.append(Interpreter(OWN, [sys.executable, "-P"], self._bench.check_stop))
                stack.callback(pool[-1].close)
            answer = self._in_pool(pool, size)
        return {**answer, "wall_s": self._bench.now_s() - start_s, "start_s": start_s}


def _slices(arm: _Arm, answer: dict[str, Any]) -> Iterator[Slice]:
    for worker, marks in enumerate(answer["slices"]):
        for start_s, end_s in zip(marks[::2], marks[1::2], strict=True):
            yield Slice(
                method=arm.method,
                python=arm.python,
                worker=worker,
                start_s=max(start_s - answer["start_s"], 0.0),
                end_s=max(end_s - answer["start_s"], 0.0),
            )


def analyse(params: Params, tables: Tables, machine: Machine) -> Finding:
    """Compare the ways by their medians; say "faster" only where the spreads part."""
    walls: dict[tuple[str, str], list[float]] = {}
    for timing in tables["timings"]:
        walls.setdefault((timing.method, timing.python), []).append(timing.wall_s)
    own = next((t.python for t in tables["timings"] if t.method != "sleeper"), OWN)
    spreads = {key: found for key, times in walls.items() if (found := spread(times))}
    of = {method: found for (method, python), found in spreads.items() if python == own}
    values: dict[str, float] = {"workers": params.workers}
    for (method, python), found in spreads.items():
        suffix = "" if python == own else f"_python_{python.replace('.', '_')}"
        values[f"{method}{suffix}_s"] = found.median
    values |= _speedups(of)
    if "serial" in of:
        cores = physical_cores(machine) or 1
        values["job_s"] = of["serial"].median / params.workers
        values["perfect_s"] = of["serial"].median / min(params.workers, cores)
    gil = [t.gil for t in tables["timings"] if t.python == own]
    if gil:
        values["gil_enabled"] = int(gil[-1])
    for burners, word in zip(BURNERS, ("idle", "one", "two"), strict=True):
        late = spread(wake.late_s for wake in tables["wakes"] if wake.burners == burners)
        if late:
            values[f"sleeper_late_{word}_s"] = late.median
    return Finding(_message(of, params.workers), values, _limits(params, of, machine))


def _speedups(of: dict[str, Spread]) -> dict[str, float]:
    pairs = (
        ("threads_speedup", "serial", "threads"),
        ("processes_speedup", "serial", "processes"),
        ("subinterpreters_speedup", "serial", "subinterpreters"),
        ("released_speedup", "released_serial", "released_threads"),
    )
    return {
        name: of[base].median / of[other].median
        for name, base, other in pairs
        if base in of and other in of
    }


def _message(of: dict[str, Spread], workers: int) -> str:
    if "serial" not in of or "threads" not in of or workers == 1:
        return "nothing_to_compare"
    if _faster(of["threads"], of["serial"]):
        return "threads_side_by_side"
    if "processes" not in of:
        return "threads_take_turns"
    if _faster(of["processes"], of["serial"]):
        return "threads_take_turns_processes_do_not"
    return "nothing_is_faster"


def _faster(one: Spread, other: Spread) -> bool:
    return one.parts_from(other) and one.median < other.median


def _limits(params: Params, of: dict[str, Spread], machine: Machine) -> tuple[str, ...]:
    limits = []
    if params.rounds < FEW_ROUNDS:
        limits.append("few_rounds")
    if (physical_cores(machine) or 1) < params.workers:
        limits.append("more_workers_than_cores")
    if machine.virtualization:
        limits.append("virtual_machine")
    if "subinterpreters" in params.methods and "subinterpreters" not in of:
        limits.append("no_subinterpreters")
    return tuple(limits)


def defaults(machine: Machine) -> Params:
    """Use two to four workers, as many as there are cores, and every free-threaded Python found."""
    free_threaded = tuple(python.name for python in find() if python.free_threaded)
    return Params(workers=min(4, max(2, physical_cores(machine) or 2)), pythons=free_threaded)


def quick(params: Params) -> Params:
    """Do shorter jobs, in three rounds."""
    return replace(params, job_s=0.05, rounds=3)


def seconds(params: Params) -> float:
    """Estimate: every method once a round, a sleeper beside 0, 1 and 2 threads, and the warm-up."""
    in_turn = sum({"serial": 1, "threads": 1, "released": 1.5}.get(m, 0) for m in params.methods)
    jobs = (
        in_turn * params.workers + 0.6 * params.workers + 2.5 * params.workers * len(params.pythons)
    )
    sleeper_s = SLEEPS * (0.0011 + 3.5 * params.switch_interval_s + 0.002)
    return (params.rounds + 1.5) * jobs * params.job_s + params.rounds * sleeper_s + 0.5


EXPERIMENT = Experiment(
    id="gil-threads",
    version=1,
    shelf=Shelf.PYTHON_AT_WORK,
    params=Params,
    tables={"timings": Timing, "slices": Slice, "wakes": Wake},
    measure=measure,
    analyse=analyse,
    views=(
        Bars(
            key="wall",
            table="timings",
            label="method",
            detail="python",
            value="wall_s",
            order=ORDER,
            limits=(
                Limit("one_after_another", "serial_s", "x"),
                Limit("perfect", "perfect_s", "x"),
            ),
        ),
        Timeline(
            key="lanes",
            table="slices",
            lane="worker",
            start="start_s",
            end="end_s",
            group="method",
            detail="python",
            order=ORDER,
        ),
        Bars(key="sleeper", table="wakes", label="burners", value="late_s"),
    ),
    values=(
        Value("job_s", "s"),
        Value("serial_s", "s"),
        Value("threads_s", "s"),
        Value("processes_s", "s"),
        Value("processes_started_s", "s"),
        Value("released_threads_s", "s"),
        Value("released_serial_s", "s"),
        Value("subinterpreters_s", "s"),
        Value("threads_speedup", "ratio", Part.CORES),
        Value("processes_speedup", "ratio", Part.CORES),
        Value("released_speedup", "ratio", Part.CORES),
        Value("subinterpreters_speedup", "ratio", Part.CORES),
        Value("perfect_s", "s"),
        Value("workers", ""),
        Value("gil_enabled", ""),
        Value("sleeper_late_idle_s", "s"),
        Value("sleeper_late_one_s", "s"),
        Value("sleeper_late_two_s", "s"),
    ),
    parts=(Part.CORES,),
    defaults=defaults,
    quick=quick,
    seconds=seconds,
    memory_bytes=lambda params: params.workers * 60 * 2**20,
)
