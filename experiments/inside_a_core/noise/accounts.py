"""Reads the system's own counts for the cores: stolen time and interrupts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

TICKS_PER_S = 100  # in which Linux shows stolen time
PROC = Path("/proc")


def of_cores(proc: Path = PROC) -> Mapping[int, tuple[float, int]]:
    """Return what each hardware thread has lost to the host so far, in s, and its interrupts.

    Nothing where the system does not count them.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = [line.split() for line in (proc / "stat").read_text().splitlines()]
        stolen = {line[0]: int(line[8]) / TICKS_PER_S for line in lines if len(line) > 8}
        head, *counts = (proc / "interrupts").read_text().splitlines()
        names = head.lower().split()
        words = [line.split()[1 : 1 + len(names)] for line in counts]
        columns = zip(*(map(int, row) for row in words if len(row) == len(names)), strict=True)
        of = dict(zip(names, map(sum, columns), strict=True))
        return {int(name[3:]): (stolen.get(name, 0.0), count) for name, count in of.items()}
    return {}
