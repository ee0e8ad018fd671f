"""Samples of the last 60 seconds, and the gaps between them.

A share in a sample covers the time since the sample before. More than `GAP_S` without a sample (a
paused watch, a machine asleep) is a gap, and drawn as one.
"""

from __future__ import annotations

import bisect
import collections
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from machine.record import Record
from machine.system.clocks import since_start_s

SPAN_S = 60.0
GAP_S = 1.5  # three samples at the slowest rate of Live

Parts = Sequence[Mapping[str, Any]]  # of a sample: one for each disk, network interface or GPU


class Moment(Record):
    """One sample. Its shares are drawn from `since_s` to `at_s`; after a gap these are equal.

    Unknown values are None, never 0.
    """

    at_s: float
    since_s: float
    after_gap: bool
    threads: Mapping[int, float | None]  # the busy share of each hardware thread
    busy_fraction: float | None
    stolen_fraction: float | None
    lowest_hz: float | None
    highest_hz: float | None
    memory: Mapping[str, Any]
    disks: Parts = ()
    network: Parts = ()
    gpus: Parts = ()
    heat: Mapping[str, Any] | None = None  # of the processor; None without a sensor

    @property
    def memory_fraction(self) -> float | None:
        """The share of the memory that is not available to programs."""
        return ratio(self.memory.get("used_bytes"), self.memory.get("total_bytes"))

    @property
    def celsius(self) -> float | None:
        """The temperature of the hottest package of the processor."""
        return max(_known((self.heat or {}).get("sensors", ()), "now_celsius"), default=None)

    @property
    def swap_fraction(self) -> float | None:
        """The share of the swap space that is in use."""
        return ratio(self.memory.get("swap_used_bytes"), self.memory.get("swap_total_bytes"))

    def gpu(self, index: int) -> Mapping[str, Any] | None:
        """Return the values of one GPU; None if it is not in the sample."""
        return next((gpu for gpu in self.gpus if gpu.get("index") == index), None)


class Mark(Record, kw_only=False):
    """A moment that the user marked."""

    number: int
    at_s: float


def asleep_s() -> float:
    """Return how long the machine has slept since its start, 0 if unknown."""
    boot_s = since_start_s()
    return 0.0 if boot_s is None else boot_s - time.monotonic()


class History:
    """The samples of the last minute. Time goes on when a watch ends and another begins."""

    def __init__(
        self,
        clock_s: Callable[[], float] = time.monotonic,
        asleep_s: Callable[[], float] = asleep_s,
    ) -> None:
        self.moments: collections.deque[Moment] = collections.deque()
        self.marks: list[Mark] = []
        self._clock_s, self._asleep_s = clock_s, asleep_s
        self._came_s = self._slept_s = self._t_s = 0.0
        self._shift_s = 0.0  # from the watch's time to that of this history
        self._marked = 0

    @property
    def now_s(self) -> float:
        """The time of the newest sample."""
        return self.moments[-1].at_s if self.moments else 0.0

    def add(
        self,
        t_s: float,
        threads: Parts,
        memory: Mapping[str, Any],
        *,
        disks: Parts = (),
        network: Parts = (),
        gpus: Parts = (),
        heat: Mapping[str, Any] | None = None,
    ) -> Moment:
        """Keep a sample as the engine sent it; drop those older than `SPAN_S`."""
        at_s = self._place_in_time(t_s)
        before = self.moments[-1] if self.moments else None
        after_gap = before is None or at_s - before.at_s > GAP_S
        clocks = _known(threads, "hz")
        moment = Moment(
            at_s=at_s,
            since_s=at_s if before is None or after_gap else before.at_s,
            after_gap=after_gap,
            threads={thread["id"]: thread.get("busy") for thread in threads},
            busy_fraction=_mean(_known(threads, "busy")),
            stolen_fraction=_mean(_known(threads, "steal_fraction")),
            lowest_hz=min(clocks, default=None),
            highest_hz=max(clocks, default=None),
            memory=memory,
            disks=disks,
            network=network,
            gpus=gpus,
            heat=heat,
        )
        self.moments.append(moment)
        # One sample beyond the edge stays, as the start of the line.
        while len(self.moments) > 2 and self.moments[1].at_s < at_s - SPAN_S:
            self.moments.popleft()
        self.marks = [mark for mark in self.marks if mark.at_s >= at_s - SPAN_S]
        return moment

    def mark(self, at_s: float) -> Mark:
        """Mark a time."""
        self._marked += 1
        mark = Mark(self._marked, at_s)
        self.marks.append(mark)
        return mark

    def since(self, at_s: float) -> Sequence[Moment]:
        """Return the samples after `at_s`, the oldest first."""
        new = []
        for moment in reversed(self.moments):
            if moment.at_s <= at_s:
                break
            new.append(moment)
        return new[::-1]

    def at(self, ago_s: float) -> Moment | None:
        """Return the sample that covers the time `ago_s` before the newest; None in a gap."""
        at_s = self.now_s - ago_s
        place = bisect.bisect_left(self.moments, at_s, key=lambda moment: moment.at_s)
        if place == len(self.moments):
            return None
        moment = self.moments[place]
        return moment if moment.since_s <= at_s else None

    def freeze(self) -> History:
        """Return a copy that later samples do not change."""
        frozen = History(self._clock_s, self._asleep_s)
        frozen.moments = self.moments.copy()
        frozen.marks = self.marks.copy()
        return frozen

    def _place_in_time(self, t_s: float) -> float:
        came_s, slept_s = self._clock_s(), self._asleep_s()
        if self.moments:
            if t_s <= self._t_s:  # another watch, with its own start
                passed_s = max(came_s - self._came_s, 0.0) + GAP_S
                self._shift_s = self.now_s + passed_s - t_s
            if (asleep_s := slept_s - self._slept_s) > GAP_S:
                self._shift_s += asleep_s
        self._came_s, self._slept_s, self._t_s = came_s, slept_s, t_s
        return t_s + self._shift_s


def _known(parts: Parts, name: str) -> list[float]:
    return [value for part in parts if (value := part.get(name)) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """Return the share that a part is of a whole; None if either is unknown, or there is none."""
    return part / whole if part is not None and whole else None
