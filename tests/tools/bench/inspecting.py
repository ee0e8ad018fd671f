"""Times of inspecting a machine.

Inside of one process, as the worker of the window does it; the first time is without the imports.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.core.units import show
from machine.inspect import inspect
from tests.machine.recordings import is_here, unpack
from tests.machine.trees import Tree
from tests.tools.bench.lines import Line

HERE_S, LARGE_S = 0.050, 0.300
ROUNDS = 9
RECORDING, THREADS = "256ppc-8n8s4t", 256


def lines() -> Iterator[Line]:
    yield _line("inspecting this machine", None, HERE_S)
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # as /sys is
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        if is_here(RECORDING):
            yield _line("inspecting 256 recorded threads", unpack(RECORDING, Path(folder)), LARGE_S)
        else:
            yield _line("inspecting 256 made-up threads", _tree(Path(folder)), LARGE_S)


def _line(what: str, root: Path | None, budget_s: float) -> Line:
    times_s = []
    for _ in range(ROUNDS):
        start_s = time.perf_counter()
        inspect(root)
        times_s.append(time.perf_counter() - start_s)
    median_s = statistics.median(times_s)
    figure = f"{show(median_s, 's')}, the first time {show(times_s[0], 's')}"
    return Line(what, figure, show(budget_s, "s"), median_s <= budget_s)


def _tree(folder: Path) -> Path:
    """Return a machine of many threads with all caches."""
    tree = Tree(folder / "root")
    tree.cpus(THREADS, threads_per_core=2, packages=2)
    half = THREADS // 2
    for n in range(THREADS):
        core = f"{n // 2 * 2}-{n // 2 * 2 + 1}"
        tree.cache(n, 0, 1, "Data", "48K", core)
        tree.cache(n, 1, 1, "Instruction", "32K", core)
        tree.cache(n, 2, 2, "Unified", "1024K", core)
        tree.cache(n, 3, 3, "Unified", "32768K", f"{n // 16 * 16}-{n // 16 * 16 + 15}")
    for node in range(2):
        folder_of_node = f"/sys/devices/system/node/node{node}"
        tree.write(f"{folder_of_node}/cpulist", f"{node * half}-{node * half + half - 1}\n")
        tree.write(f"{folder_of_node}/distance", "10 32\n" if node == 0 else "32 10\n")
    return tree.root
