"""Processes that hold GPU memory, and for how long each GPU has been idle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum

from experiments.presentation.load.history import Moment
from machine.live import gpu_samples
from machine.record import names


class Right(Enum):
    """The user's right to end a process."""

    ASK = "ask"  # yes, and it has not been asked yet
    FORCE = "force"  # it was asked and runs on
    OTHERS = "others"  # it belongs to somebody else
    OWN = "own"  # it is this program
    GONE = "gone"  # there is nothing to end: the process has gone
    HIDDEN = "hidden"  # it cannot be seen from here


class GpuProcess(gpu_samples.GpuProcess):
    """A process that holds memory of a GPU, and which that is."""

    gpu: int


def gpu_processes(moment: Moment) -> Iterator[GpuProcess]:
    """Yield the processes of all GPUs, in their order."""
    for gpu in moment.gpus:
        for process in gpu.get("processes") or ():
            if process.get("pid") is not None:
                found = {name: process.get(name) for name in names(GpuProcess) if name != "gpu"}
                yield GpuProcess(gpu=gpu["index"], **found)


class Idleness:
    """For how long each GPU has been idle, without a gap in the samples."""

    def __init__(self) -> None:
        self._since_s: dict[int, float] = {}
        self._now_s = 0.0

    def take(self, moment: Moment) -> None:
        """Add a sample; a gap or an unknown load restarts the time."""
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
        """Return for how long a GPU is known to be idle."""
        return self._now_s - self._since_s.get(index, math.inf)
