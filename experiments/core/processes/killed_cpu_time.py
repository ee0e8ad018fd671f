"""CPU time of killed processes that no parent waited for.

The system counts the time of a child as that of its parent only once the parent has waited.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

_ended_s: list[float] = []


def end(process: psutil.Process) -> None:
    """Kill a process that is not a child of this one, and remember what it has used."""
    import psutil

    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        process.kill()
        _ended_s.append(sum(times[:4]))  # user and system, its own and of its ended children


def used_s() -> float:
    """Return the seconds of processor time of all that were ended so."""
    return sum(_ended_s)
