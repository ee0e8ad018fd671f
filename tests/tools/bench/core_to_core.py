"""core-to-core in turns with the same algorithm in C, compiled on the spot."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.needs import missing_need
from experiments.python_at_work.core_to_core.experiment import EXPERIMENT, Slots, one_way_s
from experiments.tools.neighbours import SAME_CORE, pairs
from machine.inspect import inspect
from tests.processes import niceness
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("handover.c")
FLAGS = ("-O3", "-march=native", "-pthread")
TURNS, LINES = 41, 16
BUDGET = (0.90, 1.10)  # of the time that C takes


def lines() -> Iterator[Line]:
    """Compare for one pair of each kind that this machine has."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    machine = inspect()
    if compiler is None or missing_need(EXPERIMENT, machine) is not None:
        yield Line("core to core against C", "no C compiler, or no two cores to be pinned to")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "handover")
        subprocess.run([compiler, *FLAGS, "-o", program, str(SOURCE)], check=True)
        for name, (one, other) in pairs(machine).items():
            what = "one core's two threads" if name == SAME_CORE else name.replace("_", " ")
            yield _compare(f"core to core, {what}", program, one.id, other.id, Bench(machine))


def _compare(what: str, program: str, timing: int, answering: int, bench: Bench) -> Line:
    slots = Slots(LINES)
    command = [program, str(timing), str(answering), str(LINES), str(niceness())]

    def ours(_turn: int) -> float | None:
        return one_way_s(slots, timing, answering, bench)

    def theirs(_turn: int) -> float:
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return in_turns(what, ours, theirs, theirs, turns=TURNS, budget=BUDGET)
