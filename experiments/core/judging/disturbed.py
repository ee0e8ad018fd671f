"""Time that the system took from threads while they were timed, and the marks of such rows."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from machine.processor.counters import Counts
from machine.record import Record

R = TypeVar("R", bound=Record)

DISTURBED_FRACTION = 0.05  # a sample that lost more of its time is left out of every statistic
SHORTEST_S = 5e-4  # of what is no trial: samples take a millisecond or more
MOSTLY_DISTURBED = "mostly_disturbed"  # what a finding says where few samples are left
SCHEDULER = "/proc/thread-self/schedstat"  # ns on a core, ns in the queue for one, turns


class Loss(Record, kw_only=False):
    """The share of a sample's time that its thread wanted a core and had none, and how often."""

    lost_fraction: float
    switches: int  # involuntary ones


def watch() -> Callable[[], Loss]:
    """Begin to watch the calling thread; the returned function gives its loss since.

    A thread that never gave up its core should have had it all the time: what its own clock lacks
    of the time was taken, by other programs or by the host. Of a thread that also waited, only the
    time in the queue for a core is known to be.
    """
    begin = Spent.now()

    def loss() -> Loss:
        end = Spent.now()
        whole_s, switches = end.clock_s - begin.clock_s, end.involuntary - begin.involuntary
        queued_s = end.queued_s - begin.queued_s
        if end.voluntary == begin.voluntary:
            queued_s = max(queued_s, whole_s - (end.own_s - begin.own_s))
        if whole_s < SHORTEST_S:
            return Loss(0.0, switches)
        return Loss(round(min(1.0, queued_s / whole_s), 4), switches)

    return loss


WATCH = watch if sys.platform == "linux" else None  # elsewhere nobody tells it of a thread


class Spent(Record, kw_only=False):
    """Of the calling thread so far: seconds by the clock, on a core, in the queue; switches."""

    clock_s: float
    own_s: float
    queued_s: float
    involuntary: int
    voluntary: int

    @classmethod
    def now(cls) -> Spent:
        """Return it; 0 for what this system does not count."""
        queued_s, involuntary, voluntary = 0.0, 0, 0
        if sys.platform == "linux":  # where alone it is asked, see WATCH
            import resource

            used = resource.getrusage(resource.RUSAGE_THREAD)
            involuntary, voluntary = used.ru_nivcsw, used.ru_nvcsw
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every kernel counts it
            file = os.open(SCHEDULER, os.O_RDONLY)
            try:
                queued_s = int(os.read(file, 100).split()[1]) * 1e-9
            finally:
                os.close(file)
        own_s = time.thread_time()
        return cls(time.perf_counter(), own_s, queued_s, involuntary, voluntary)


class _Marked:
    """A row with what is known of its sample: how it was disturbed, and what was counted."""

    disturbed: Loss | None
    counts: Counts | None


@functools.cache
def _marked_type(row_type: Any) -> Any:
    """Return the type of the marked rows among those of a type."""
    return type(row_type)(f"Marked{row_type.__name__}", (_Marked, row_type), {}, dict=True)


def mark(row: R, loss: Loss | None, counts: Counts | None = None) -> R:
    """Return the row with its loss and its counts; equal in all that it says. As it is without."""
    if loss is None and counts is None:
        return row
    marked: R = _marked_type(type(row))(**msgspec.structs.asdict(row))
    msgspec.structs.force_setattr(marked, "disturbed", loss)
    msgspec.structs.force_setattr(marked, "counts", counts)
    return marked


def loss_of(row: object) -> Loss | None:
    """Return what was taken from a row's sample; None where it was not disturbed."""
    return row.disturbed if isinstance(row, _Marked) else None


def counts_of(row: object) -> Counts | None:
    """Return what the processor counted during a row's sample; None where nothing was."""
    return row.counts if isinstance(row, _Marked) else None


def counting(rows: Iterable[Any]) -> list[Any]:
    """Return the rows that were not disturbed: those that count in a statistic."""
    return [row for row in rows if loss_of(row) is None]
