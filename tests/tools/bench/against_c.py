"""Our reads in turns with a C program that is compiled on the spot.

Both are pinned to one hardware thread, at the same niceness, with 4 KiB pages.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.units import show
from experiments.memory.banks_mlp.experiment import read_s
from experiments.memory.burst_random import experiment as burst_random
from experiments.tools.buffers import Buffer
from experiments.tools.chasing import step_s
from experiments.tools.long_chain import LongChain
from machine.inspect import inspect
from machine.model import Machine, caches_of, usable_threads
from tests.tools.bench.lines import Line, within
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("reads.c")
MIB = 2**20
FLAGS = ("-O3", "-march=native")
TURNS, SAMPLES = 12, 3
LARGE = 256 * MIB
CHAINED_READS = 40_000  # in each chain: 5 ms and more
LAID_OUT_TURNS = 7
CHAINED_TURNS = 15 * LAID_OUT_TURNS
Read = Callable[[Buffer, int, int, Bench], float]
LATENCY = (0.95, 1.05)  # of the time that C takes
BANDWIDTH = (1 / 1.15, 1 / 0.95)


def lines() -> Iterator[Line]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        yield Line("reads against C", "no C compiler here")
        return
    machine = inspect()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "reads"
        subprocess.run([compiler, *FLAGS, "-o", str(program), str(SOURCE)], check=True)
        bench = Bench(machine)
        with bench.pinned() as thread:
            if thread is None:
                yield Line("reads against C", "threads cannot be pinned here")
                return
            for name, size in _sizes(machine):
                what = f"{name}, one dependent read ({show(size, 'bytes')})"
                yield _compare(
                    what, [str(program), "chain", str(size), str(thread)],
                    lambda turn, size=size: _steps(size, bench, turn),  # type: ignore[misc]
                    budget=LATENCY,
                )  # fmt: skip
            for chains in (1, 2, 4, 8):
                yield _chained(chains, str(program), thread, bench)
            for kind, read, budget in (
                ("row", burst_random._read_in_a_row, BANDWIDTH),
                ("random", burst_random._read_at_random, LATENCY),
            ):
                what = f"{'in a row' if kind == 'row' else 'at random'}, per element (256 MiB)"
                yield _compare(
                    what, [str(program), kind, str(LARGE), str(thread)],
                    lambda turn, read=read: _reads(read, bench, turn),  # type: ignore[misc]
                    budget=budget,
                )  # fmt: skip


def _steps(size: int, bench: Bench, turn: int) -> list[float]:
    turns = range(SAMPLES * turn, SAMPLES * (turn + 1))
    return [step_s(Buffer(size), size, bench, turn=each, at_random=True) for each in turns]


def _chained(chains: int, program: str, thread: int, bench: Bench) -> Line:
    what = f"{chains} {'chain' if chains == 1 else 'chains'} at once, per read (256 MiB)"
    with (
        contextlib.closing(_Chains(chains, program, thread, bench)) as both,
        contextlib.closing(_Chains(chains, program, thread, bench)) as again,
    ):
        return in_turns(
            what, both.ours, both.theirs, again.theirs, turns=CHAINED_TURNS, budget=LATENCY
        )


class _Chains:
    """Chains here and in C, both laid out anew every few turns.

    Where the pages of 256 MiB come to lie is luck, and makes 5 %, also between two runs in C.
    """

    def __init__(self, chains: int, program: str, thread: int, bench: Bench) -> None:
        self._command = [program, f"chains{chains}", str(LARGE), str(thread), str(os.nice(0))]
        self._chains, self._bench = chains, bench
        self._laid_out = {"ours": -1, "theirs": -1}  # in which turn

    def ours(self, turn: int) -> float:
        if self._is_time(turn, "ours"):
            self._chain = LongChain(Buffer(LARGE), self._bench)
        return read_s(self._chain, self._chains, self._chains * CHAINED_READS, self._bench)

    def theirs(self, turn: int) -> float:
        if self._is_time(turn, "theirs"):
            self.close()
            pipe = subprocess.PIPE
            self._twin = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        assert self._twin.stdin is not None
        assert self._twin.stdout is not None
        self._twin.stdin.write(f"{CHAINED_READS}\n")
        self._twin.stdin.flush()
        return float(self._twin.stdout.readline())

    def close(self) -> None:
        if hasattr(self, "_twin"):
            self._twin.communicate()

    def _is_time(self, turn: int, whose: str) -> bool:
        stretch = turn // LAID_OUT_TURNS
        self._laid_out[whose], before = stretch, self._laid_out[whose]
        return before != stretch


def _reads(read: Read, bench: Bench, turn: int) -> list[float]:
    buffer = Buffer(LARGE)
    return [read(buffer, LARGE, SAMPLES * turn + sample, bench) for sample in range(SAMPLES)]


def _sizes(machine: Machine) -> Iterator[tuple[str, int]]:
    thread = usable_threads(machine)[-1]
    for cache in caches_of(machine, thread.id):
        if cache.size_bytes and cache.level in (1, 2):
            yield f"L{cache.level}", cache.size_bytes // 2
    yield "memory", LARGE


def _compare(
    what: str,
    twin: list[str],
    ours: Callable[[int], list[float]],
    *,
    budget: tuple[float, float],
) -> Line:
    """Take turns, each with memory of its own, and hold the best samples together.

    The best, because whatever other programs and machines do only ever adds time.
    """

    def theirs() -> list[float]:
        command = [*twin, str(os.nice(0))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [float(sample) for sample in done.stdout.split()]

    mine: list[float] = []
    its: list[float] = []
    for turn in range(TURNS):
        mine += ours(turn)
        its += theirs()
    ratio = min(mine) / min(its)
    low, high = budget
    figure = f"{show(min(mine), 's')} against {show(min(its), 's')}: {ratio:.3f}"
    said = f"{low:.2f} to {high:.2f}"
    if within(ratio, low, high):
        return Line(what, figure, said, kept=True)
    again = min(sample for _ in range(TURNS) for sample in theirs())
    why = f"the C program takes {show(again, 's')} when it is asked again"
    return Line(what, figure, said, kept=False, why=why)
