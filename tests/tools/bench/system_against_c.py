"""Switches, page faults, strides, sets and counters in turns with C, compiled on the spot."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from experiments.core.bench import Bench
from experiments.inside_a_core.conflicts import experiment as conflicts
from experiments.inside_a_core.context_switch.experiment import Pipes
from experiments.inside_a_core.counters.experiment import ATOMIC, MUTEX, SHARDED, Work
from experiments.inside_a_core.page_faults import experiment as page_faults
from experiments.inside_a_core.stride import experiment as stride
from experiments.inside_a_core.stride.kernels import read_apart
from experiments.kernels.system_calls import ask_kernel
from experiments.tools.buffers import HUGE_PAGE_BYTES, Buffer
from experiments.tools.neighbours import SAME_CORE, pairs
from experiments.tools.side_by_side import Futex, Link, handed_s
from machine.inspect import inspect
from tests.processes import niceness
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import OF_ONE_CYCLE, in_turns

SOURCE = Path(__file__).with_name("system.c")
FLAGS = ("-O2", "-march=native", "-pthread")
TURNS = 25
BUDGET = (0.9, 1.1)  # of the time that C takes
MIB = 2**20
CALLS, ONE_CORE_TURNS, TWO_CORES_TURNS = 40_000, 3_000, 400
STEPS, TOUCHES = 400_000, 2**21
MEMORY_BYTES = 256 * MIB
COUNTED_US = 10_000
SPREAD = 4097  # as the C program is told it

Ours = Callable[[int], float]


def lines() -> Iterator[Line]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    machine = inspect()
    cores = next((pair for name, pair in pairs(machine).items() if name != SAME_CORE), None)
    if compiler is None or cores is None or not hasattr(os, "sched_setaffinity"):
        yield Line("the system against C", "no C compiler, or no two cores to be pinned to")
        return
    own, other = cores[0].id, cores[1].id
    bench = Bench(machine)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        program = Path(folder) / "system"
        subprocess.run([compiler, *FLAGS, "-o", str(program), str(SOURCE)], check=True)
        library = Path(folder) / "system.so"
        subprocess.run(
            [compiler, *FLAGS, "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True
        )
        command = [str(program), str(niceness()), str(own), str(other)]
        twins = [stack.enter_context(contextlib.closing(_Twin(command))) for _ in range(2)]
        with bench.pinned(own):
            arms = [*_switches(own, other, bench, stack), *_memory(bench)]
            for what, ours, asked in arms:
                yield _line(what, ours, twins, asked)
            yield from _strides(ctypes.CDLL(str(library)), bench)
        for way in (ATOMIC, MUTEX, SHARDED):
            work = Work(way, 2, bench)
            for placed in ([own], [own, other]):
                ours, asked = (
                    partial(_counted_s, work, placed),
                    f"{way} {len(placed)} 0 {COUNTED_US}",
                )
                yield _line(f"a counter, {way}, threads: {len(placed)}", ours, twins, asked)


def _line(what: str, ours: Ours, twins: list[_Twin], asked: str) -> Line:
    first, second = (partial(twin.ask_s, asked) for twin in twins)
    return in_turns(f"{what}, ours against C", ours, first, second, turns=TURNS, budget=BUDGET)


def _counted_s(work: Work, cores: list[int], _turn: int) -> float:
    return 1 / work.together(cores)[0]


def _switches(
    own: int, other: int, bench: Bench, stack: contextlib.ExitStack
) -> Iterator[tuple[str, Ours, str]]:
    yield "a system call", partial(_each_s, bench, ask_kernel), f"call 0 0 {CALLS}"
    for name, link in (("futex", Futex()), ("pipe", Pipes())):
        stack.callback(link.close)
        yield f"{name}, calls alone", partial(_each_s, bench, link.alone), f"{name} 0 0 {CALLS}"
        for place, core, count in ((1, own, ONE_CORE_TURNS), (2, other, TWO_CORES_TURNS)):
            turns = partial(_handed_s, link, core, bench, count)
            yield f"{name}, cores: {place}", turns, f"{name} {place} 0 {count}"


def _each_s(bench: Bench, loop: Callable[[int], object], _turn: int) -> float:
    return bench.time(partial(loop, CALLS)) / CALLS


def _handed_s(link: Link, core: int, bench: Bench, count: int, _turn: int) -> float:
    return handed_s(link, core, bench, count) / count


def _memory(bench: Bench) -> Iterator[tuple[str, Ours, str]]:
    pages = page_faults.SMALL_BYTES // page_faults.PAGE_BYTES
    for again, name in enumerate(("first", "second")):
        touches = partial(_touched_s, bench, again, False)
        yield f"the {name} touch of a page", touches, f"touch 0 {again} {pages}"
    if page_faults.gives_huge_pages():
        touches = partial(_touched_s, bench, 0, True)
        pages = page_faults.HUGE_BYTES // HUGE_PAGE_BYTES
        yield "the first touch of a page of 2 MiB", touches, f"touch 1 0 {pages}"
    large, apart = Buffer(MEMORY_BYTES), conflicts.apart_bytes(bench.machine)
    for size in (2 * MIB, MEMORY_BYTES):
        pages = size // page_faults.PAGE_BYTES
        reads = partial(page_faults.read_s, large, size, bench=bench, packed=False)
        yield f"a line in each page ({pages})", reads, f"chain {pages} {SPREAD} {STEPS // 4}"
    small = Buffer((conflicts.MOST + 1) * apart)
    for count in (8, conflicts.MOST):
        reads = partial(conflicts.read_s, small, count, apart, bench=bench)
        yield f"{count} lines of one set", reads, f"chain {count} {apart} {STEPS}"


def _touched_s(bench: Bench, again: int, huge: bool, _turn: int) -> float:
    return page_faults.touched(bench, huge=huge)[again][0]


def _strides(library: ctypes.CDLL, bench: Bench) -> Iterator[Line]:
    """Compare reads of bytes in one memory: in two, they differed by a tenth."""
    huge, theirs_apart = Buffer(MEMORY_BYTES, huge=True), library.read_apart
    theirs_apart.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    for bytes_apart in (1, stride.LINE_BYTES, stride.PAGE_BYTES):
        ours, theirs = (
            partial(_stride_s, loop, huge, bytes_apart, bench)
            for loop in (read_apart, theirs_apart)
        )
        what = f"a byte of each {bytes_apart}, ours against C"
        budget = OF_ONE_CYCLE if bytes_apart == 1 else BUDGET
        yield in_turns(what, ours, theirs, theirs, turns=TURNS, budget=budget)


def _stride_s(
    loop: Callable[..., int], buffer: Buffer, bytes_apart: int, bench: Bench, _turn: int
) -> float:
    address, size = int(buffer.address), buffer.size_bytes
    loop(size // stride.LINE_BYTES, address, size, stride.LINE_BYTES)  # no line is cached now
    return bench.time(lambda: loop(TOUCHES, address, size, bytes_apart)) / TOUCHES


class _Twin:
    """The C program, asked once in each turn."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def ask_s(self, asked: str, _turn: int) -> float:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{asked}\n")
        self._program.stdin.flush()
        return float(self._program.stdout.readline())

    def close(self) -> None:
        self._program.communicate()
