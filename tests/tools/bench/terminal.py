"""The times of the terminal's answers, as ratios to the start of a Python that imports NumPy."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.tools.bench.lines import Line

ROUNDS = 11
NUMPY = (sys.executable, "-c", "import numpy")
PROGRAM = (sys.executable, "-m", "app")
COMMANDS = {"experiments": 1.6, "--help": 1.0}  # to the most that each may take of NumPy's time


def lines() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as data:
        commands = {
            "": NUMPY,
            **{name: (*PROGRAM, "--data", data, name) for name in COMMANDS},
        }
        for command in commands.values():  # keeps what it compiles
            _taken_s(command)
        times_s: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times_s[name].append(_taken_s(command))
    for name, budget in COMMANDS.items():
        pairs = zip(times_s[name], times_s[""], strict=True)
        ratio = statistics.median(ours_s / numpy_s for ours_s, numpy_s in pairs)
        figure = f"{ratio:.2f} of `import numpy`, {statistics.median(times_s[name]):.3f} s"
        yield Line(f"coreopsis {name}", figure, f"{budget:g} times", ratio <= budget)


def _taken_s(command: tuple[str, ...]) -> float:
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    start_s = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60, env=environment)
    return time.perf_counter() - start_s
