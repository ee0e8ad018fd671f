"""False sharing and vectors in turns with C, compiled on the spot; lost increments with Python.

And the effects of objects in memory and of other programs, which need no other program to show.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.units import show
from experiments.inside_a_core.noise.experiment import watch_together
from experiments.inside_a_core.simd.experiment import SCALAR, ways_for
from experiments.kernels.simd_sums import widest_bits
from experiments.python_at_work.false_sharing import kernels
from experiments.python_at_work.false_sharing.experiment import (
    ATOMIC,
    BUFFER_BYTES,
    DISTANCES_BYTES,
    PLAIN,
    Work,
)
from experiments.python_at_work.python_objects.experiment import (
    LIST,
    NUMPY,
    SHUFFLED,
    element_s,
    summed,
)
from experiments.python_at_work.python_objects.experiment import Params as ObjectsParams
from experiments.python_at_work.race.experiment import BARE, CALL, JOBS
from experiments.tools.buffers import Buffer
from experiments.tools.interpreters import OWN_COMMAND, Interpreter
from experiments.tools.neighbours import SAME_CORE, pairs
from machine.inspect import inspect
from machine.model import Machine, usable_threads
from tests.processes import niceness
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-pthread", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
TURNS, SAMPLES = 21, 5
BUDGET = (0.90, 1.10)
SUMMED_BYTES, SUMMED_S = 16 * 2**10, 0.003
OBJECTS, GAP_READINGS = ObjectsParams(), 500
RACES, THREADS, TIMES, SWITCH_S = 9, 4, 1_000_000, 0.005


def lines() -> Iterator[Line]:
    """Compare the counters near and far, the sums in the first cache, and the races."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    machine = inspect()
    cores = next((pair for name, pair in pairs(machine).items() if name != SAME_CORE), None)
    with tempfile.TemporaryDirectory() as folder:
        if compiler is None or cores is None or not hasattr(os, "sched_setaffinity"):
            yield Line("effects against C", "no C compiler, or no two cores to be pinned to")
        else:
            build = partial(_built, compiler, Path(folder))
            yield from _counters(build("counters"), (cores[0].id, cores[1].id), machine)
            yield from _sums(build("lanes"), machine)
    yield from _races()
    yield from _objects(Bench(machine))
    yield from _gaps(Bench(machine))


def _objects(bench: Bench) -> Iterator[Line]:
    """Yield how much longer a shuffled list takes, and one in order than NumPy."""
    held = {way: each for n, way, each in summed(OBJECTS) if n == OBJECTS.most_numbers}
    took_s = {way: min(element_s(way, held[way], bench) for _ in range(SAMPLES))
              for way in (SHUFFLED, LIST, NUMPY)}  # fmt: skip
    for slow, fast, least in ((SHUFFLED, LIST, 2.0), (LIST, NUMPY, 4.0)):
        ratio = took_s[slow] / took_s[fast]
        what = f"sum of a {slow.replace('_', ' ')} over {fast}".replace("_", " ")
        yield Line(what, f"{ratio:.1f}", f"{least:.0f} at least", kept=ratio >= least)


def _gaps(bench: Bench) -> Iterator[Line]:
    """Yield the longest gap of a second, far longer than a reading of the clock."""
    threads = [thread.id for thread in usable_threads(bench.machine)]
    rows = [row for _, row, _ in watch_together(threads, 1.0, 0, bench)]
    longest_s, reading_s = max(row.longest_gap_s for row in rows), rows[0].reading_s
    figure = f"{show(longest_s, 's')}, a reading {show(reading_s, 's')}"
    kept = longest_s > GAP_READINGS * reading_s
    yield Line("longest gap of a second", figure, f"{GAP_READINGS} readings at least", kept=kept)


def _built(compiler: str, folder: Path, name: str) -> str:
    program, source = str(folder / name), str(HERE / f"{name}.c")
    width = f"-DBYTES={widest_bits() // 8}"
    subprocess.run([compiler, *FLAGS, width, "-o", program, source], check=True)
    return program


