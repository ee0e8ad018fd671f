"""Are the numbers right? Each read is timed in turns with a C program that is compiled on the spot.

Both are pinned to one hardware thread, at the same niceness, with 4 KiB pages.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from experiments.bench import Bench
from experiments.buffers import Buffer
from experiments.memory import burst_random
from experiments.memory.chasing import step_s
from experiments.units import show
from machine.inspect import inspect
from machine.model import Machine, caches_of, usable_threads
from tests.bench.lines import Line, within

SOURCE = Path(__file__).with_name("reads.c")
FLAGS = ("-O3", "-march=native", "-funroll-loops")  # LLVM, behind numba, unrolls by itself
TURNS = 15
LATENCY = (0.95, 1.05)  # of the time that C takes
BANDWIDTH = (1 / 1.15, 1 / 0.95)
MIB = 2**20


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
            buffer = Buffer(256 * MIB)
            for name, size in _sizes(machine):
                yield _compare(
                    f"{name}, one dependent read ({show(size, 'bytes')})",
                    program, "chain", size, thread,
                    lambda turn, size=size: step_s(buffer, size, bench, random_order=turn),
                    best=True, budget=LATENCY,
                )  # fmt: skip
            for kind, read in (
                ("row", burst_random._read_in_a_row),
                ("random", burst_random._read_at_random),
            ):
                yield _compare(
                    f"{'in a row' if kind == 'row' else 'at random'}, per element (256 MiB)",
                    program, kind, 256 * MIB, thread,
                    lambda turn, read=read: read(buffer, 256 * MIB, turn, bench),
                    best=False, budget=BANDWIDTH if kind == "row" else LATENCY,
                )  # fmt: skip


def _sizes(machine: Machine) -> Iterator[tuple[str, int]]:
    thread = usable_threads(machine)[-1]
    for cache in caches_of(machine, thread.id):
        if cache.size_bytes and cache.level in (1, 2):
            yield f"L{cache.level}", cache.size_bytes // 2
    yield "memory", 256 * MIB


def _compare(
    what: str,
    program: Path,
    kind: str,
    size: int,
    thread: int,
    ours: Callable[[int], float],
    *,
    best: bool,
    budget: tuple[float, float],
) -> Line:
    niceness = str(os.nice(0))
    twin = subprocess.Popen(
        [str(program), kind, str(size), str(thread), niceness],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert twin.stdin is not None
    assert twin.stdout is not None
    mine, its = [], []
    for turn in range(TURNS):
        mine.append(ours(turn))
        twin.stdin.write("sample\n")
        twin.stdin.flush()
        its.append(float(twin.stdout.readline()))
    twin.stdin.close()
    twin.wait()
    twin.stdout.close()
    headline = min if best else statistics.median
    ratio = headline(mine[1:]) / headline(its[1:])  # the first of each is the warm-up
    figure = f"{show(headline(mine[1:]), 's')} against {show(headline(its[1:]), 's')}: {ratio:.3f}"
    low, high = budget
    return Line(what, figure, f"{low:.2f} to {high:.2f}", within(ratio, low, high))
