"""The loops of branches and matrix-order in turns with the same in C, compiled on the spot."""

from __future__ import annotations

import contextlib
import math
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

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
from tests.processes import niceness
from tests.tools.bench.chains_against_c import Twin
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("loops.c")
FLAGS = ("-O2", "-march=native")
BUDGET = (0.9, 1.1)  # of the time that C takes
# A byte that is guessed right takes one cycle or one and a half, by where the loop lies in memory:
# the same C program, started twice, differed by a third.
OF_ONE_CYCLE = (0.6, 1.5)
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
        program = Path(folder) / "loops"
        subprocess.run([compiler, *FLAGS, "-o", str(program), str(SOURCE)], check=True)
        here = (str(thread), str(niceness()))
        yield from _sums(program, here, Path(folder) / "bytes", bench)
        for job in order.JOBS:
            yield from _matrices(program, here, job, bench)


def _sums(program: Path, here: tuple[str, str], file: Path, bench: Bench) -> Iterator[Line]:
    sums = Sums({ELEMENTS}, bench)
    for way in WAYS:
        file.write_bytes(sums.bytes_of[way][ELEMENTS].tobytes())
        kind = "without_branch" if way == BRANCHLESS else "with_branch"
        command = [str(program), kind, *here, str(file), str(limit_of(HALF))]

        def ours(_turn: int, way: str = way) -> float:
            return sums.element_s(way, limit_of(HALF), ELEMENTS)

        budget = BUDGET if way == RANDOM else OF_ONE_CYCLE
        yield _line(f"a byte, {way}, half of them added", ours, command, LAPS, budget)


def _matrices(program: Path, here: tuple[str, str], job: str, bench: Bench) -> Iterator[Line]:
    params = order.Params(job=job, largest=1024)
    matrices = order.Matrices(params, bench)
    steps = order.STEPS[job]
    for side in SIDES:
        for way in order.WAYS:
            block = params.block if way == order.BLOCKED else side
            strides = (side, 1) if way == order.ROWS else (1, side)
            numbers = map(str, (side, block, steps, *strides))

            def ours(_turn: int, side: int = side, way: str = way) -> float:
                return matrices.step_s(side, way)

            laps = math.ceil(order.SAMPLE_STEPS / (steps * side * side))
            what = f"{job} {side} x {side}, {way}"
            yield _line(what, ours, [str(program), job, *here, *numbers], laps)


def _line(
    what: str,
    ours: Callable[[int], float],
    command: list[str],
    laps: int,
    budget: tuple[float, float] = BUDGET,
) -> Line:
    """Compare ours with the C program, in turns."""
    twins = [Twin(command, laps) for _ in range(2)]
    with contextlib.closing(twins[0]), contextlib.closing(twins[1]):
        theirs, again = (twin.operation_s for twin in twins)
        return in_turns(f"{what}, ours against C", ours, theirs, again, turns=TURNS, budget=budget)
