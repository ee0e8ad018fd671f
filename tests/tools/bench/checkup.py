"""The cost of a checkup for the machine: its time, its memory, and the reading of a report.

The quick one and the long one, as a user starts them; memory is that of all their processes
together, looked at ten times a second.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import psutil

from experiments.core.units import show
from tests.tools.bench.lines import Line

QUICK_S, CHECK_S = 60.0, 240.0
LOOK_S = 0.1


def lines() -> Iterator[Line]:
    yield from _checkup("a quick checkup", QUICK_S, "--quick")
    yield from _checkup("a checkup", CHECK_S)


def _checkup(name: str, budget_s: float, *options: str) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "app", "--data", data, "checkup", *options]
        start_s, peak_bytes, processes = time.monotonic(), 0, 0
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            whole = psutil.Process(running.pid)
            while running.poll() is None:
                family = _family(whole)
                peak_bytes = max(peak_bytes, sum(map(_own_bytes, family)))
                processes = max(processes, len(family))
                time.sleep(LOOK_S)
        took_s = time.monotonic() - start_s
    yield Line(
        f"{name}, from start to end",
        show(took_s, "duration"),
        f"at most {show(budget_s, 'duration')}",
        took_s <= budget_s,
    )
    yield Line(
        f"{name}, memory at its peak", f"{show(peak_bytes, 'bytes')} in {processes} processes"
    )


def _family(whole: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return [whole, *whole.children(recursive=True)]
    return []


def _own_bytes(process: psutil.Process) -> int:
    """Return what a process would give back at its end; shared pages count once at most."""
    with contextlib.suppress(psutil.Error):
        return int(process.memory_full_info().uss)
    return 0
