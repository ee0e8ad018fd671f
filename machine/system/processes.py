"""Processes with all that they have started, and the processor time that they have used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable


def family(pid: int | None) -> set[int]:
    """Return the process and all that it and its children have started; none if it has ended."""
    import psutil

    found = set[int]()
    if pid is not None:
        with contextlib.suppress(psutil.Error):
            found = {pid, *(each.pid for each in psutil.Process(pid).children(recursive=True))}
    return found


def used_s(pids: Iterable[int]) -> float:
    """Return the processor time of these processes, with their children that have ended."""
    import psutil

    seconds = 0.0
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            seconds += sum(psutil.Process(pid).cpu_times()[:4])
    return seconds
