"""The loops of `stream` on one core, in turns with the same loops in C.

Both are pinned to one hardware thread, at the same niceness, with 4 KiB pages. Both take memory
anew every few turns, because the place of its pages is luck.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.memory.stream.experiment import mover
from experiments.tools.arrays import MOVED, Team, spread_out
from machine.inspect import inspect
from machine.model import Thread
from tests.processes import niceness
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("moves.c")
FLAGS = ("-O3", "-march=native")
KERNELS = ("copy", "triad", "read")
ARRAY_BYTES = 128 * 2**20
LAPS, TURNS, TURNS_WITH_ONE_MEMORY = 2, 42, 6
BUDGET = (0.95, 1.15)  # of the rate that C reaches


def lines() -> Iterator[Line]:
    """Compare the loops one by one."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not hasattr(os, "sched_setaffinity"):
        yield Line("bandwidth against C", "no C compiler, or threads cannot be pinned here")
        return
    machine = inspect()
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "moves")
        subprocess.run([compiler, *FLAGS, "-o", program, str(SOURCE)], check=True)
        for kernel in KERNELS:
            thread, bench = spread_out(machine)[-1], Bench(machine)
            with (
                contextlib.closing(_Both(kernel, program, thread, bench)) as both,
                contextlib.closing(_Both(kernel, program, thread, bench)) as again,
            ):
                yield in_turns(
                    f"{kernel} on one core (128 MiB)", both.ours, both.theirs, again.theirs,
                    turns=TURNS, budget=BUDGET, unit="bytes/s",
                )  # fmt: skip


class _Both:
    """One loop here and in C."""

    def __init__(self, kernel: str, program: str, thread: Thread, bench: Bench) -> None:
        self._kernel, self._thread, self._bench = kernel, thread, bench
        self._command = [program, kernel, str(ARRAY_BYTES), str(thread.id), str(niceness())]

    def ours(self, turn: int) -> float:
        if turn % TURNS_WITH_ONE_MEMORY == 0:
            team = Team(self._bench, [self._thread], ARRAY_BYTES, huge=False)
            self._move = mover(team, self._kernel, 1, ARRAY_BYTES)
            self._move(1)
        return LAPS * MOVED[self._kernel] * ARRAY_BYTES / self._move(LAPS)

    def theirs(self, turn: int) -> float:
        if turn % TURNS_WITH_ONE_MEMORY == 0:
            self.close()
            pipe = subprocess.PIPE
            self._twin = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True)
            self._ask(1)
        return self._ask(LAPS)

    def _ask(self, laps: int) -> float:
        assert self._twin.stdin is not None
        assert self._twin.stdout is not None
        self._twin.stdin.write(f"{laps}\n")
        self._twin.stdin.flush()
        return float(self._twin.stdout.readline())

    def close(self) -> None:
        if hasattr(self, "_twin"):
            self._twin.communicate()
