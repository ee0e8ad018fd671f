"""The load and the clock of each hardware thread.

Load is the share of the time since the previous sample that the kernel counted as work. It comes
from the `cpuN` lines of /proc/stat. The kernel counts ticks of 10 ms, so a share over 100 ms has
steps of 10 %. Time that the hypervisor gave to others ("steal") is neither work nor idle.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from machine.facts import Reason, lacking
from machine.model import Missing
from machine.record import Record
from machine.system.linux import CPU, is_elsewhere, numbered, read_int, read_text

_CLOCKS_EVERY_S = 1.0  # some drivers wake a core to read its clock
_THREAD = re.compile(r"^cpu(\d+) (.+)$", re.MULTILINE)
_UNKNOWN = {
    "busy": Reason(
        "A share of time needs two samples; this is the first of this thread.",
        "Wait for the next sample.",
    ),
    "hz": Reason(
        "The kernel has no cpufreq driver here.",
        "Watch on the physical machine, if this one is virtual.",
    ),
    "steal_fraction": Reason(
        "A share of time needs two samples, and only Linux counts stolen time.",
        "Wait for the next sample.",
    ),
}
_UNKNOWN_ELSEWHERE = {
    "busy": _UNKNOWN["busy"],
    "hz": Reason(
        "This system does not tell programs the clock of each thread.",
        "Task Manager on Windows, or powermetrics on macOS as administrator.",
    ),
    "steal_fraction": Reason(
        "Only Linux counts the time that a host takes away.", "There is nothing to look at."
    ),
}
_NO_THREADS_ELSEWHERE = Reason(
    "This system tells no load of its threads.", "Look into the system's own monitor."
)
_NO_THREADS = Reason("The kernel shows no /proc/stat to this process.", "ls -l /proc/stat")


class ThreadSample(Record):
    """`busy` and `steal_fraction` are shares of the time since the previous sample."""

    id: int
    busy: float | None
    hz: float | None
    steal_fraction: float | None


class _Times(NamedTuple):
    """Time since the boot, in any unit."""

    idle: float
    stolen: float | None
    total: float


class ThreadSampler:
    """Samples the threads; remembers the previous times."""

    def __init__(self, root: Path) -> None:
        self._stat = root / "proc/stat"
        self._before: dict[int, _Times] = {}
        self._clock_files = _clock_files(root)
        self._clocks: dict[int, float | None] = {}
        self._clocks_s = -math.inf

    def sample(self, now_s: float) -> tuple[ThreadSample, ...]:
        """Return the load of the online threads, by the kernel's numbers."""
        if now_s - self._clocks_s >= _CLOCKS_EVERY_S:
            self._clocks, self._clocks_s = self._read_clocks(), now_s
        now = _read_times(self._stat)
        samples = []
        for number, times in now.items():
            before = self._before.get(number)
            busy = steal_fraction = None
            if before is not None and times.total > before.total:
                busy, steal_fraction = _shares(before, times)
            samples.append(
                ThreadSample(
                    id=number,
                    busy=busy,
                    hz=self._clocks.get(number),
                    steal_fraction=steal_fraction,
                )
            )
        self._before = now  # a thread that was offline starts again
        return tuple(samples)

    def _read_clocks(self) -> dict[int, float | None]:
        read = {file: read_int(file) for file in set(self._clock_files.values())}
        return {
            thread: None if (khz := read[file]) is None else khz * 1000.0
            for thread, file in self._clock_files.items()
        }


def missing(threads: tuple[ThreadSample, ...]) -> Iterator[Missing]:
    """Yield the reasons for missing values of these samples."""
    if not threads:
        yield (_NO_THREADS_ELSEWHERE if is_elsewhere() else _NO_THREADS).of("threads")
    yield from lacking("threads[*]", threads, _UNKNOWN_ELSEWHERE if is_elsewhere() else _UNKNOWN)


def _shares(before: _Times, after: _Times) -> tuple[float, float | None]:
    passed = after.total - before.total
    steal_fraction = None
    if before.stolen is not None and after.stolen is not None:
        steal_fraction = _fraction(after.stolen - before.stolen, passed)
    idle_fraction = _fraction(after.idle - before.idle, passed)
    return _fraction(1 - idle_fraction - (steal_fraction or 0.0), 1), steal_fraction


def _fraction(part: float, whole: float) -> float:
    """Return a share; the kernel's counts of iowait and steal may run backwards."""
    return round(min(1.0, max(0.0, part / whole)), 4)


def _read_times(stat: Path) -> dict[int, _Times]:
    """Return the times of the online threads, by the kernel's numbers."""
    if is_elsewhere():
        import psutil

        return {
            number: _Times(idle=times.idle, stolen=None, total=sum(times))
            for number, times in enumerate(psutil.cpu_times(percpu=True))
        }
    found = {}
    for match in _THREAD.finditer(read_text(stat) or ""):
        # user nice system idle iowait irq softirq steal; guest times are part of user and nice.
        ticks = [int(word) for word in match[2].split()[:8]]
        found[int(match[1])] = _Times(
            idle=sum(ticks[3:5]), stolen=ticks[7] if len(ticks) > 7 else None, total=sum(ticks)
        )
    return found


def _clock_files(root: Path) -> dict[int, Path]:
    """Return the file with the clock of each thread; threads of one policy share a file."""
    folder = root / CPU / "cpufreq"
    files = {}
    for number in numbered(folder, "policy"):
        policy = folder / f"policy{number}"
        for word in (read_text(policy / "related_cpus") or "").split():  # "0 1 2"
            files[int(word)] = policy / "scaling_cur_freq"
    return files
