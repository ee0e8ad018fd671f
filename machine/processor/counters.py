"""Counters of the processor, as Linux lends them to a thread: cycles, instructions, misses.

Six of them at most run beside each other on most processors. The kernel lets more take turns; each
count is then scaled by the share of the time in which it ran, and `running_fraction` says so.
Source: perf_event_open(2), prctl(2), and include/uapi/linux/perf_event.h of the kernel.

LIMIT: values of real events are not yet seen; the virtual machines that ran this show none.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from machine.record import Record

_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
_ENABLE, _DISABLE = 32, 31  # PR_TASK_PERF_EVENTS_*: all that the calling thread has opened
HARDWARE, SOFTWARE, CACHE = 0, 1, 3
_LOAD_MISSES = 1 << 16  # of the kind CACHE: loads are operation 0, misses result 1
_ATTRIBUTES = "<IIQQQQQIIQQQQIiQIHH"
_SIZE = 128  # of perf_event_attr, as of Linux 5.13; older kernels take a longer one of zeros
_DISABLED, _NO_KERNEL, _NO_HYPERVISOR = 1, 1 << 5, 1 << 6
_TIMES = 3  # read the time for which it was enabled, and that for which it ran
_CLOSE_ON_EXEC = 8
EVENTS = {
    "cycles": (HARDWARE, 0),
    "instructions": (HARDWARE, 1),
    "branch_misses": (HARDWARE, 5),
    "l1_misses": (CACHE, 0 | _LOAD_MISSES),
    "last_level_misses": (CACHE, 2 | _LOAD_MISSES),
    "translation_misses": (CACHE, 3 | _LOAD_MISSES),
}
NO_LINUX = "no_linux"
KNOWN_REFUSALS = ("ENOENT", "EACCES", "EPERM", NO_LINUX)  # there is a remedy in words for each


class Counts(Record):
    """Counts of events in the threads of a sample while it was timed.

    `operations` is how often the sample did what it times, 0 where nothing says so.
    `running_fraction` is the least share of the time for which one of the events really ran.
    """

    events: dict[str, int]
    operations: int = 0
    running_fraction: float = 1.0

    def __add__(self, other: Counts) -> Counts:
        """Return both together: of the events that both have."""
        is_told = self.operations and other.operations
        return Counts(
            events={
                name: count + other.events[name]
                for name, count in self.events.items()
                if name in other.events
            },
            operations=self.operations + other.operations if is_told else 0,
            running_fraction=min(self.running_fraction, other.running_fraction),
        )


class Reading(Record, kw_only=False):
    """A counter so far: its count, and nanoseconds for which it was enabled, and ran."""

    value: int
    enabled_ns: int
    running_ns: int


class Refused(Exception):
    """The system lends no counter; its text is the name of the error, such as ENOENT."""


class Counters:
    """The counters of the thread that opened them, off until `begin`. They end with the object."""

    def __init__(
        self,
        read: Mapping[str, Callable[[], Reading]],
        switch: Callable[[bool], object],
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self._read, self._switch, self._close = read, switch, close

    def begin(self) -> Callable[[int], Counts | None]:
        """Switch them on. The function returned switches them off, and takes the operations.

        It returns None where no event came to its turn.
        """
        before = {name: read() for name, read in self._read.items()}
        self._switch(True)

        def end(operations: int) -> Counts | None:
            self._switch(False)
            events, shares = {}, [1.0]
            for name, read in self._read.items():
                now, then = read(), before[name]
                ran_ns = now.running_ns - then.running_ns
                if ran_ns <= 0:
                    continue
                shares.append(min(1.0, ran_ns / (now.enabled_ns - then.enabled_ns)))
                events[name] = round((now.value - then.value) / shares[-1])
            if not events:
                return None
            return Counts(
                events=events, operations=operations, running_fraction=round(min(shares), 4)
            )

        return end

    def __del__(self) -> None:
        self._close()


def opened(events: Mapping[str, tuple[int, int]] = EVENTS) -> Counters:
    """Return counters of the calling thread: of those events that there are, in user mode.

    Raises Refused where there is none.
    """
    number = _CALL.get(platform.machine()) if platform.system() == "Linux" else None
    if number is None:
        raise Refused(NO_LINUX)
    libc = ctypes.CDLL(None, use_errno=True)
    files: dict[str, int] = {}
    why = ""
    for name, (kind, config) in events.items():
        flags = _DISABLED | _NO_KERNEL | _NO_HYPERVISOR  # with the kernel, EACCES hides ENOENT
        fields = (kind, _SIZE, config, 0, 0, _TIMES, flags, *[0] * 12)
        attributes = ctypes.create_string_buffer(struct.pack(_ATTRIBUTES, *fields), _SIZE)
        own, any_cpu, no_group = ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1)
        call, how = ctypes.c_long(number), ctypes.c_ulong(_CLOSE_ON_EXEC)
        file = libc.syscall(call, attributes, own, any_cpu, no_group, how)
        if file >= 0:
            files[name] = file
        else:
            why = why or errno.errorcode.get(ctypes.get_errno(), "?")
    if not files:
        raise Refused(why)
    return Counters(
        {name: partial(_reading, file) for name, file in files.items()},
        lambda on: libc.prctl(_ENABLE if on else _DISABLE, 0, 0, 0, 0),
        partial(_close, files.values()),
    )


def refusal() -> str:
    """Return why the calling thread gets no counter, "" where it gets some."""
    try:
        opened()
    except Refused as error:
        return str(error)
    return ""


_of_thread = threading.local()


def count() -> Callable[[int], Counts | None]:
    """Begin to count in the calling thread; see `Counters.begin`. Nothing, where it gets none.

    A thread opens its counters once, and they are closed when it ends.
    """
    if not hasattr(_of_thread, "counters"):
        try:
            _of_thread.counters = opened()
        except Refused:
            _of_thread.counters = Counters({}, lambda _on: None)
    counters: Counters = _of_thread.counters
    return counters.begin()


def _reading(file: int) -> Reading:
    return Reading(*struct.unpack("<QQQ", os.read(file, 24)))


def _close(files: Iterable[int]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            os.close(file)
