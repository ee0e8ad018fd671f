"""The starts of start-cost in turns with the same in C, compiled on the spot.

A tiny program costs Python and C the same. A thread of Python also makes an interpreter's thread
state and a Thread. A fork copies the page tables of a larger process. Both are shown beside C's
without a budget.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.units import show
from experiments.tools import start_jobs
from experiments.tools.interpreters import own
from machine.inspect import inspect
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("starts.c")
FLAGS = ("-O2", "-pthread")
TURNS = 40
BUDGET = (0.9, 1.1)  # of the time that C takes
COUNTS = {"thread": 100, "os_fork": 20, "posix_spawn": 10}


def lines() -> Iterator[Line]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not start_jobs.TINY:
        yield Line("starts against C", "no C compiler, or no posix_spawn here")
        return
    bench = Bench(inspect())
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        program = Path(folder) / "starts"
        subprocess.run([compiler, *FLAGS, "-o", str(program), str(SOURCE)], check=True)
        python = own(start_jobs, bench.check_stop)
        stack.callback(python.close)
        twins = [stack.enter_context(contextlib.closing(_Twin(program))) for _ in range(2)]

        def ours(kind: str) -> float:
            python.ask(arm="start", method=kind, count=COUNTS[kind], module="nothing")
            taken_s: float = python.answer()["taken_s"]
            return taken_s / COUNTS[kind]

        for twin in twins:
            twin.start_s("posix_spawn")
        yield in_turns(
            "a tiny program by posix_spawn, ours against C",
            lambda _: ours("posix_spawn"),
            lambda _: twins[0].start_s("posix_spawn"),
            lambda _: twins[1].start_s("posix_spawn"),
            turns=TURNS,
            budget=BUDGET,
        )
        for kind, what in (("thread", "a thread"), ("os_fork", "a fork")):
            pairs = [(ours(kind), twins[0].start_s(kind)) for _ in range(TURNS)]
            mine_s, its_s = (statistics.median(times) for times in zip(*pairs, strict=True))
            yield Line(
                f"{what}, started and ended",
                f"{show(mine_s, 's')} in Python, {show(its_s, 's')} in C",
            )


class _Twin:
    """The C program, asked once in each turn."""

    def __init__(self, program: Path) -> None:
        pipe = subprocess.PIPE
        command = [str(program), start_jobs.TINY]
        self._program = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def start_s(self, kind: str) -> float:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{kind} {COUNTS[kind]}\n")
        self._program.stdin.flush()
        return float(self._program.stdout.readline())

    def close(self) -> None:
        self._program.communicate()
