"""The clock of the system that runs on while the machine sleeps."""

from __future__ import annotations

import sys
import time


def since_start_s() -> float | None:
    """Return the seconds since the machine was started, its sleep included; None but on Linux.

    The monotonic clock of Linux stands still in sleep.
    """
    told_s: float | None = None
    if sys.platform == "linux":
        told_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return told_s
