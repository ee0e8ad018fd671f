"""Our reads in turns with a C program that is compiled on the spot.

Both are pinned to one hardware thread, at the same niceness, with 4 KiB pages, or both with 2 MiB.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.units import show
from experiments.memory.burst_random.experiment import IN_A_ROW, RANDOM, Numbers
from experiments.tools.buffers import GIVEN, Buffer, huge_pages_fraction
from experiments.tools.chasing import step_s
from experiments.tools.long_chain import COUNTS, LongChain, read_s
from machine.inspect import inspect
from machine.model import Machine, caches_of, usable_threads
from tests.processes import niceness
from tests.tools.bench.lines import Line, within
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("reads.c")
MIB = 2**20
FLAGS = ("-O3", "-march=native")
TURNS, SAMPLES = 12, 3
LARGE = 256 * MIB
CHAINED_READS = 40_000  # in each chain: 5 ms and more
MANY = tuple(chains for chains in COUNTS if chains >= 8)  # one of these is the best
LAID_OUT_TURNS = 7
CHAINED_TURNS = 15 * LAID_OUT_TURNS
LATENCY = (0.95, 1.05)  # of the time that C takes
HUGE_LATENCY = (0.90, 1.10)


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
                what = f"{name}, one chained read ({show(size, 'bytes')})"
                yield _compare(
                    f"{what}, 4 KiB pages", [str(program), "chain", str(size), str(thread)],
                    lambda turn, size=size: _steps(size, bench, turn),  # type: ignore[misc]
                    budget=LATENCY,
                )  # fmt: skip
            for chains in (1, 2, 4, 8):
                yield _chained(chains, str(program), thread, bench)
            yield from _on_huge_pages(str(program), thread, bench)
            for kind, order in (("row", IN_A_ROW), ("random", RANDOM)):
                what = f"{'in order' if kind == 'row' else 'shuffled'}, per element (256 MiB)"
                yield _compare(
                    what, [str(program), kind, str(LARGE), str(thread)],
                    lambda turn, order=order: _listed(order, bench, turn),  # type: ignore[misc]
                    budget=LATENCY,
                )  # fmt: skip


def _steps(size: int, bench: Bench, turn: int, *, huge: bool = False) -> list[float]:
    turns = range(SAMPLES * turn, SAMPLES * (turn + 1))
    return [
        step_s(Buffer(size, huge=huge), size, bench, turn=each, at_random=True) for each in turns
    ]


def _on_huge_pages(program: str, thread: int, bench: Bench) -> Iterator[Line]:
    """Compare memory's latency, and the number of chains that is the best here."""
    buffer = Buffer(LARGE, huge=True)
    if (huge_pages_fraction(buffer) or 0.0) < GIVEN:
        yield Line("reads through 2 MiB pages", "the system gives no huge pages")
        return
    yield _compare(
        f"memory, one chained read ({show(LARGE, 'bytes')}), 2 MiB pages",
        [program, "chain", str(LARGE), str(thread)],
        lambda turn: _steps(LARGE, bench, turn, huge=True),
        budget=HUGE_LATENCY,
        huge=True,
    )
    chain = LongChain(buffer, bench)
    best = min(
        MANY,
        key=lambda n: min(read_s(chain, n, CHAINED_READS, bench) for _ in range(LAID_OUT_TURNS)),
    )
    for chains in (1, best):
        yield _chained(chains, program, thread, bench, huge=True)


def _chained(chains: int, program: str, thread: int, bench: Bench, *, huge: bool = False) -> Line:
    pages, budget = ("2 MiB", HUGE_LATENCY) if huge else ("4 KiB", LATENCY)
    of = "chain" if chains == 1 else "chains"
    what = f"{chains} {of} at once, per read (256 MiB), {pages} pages"
    with (
        contextlib.closing(_Chains(chains, program, thread, bench, huge=huge)) as both,
        contextlib.closing(_Chains(chains, program, thread, bench, huge=huge)) as again,
    ):
        return in_turns(
            what, both.ours, both.theirs, again.theirs, turns=CHAINED_TURNS, budget=budget
        )


class _Chains:
    """Chains here and in C, both laid out anew every few turns.

    The place of the pages of 256 MiB is luck, and makes 5 %, also between two runs in C.
    """

    def __init__(self, chains: int, program: str, thread: int, bench: Bench, *, huge: bool) -> None:
        self._huge = huge
        self._command = [program, f"chains{chains}", str(LARGE), str(thread), *_as_we_are(huge)]
        self._chains, self._bench = chains, bench
        self._laid_out = {"ours": -1, "theirs": -1}  # in which turn

    def ours(self, turn: int) -> float:
        if self._is_time(turn, "ours"):
            self._chain = LongChain(Buffer(LARGE, huge=self._huge), self._bench)
        return read_s(self._chain, self._chains, CHAINED_READS, self._bench)

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


def _as_we_are(huge: bool) -> list[str]:
    """Return our niceness and our pages, as the C program takes them."""
    return [str(niceness()), "huge" if huge else "small"]


def _listed(order: str, bench: Bench, turn: int) -> list[float]:
    numbers = Numbers(LARGE, huge=False)
    return [numbers.listed_s(LARGE, order, bench) for _ in range(SAMPLES)]


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
    huge: bool = False,
) -> Line:
    """Take turns, each with memory of its own, and hold the best samples together.

    The best, because whatever other programs and machines do only ever adds time.
    """

    def theirs() -> list[float]:
        command = [*twin, *_as_we_are(huge)]
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
