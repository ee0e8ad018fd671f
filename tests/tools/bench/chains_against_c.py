"""The chains of the experiment ilp in turns with the same in C, compiled on the spot."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from experiments.core.bench import Bench
from experiments.inside_a_core.ilp.experiment import operation_s, operations_for
from machine.inspect import inspect
from tests.processes import niceness
from tests.tools.bench.lines import Line
from tests.tools.bench.turns import in_turns

SOURCE = Path(__file__).with_name("chains.c")
FLAGS = ("-O3", "-march=native")
TURNS = 60
BUDGET = (0.9, 1.1)  # of the time that C takes
ARMS = (("add", 1), ("add", 8), ("multiply", 1), ("multiply", 8), ("divide", 1), ("divide", 4))


def lines() -> Iterator[Line]:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        yield Line("chains against C", "no C compiler here")
        return
    bench = Bench(inspect())
    with tempfile.TemporaryDirectory() as folder, bench.pinned() as thread:
        if thread is None:
            yield Line("chains against C", "threads cannot be pinned here")
            return
        program = Path(folder) / "chains"
        subprocess.run([compiler, *FLAGS, "-o", str(program), str(SOURCE)], check=True)
        for name, chains in ARMS:
            operations = operations_for(name, bench)
            command = [str(program), name, str(chains), str(thread), str(niceness())]
            twins = [Twin(command, operations) for _ in range(2)]
            with contextlib.closing(twins[0]), contextlib.closing(twins[1]):
                yield in_turns(
                    f"{name}, {chains} {'chain' if chains == 1 else 'chains'}, ours against C",
                    lambda _, n=name, c=chains, o=operations: operation_s(n, c, o, bench),  # type: ignore[misc]
                    twins[0].operation_s,
                    twins[1].operation_s,
                    turns=TURNS,
                    budget=BUDGET,
                )


class Twin:
    """The C program, asked once in each turn."""

    def __init__(self, command: list[str], operations: int) -> None:
        pipe = subprocess.PIPE
        self._operations = operations
        self._program = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def operation_s(self, _turn: int = 0) -> float:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{self._operations}\n")
        self._program.stdin.flush()
        return float(self._program.stdout.readline())

    def close(self) -> None:
        self._program.communicate()
