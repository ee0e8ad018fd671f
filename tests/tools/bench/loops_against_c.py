"""The loops of branches and matrix-order in turns with the same in C, in the same memory.

The physical pages of a matrix decide which of its lines share a place in a cache. Two copies of the
C loops with memory of their own differed by 40 %.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from experiments.core.bench import Bench
from experiments.inside_a_core.branches.experiment import (
    BRANCHLESS,
    HALF,
    RANDOM,
    WAYS,
    Sums,
    limit_of,
)
from experiments.inside_a_core.matrix_order import experiment as order
from machine.inspect import inspect
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import OF_ONE_CYCLE, in_turns

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = ("-O2", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
BUDGET = (0.9, 1.1)  # of the time that C takes
TURNS = 40
ELEMENTS, LAPS = 2**18, 4
SIDES = (1024, 1032)


def lines() -> Iterator[Line]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        yield Line("loops against C", "no C compiler here")
        return
    bench = Bench(inspect())
    with tempfile.TemporaryDirectory() as folder, bench.pinned() as thread:
        if thread is None:
            yield Line("loops against C", "threads cannot be pinned here")
            return
        library = Path(folder) / "loops.so"
        subprocess.run([compiler, *FLAGS, "-o", str(library), str(SOURCE)], check=True)
        loops = ctypes.CDLL(str(library))
        yield from _sums(loops, bench)
        for job in order.JOBS:
            yield from _matrices(loops, job, bench)


def _sums(loops: ctypes.CDLL, bench: Bench) -> Iterator[Line]:
    sums = Sums({ELEMENTS}, bench)
    for way in WAYS:
        numbers = sums.bytes_of[way][ELEMENTS]
        loop = loops.without_branch if way == BRANCHLESS else loops.with_branch
        loop.argtypes = [_array(np.uint8), ctypes.c_size_t, ctypes.c_int64, ctypes.c_uint64]
        loop.restype = ctypes.c_int64
        work = partial(loop, numbers, ELEMENTS, limit_of(HALF), LAPS)

        def theirs(_turn: int, work: partial[int] = work) -> float:
            return bench.time(work) / LAPS / ELEMENTS

        def ours(_turn: int, way: str = way) -> float:
            return sums.element_s(way, limit_of(HALF), ELEMENTS)

        budget = BUDGET if way == RANDOM else OF_ONE_CYCLE
        what = f"a byte, {way}, half of them added, ours against C"
        yield in_turns(what, ours, theirs, theirs, turns=TURNS, budget=budget)


def _matrices(loops: ctypes.CDLL, job: str, bench: Bench) -> Iterator[Line]:
    matrices = order.Matrices(order.Params(job=job, largest=1024), bench)
    loop = getattr(loops, job)
    loop.argtypes = [_array(np.float64)] * 3 + [ctypes.c_uint64] * 5
    loop.restype = None
    for side in SIDES:
        for way in order.WAYS:
            ours = partial(_step_s, matrices, side, way, None)
            theirs = partial(_step_s, matrices, side, way, loops)
            what = f"{job} {side} x {side}, {way}, ours against C"
            yield in_turns(what, ours, theirs, theirs, turns=TURNS, budget=BUDGET)


def _step_s(matrices: order.Matrices, side: int, way: str, loops: object, turn: int) -> float:
    return matrices.step_s(side, way, turn, loops)


def _array(kind: type) -> type:
    return np.ctypeslib.ndpointer(kind, ndim=1, flags="C_CONTIGUOUS")