def _said(*command: object) -> list[float]:
    words = [str(word) for word in command]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def _counters(program: str, cores: tuple[int, int], machine: Machine) -> Iterator[Line]:
    buffer, bench = Buffer(BUFFER_BYTES), Bench(machine)
    first = int(buffer.address)
    for name, kernel in ((ATOMIC, kernels.increment_at_once), (PLAIN, kernels.increment)):
        work = Work(kernel, first, bench)
        for distance in (min(DISTANCES_BYTES), max(DISTANCES_BYTES)):

            def ours(_turn: int, work: Work = work, distance: int = distance) -> float:
                places = [first, first + distance]
                samples = [work.seconds_each(cores, places) for _ in range(SAMPLES)]
                return statistics.median(2 / sum(1 / s for s in each_s) for each_s in samples)

            theirs = _asked(program, name, *cores, distance, niceness())
            what = f"{name} increment beside another, counters {distance} bytes apart"
            yield in_turns(what, ours, theirs, theirs, turns=TURNS, budget=BUDGET)


def _sums(program: str, machine: Machine) -> Iterator[Line]:
    bench, bits = Bench(machine), 32
    numbers = Buffer(SUMMED_BYTES).words.view("float32")
    numbers.fill(1)
    with bench.pinned() as thread:
        for way, kind in ((SCALAR, "scalar"), (str(widest_bits()), "vector")):
            work = partial(ways_for(bits)[way], numbers)
            laps = bench.repeat_for(work, at_least_s=SUMMED_S, start=100)

            def ours(_turn: int, work: Callable[[int], object] = work, laps: int = laps) -> float:
                return numbers.size * laps / bench.time(lambda: work(laps))

            theirs = _asked(program, kind, SUMMED_BYTES, laps, thread, niceness())
            what = f"sum in the first cache, {'one at a time' if way == SCALAR else way + ' bits'}"
            yield in_turns(what, ours, theirs, theirs, turns=TURNS, budget=BUDGET, unit="per_s")


def _asked(*command: object) -> Callable[[int], float]:
    return lambda _turn: statistics.median(_said(*command))


def _races() -> Iterator[Line]:
    """Yield the time of an increment, then in how many runs some were lost: chance, but no luck."""
    with contextlib.closing(Interpreter("ours", OWN_COMMAND, JOBS, lambda: None)) as python:
        for form, name in ((BARE, "bare"), (CALL, "call")):
            lost: dict[str, list[float]] = {"ours": [], "theirs": []}

            def ours(_turn: int, form: str = form, lost: list[float] = lost["ours"]) -> float:
                of = {"workers": THREADS, "counters": 1, "times": TIMES}
                python.ask(form=form, switch_s=SWITCH_S, **of)
                answer = python.answer()
                lost.append(1 - answer["count"] / (THREADS * TIMES))
                taken_s: float = answer["wall_s"]
                return taken_s / (THREADS * TIMES)

            def theirs(_turn: int, name: str = name, lost: list[float] = lost["theirs"]) -> float:
                increment_s, share = _said(sys.executable, HERE / "lost.py", name, THREADS, TIMES)
                lost.append(share)
                return increment_s

            what = f"increment of {THREADS} threads in Python, {form}"
            yield in_turns(what, ours, theirs, theirs, turns=RACES, budget=BUDGET)
            mine, its = ([share for share in lost[who] if share > 0] for who in ("ours", "theirs"))
            figure = (
                f"{len(mine)} of {len(lost['ours'])}, against {len(its)} of {len(lost['theirs'])}"
            )
            shares = (
                " to ".join(f"{share:.0%}" for share in (min(mine), max(mine))) if mine else "0"
            )
            yield Line(
                f"runs that lost increments, {form}",
                f"{figure}; ours lost {shares}",
                "all of both, or none",
                kept=(len(mine), len(its)) in ((0, 0), tuple(map(len, lost.values()))),
            )
