"""Facts that psutil and Python's standard library know on every system."""

from __future__ import annotations

import contextlib
import os
import platform

from machine.record import Record

ASKED = "psutil.cpu_count()"
PINNED = "psutil.Process().cpu_affinity()"
MEMORY = "psutil.virtual_memory()"
SWAP = "psutil.swap_memory()"


class Basics(Record):
    """Counts of threads and cores, memory and names; `usable` threads are this process's."""

    release: str | None = None
    architecture: str | None = None
    processor: str | None = None
    threads: int | None = None
    cores: int | None = None
    usable: tuple[int, ...] | None = None
    memory_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None


def ask() -> Basics:
    """Return these facts of the running machine."""
    import psutil

    affinity = getattr(psutil.Process(), "cpu_affinity", None)  # not on macOS
    swap = None
    with contextlib.suppress(OSError, RuntimeError):  # Windows without its performance counters
        swap = psutil.swap_memory()
    return Basics(
        release=platform.release() or None,
        architecture=platform.machine() or None,
        processor=platform.processor() or None,
        threads=psutil.cpu_count() or os.cpu_count(),
        cores=psutil.cpu_count(logical=False),
        usable=None if affinity is None else tuple(sorted(affinity())),
        memory_bytes=psutil.virtual_memory().total,
        swap_total_bytes=swap and swap.total,
        swap_used_bytes=swap and swap.used,
    )
