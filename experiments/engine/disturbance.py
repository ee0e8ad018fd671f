"""Other programs' use of the machine before and during a run, and whether it slept."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.core.declare import Note
from experiments.core.processes import killed_cpu_time as unwaited
from experiments.core.processes.started_cpu_time import own_job
from experiments.engine.guardian import MARK, PROGRAM
from machine.live.threads import ThreadSampler
from machine.system.clocks import since_start_s
from machine.system.processes import family, used_s

BUSY_FRACTION = 0.05  # of all processor time, used by other programs
STOLEN_FRACTION = 0.02  # given by the host to other virtual machines
PROGRAM_FRACTION = 0.1  # used to draw the run: the window keeps to less than that of one core
LEAST_S = 2.0  # of sleep
LOOK_S = 0.1  # at the load of each hardware thread
ALIKE_FRACTION = 0.15  # of load: the kernel counts ticks of 10 ms


class Quietest:
    """Chooses the hardware thread on which the least goes on, when it is first asked."""

    def __init__(self) -> None:
        self._busy: dict[int, float] | None = None

    def __call__(self, threads: Sequence[int]) -> int:
        """Return the last of the quietest: interrupts and desktops prefer the first."""
        if self._busy is None:
            sampler = ThreadSampler(Path("/"))
            sampler.sample(time.monotonic())
            time.sleep(LOOK_S)
            found = sampler.sample(time.monotonic())
            self._busy = {thread.id: thread.busy or 0.0 for thread in found}
        least = min(self._busy.get(thread, 0.0) for thread in threads)
        return max(t for t in threads if self._busy.get(t, 0.0) <= least + ALIKE_FRACTION)


class Disturbance:
    """Watches from when it is made; ask once, when the run's own children have been waited for.

    `is_measured`: the run measures this load itself, so it is no reason to doubt the run.
    """

    def __init__(self, *, is_measured: bool = False) -> None:
        self._start, self._is_measured = _Used.now(), is_measured

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave out what is used meanwhile."""
        before = _Used.now()
        yield
        meanwhile = zip(self._start, before, _Used.now(), strict=True)
        self._start = _Used(*(start + now - then for start, then, now in meanwhile))

    def notes(self, *, still_runs: bool = False) -> Iterator[Note]:
        """Yield `machine_was_quiet`, `machine_was_busy` or `time_was_stolen`.

        Or `load_was_measured`, where that is what the run is for. And `program_was_busy`, where the
        window or the terminal that shows the run took much.
        `still_runs`: some of the run's own children may not have been waited for.
        """
        before, after = self._start, _Used.now()
        if (
            still_runs and sys.platform != "win32"
        ):  # which counts them as it counts those that ended
            after = after._replace(own_s=after.own_s + used_s(family(os.getpid()) - {os.getpid()}))
        total_s = (after.clock_s - before.clock_s) * (os.cpu_count() or 1)
        busy_s = after.busy_s - before.busy_s
        program_s = after.program_s - before.program_s
        others_s = max(0.0, busy_s - (after.own_s - before.own_s) - program_s)
        values = {
            "others_fraction": round(min(1.0, others_s / total_s), 4),
            "stolen_fraction": round(min(1.0, (after.stolen_s - before.stolen_s) / total_s), 4),
        }
        if self._is_measured:
            yield Note("load_was_measured", values)
        elif values["others_fraction"] > BUSY_FRACTION:
            yield Note("machine_was_busy", values)
        elif values["stolen_fraction"] > STOLEN_FRACTION:
            yield Note("time_was_stolen", values)
        else:
            yield Note("machine_was_quiet", values)
        program = {"program_fraction": round(program_s / total_s, 4)}
        if program["program_fraction"] > PROGRAM_FRACTION:
            yield Note("program_was_busy", program)


class Sleep:
    """Notices that the machine slept: the clock of the bench stands still meanwhile."""

    def __init__(self) -> None:
        self._apart_s = _apart_s()

    def note(self) -> Note | None:
        """Return `machine_slept` if it did since the last time this was asked."""
        before_s, self._apart_s = self._apart_s, _apart_s()
        slept_s = self._apart_s - before_s
        return Note("machine_slept", {"slept_s": round(slept_s)}) if slept_s > LEAST_S else None


def _apart_s() -> float:
    """Return how far a clock that runs on in sleep is ahead of a clock that stands still.

    Linux has both. Elsewhere the wall clock stands in, which may also be set meanwhile.
    """
    boot_s = since_start_s()
    return (time.time() if boot_s is None else boot_s) - time.monotonic()


class _Used(NamedTuple):
    """Seconds of processor time so far.

    Of everybody, of this process and all that it has ended, and of the program that shows the run.
    """

    clock_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    program_s: float

    @classmethod
    def now(cls) -> _Used:
        import psutil

        times = psutil.cpu_times()
        idle_s = times.idle + getattr(times, "iowait", 0.0)
        stolen_s = getattr(times, "steal", 0.0)
        # Guests are counted as user time already.
        used_s = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        return cls(
            time.monotonic(),
            used_s - idle_s - stolen_s,
            stolen_s,
            _own_s(),
            _program_s(),
        )


def _own_s() -> float:
    """Return what this process has used, and all that it has started and ended."""
    if os.name == "nt":
        return own_job().used_s()
    return sum(os.times()[:4]) + unwaited.used_s()


def _program_s() -> float:
    """Return what the guardian of this process and the program that shows the run have used.

    Both hand down their ids: on Windows, an environment's launcher stands between parent and child.
    """
    import psutil

    total_s = 0.0
    for variable in (MARK, PROGRAM):
        with contextlib.suppress(psutil.Error, ValueError):  # ValueError: none was handed down
            times = psutil.Process(int(os.environ.get(variable, "").partition(":")[0])).cpu_times()
            total_s += times.user + times.system
    return total_s
