"""Each way of doing the jobs once: starts the Pythons and sizes the jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import api as x
from experiments.tools.interpreters import HAS_SUBINTERPRETERS, OWN, OWN_COMMAND, Interpreter
from machine.system.pythons import find

if TYPE_CHECKING:
    from .experiment import Params

JOBS = Path(__file__).with_name("jobs.py")
BURNERS = (0, 1, 2)
SLEEPS = 25  # samples of the sleeper in each turn
SIZE_TRIES, SIZE_TOLERANCE = 6, 0.05
# An idle core's clock rises, up to twofold as measured, mostly in the first part.
RAMP_S, QUICK_RAMP_S = 1.0, 0.3


class Arm(x.Record, kw_only=False):
    """One way to do the jobs; `run` does it once and returns the answer of `jobs.py`."""

    method: str
    python: str
    run: Callable[[], dict[str, Any]]

    def __str__(self) -> str:
        """Return its method, by which a lecture names the arm to begin with."""
        return self.method


class Arms:
    """Starts the interpreters, sizes the jobs, and defines one turn of each method."""

    def __init__(self, params: Params, bench: x.Bench, stack: contextlib.ExitStack) -> None:
        self._params, self._bench, self._stack = params, bench, stack
        self._risen_s = bench.now_s() + (QUICK_RAMP_S if bench.quick else RAMP_S)

    def build(self) -> tuple[list[Arm], list[x.Note]]:
        """Return the arms, warmed up, and notes on those left out."""
        params, notes = self._params, []
        own = self._start(OWN, OWN_COMMAND)
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
            pool = [self._start(OWN, OWN_COMMAND) for _ in range(params.workers)]
            arms.append(Arm("processes", OWN, lambda: self._in_pool(pool, size)))
        if "processes_started" in params.methods:
            arms.append(Arm("processes_started", OWN, lambda: self._in_new_processes(size)))
        if "subinterpreters" in params.methods and HAS_SUBINTERPRETERS:
            arms.append(self._arm("subinterpreters", own, "subinterpreters", params.job, size))
        arms += self._other_pythons(size)
        arms += [Arm("sleeper", OWN, lambda n=n: self._sleeper(own, n)) for n in BURNERS]  # type: ignore[misc]
        for arm in arms:  # the warm-up
            if arm.method != "sleeper":
                arm.run()
        if "subinterpreters" in params.methods and not any(
            a.method == "subinterpreters" for a in arms
        ):
            notes.append(x.Note("no_subinterpreters", {"python": OWN}))
        return arms, notes

    def _other_pythons(self, size: int) -> Iterator[Arm]:
        if self._params.job == "sort" or not self._params.pythons:
            return  # NumPy may be missing there; to look for them takes processes
        for python in find():
            if python.name not in self._params.pythons:
                continue
            other = self._start(python.name, [str(python.path), "-I", "-S"])
            for method in ("serial", "threads", "subinterpreters"):
                if method in self._params.methods and (
                    method != "subinterpreters" or python.subinterpreters
                ):
                    yield self._arm(method, other, method, self._params.job, size)

    def _start(self, name: str, command: Sequence[str]) -> Interpreter:
        interpreter = Interpreter(name, command, JOBS, self._bench.check_stop)
        return self._stack.enter_context(contextlib.closing(interpreter))

    def _size(self, python: Interpreter, job: str) -> int:
        """Return the size at which one job takes `job_s`, once the core is at its clock."""
        if job == "sleep":
            return round(self._params.job_s * 1e6)
        size = 5 if job == "sort" else 20_000
        tries = 0
        while tries < SIZE_TRIES:
            taken_s = min(self._ask(python, "serial", 1, job, size)["wall_s"] for _ in range(2))
            if self._bench.now_s() > self._risen_s:
                if abs(taken_s / self._params.job_s - 1) < SIZE_TOLERANCE:
                    break
                tries += 1
            size = max(1, round(size * self._params.job_s / taken_s))
        return size

    def _arm(self, method: str, python: Interpreter, arm: str, job: str, size: int) -> Arm:
        return Arm(
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
        """Do the jobs in new processes, from nothing until all are gone."""
        start_s = self._bench.now_s()
        with contextlib.ExitStack() as stack:
            pool = []
            for _ in range(self._params.workers):
                pool.append(Interpreter(OWN, OWN_COMMAND, JOBS, self._bench.check_stop))
                stack.callback(pool[-1].close)
            answer = self._in_pool(pool, size)
        return {**answer, "wall_s": self._bench.now_s() - start_s, "start_s": start_s}
