"""What the system itself says of a core's time: the queue, stolen time, interrupts, switches."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

TICKS_PER_S = 100  # in which Linux shows stolen time
PROC = Path("/proc")


def of_thread(proc: Path = PROC) -> tuple[float, int]:
    """Return how long the calling thread was queued for a core so far, in s, and its switches.

    These are the involuntary ones. 0 for what this system does not count.
    """
    import resource  # Windows has none

    queued_s = 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        queued_s = int((proc / "thread-self/schedstat").read_text().split()[1]) * 1e-9
    who = getattr(resource, "RUSAGE_THREAD", None)  # Linux
    return queued_s, resource.getrusage(who).ru_nivcsw if who is not None else 0


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
