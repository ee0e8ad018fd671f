"""Which processes hold memory of a GPU, and does that GPU do anything?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from widgets.live.history import Moment


class Right(Enum):
    """May this person end a process?"""

    ASK = "ask"  # yes, and it has not been asked yet
    FORCE = "force"  # it was asked and runs on
    OTHERS = "others"  # it belongs to somebody else
    OWN = "own"  # it is this program
    GONE = "gone"  # there is nothing to end: the process has gone
    HIDDEN = "hidden"  # it cannot be seen from here


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """A process that holds memory of a GPU."""

    gpu: int
    pid: int
    memory_bytes: int | None = None
    kind: str | None = None
    user: str | None = None
    age_s: float | None = None
    command: str | None = None


def gpu_processes(moment: Moment) -> Iterator[GpuProcess]:
    """Yield the processes of all GPUs, in their order."""
    for gpu in moment.gpus:
        for process in gpu.get("processes") or ():
            if process.get("pid") is not None:
                found = {name: process.get(name) for name in GpuProcess.__slots__ if name != "gpu"}
                yield GpuProcess(gpu=gpu["index"], **found)


class Idleness:
    """For how long has each GPU done nothing, while somebody looked all the time?"""

    def __init__(self) -> None:
        self._since_s: dict[int, float] = {}
        self._now_s = 0.0

    def take(self, moment: Moment) -> None:
        """Take in a sample; a gap, or a load that is not known, begins anew."""
        self._now_s = moment.at_s
        if moment.after_gap:
            self._since_s.clear()
        found = {gpu["index"]: gpu.get("busy") for gpu in moment.gpus}
        for index in {*found, *self._since_s}:
            if found.get(index) == 0:
                self._since_s.setdefault(index, moment.since_s)
            else:
                self._since_s.pop(index, None)

    def idle_s(self, index: int) -> float:
        """Return the time since a GPU is known to do nothing."""
        return self._now_s - self._since_s.get(index, math.inf)
