"""The machine on Windows and macOS, as psutil and the standard library tell it.

LIMIT: simple facts only. Caches, nodes, and kinds of cores would need each system's own calls.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from typing import Any

from machine.facts import Notes, Reason
from machine.model import Cpu, CpuCounts, Memory, OperatingSystem, Thread
from machine.record import names
from machine.system.asking import output

_WHY = "This version of Coreopsis reads it on Linux only."
_HOW = {
    "win32": "Get-CimInstance Win32_Processor in PowerShell, or Coreinfo of Sysinternals.",
    "darwin": "sysctl hw machdep.cpu",
}
_HOW_MODULES = {
    "win32": "Get-CimInstance Win32_PhysicalMemory in PowerShell.",
    "darwin": "system_profiler SPMemoryDataType",
}
_UNREAD = Reason(_WHY, _HOW.get(sys.platform, "Look into the manual of this system."))
_NO_MODULES = Reason(_WHY, _HOW_MODULES.get(sys.platform, "Look into the manual of the mainboard."))
_UNPINNED = Reason("This system cannot pin processes to threads.", "Nothing to do.")
_NO_DISTRIBUTION = Reason("Only Linux has distributions.", "Nothing to do.")


def parts(notes: Notes) -> Iterator[tuple[str, Any]]:
    """Yield the same parts of the running machine as on Linux."""
    yield "os", _read_system(notes)
    for name in ("system", "virtualization", "container", "numa", "pci", "storage", "network"):
        notes.lack(name, _UNREAD)
    yield "cpu", _read_cpu(notes)
    yield "memory", _read_memory(notes)


def _read_system(notes: Notes) -> OperatingSystem:
    kind = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    notes.sources["os"] = "Python's platform module"
    notes.lack("os.distribution", _NO_DISTRIBUTION)
    return OperatingSystem(kind=kind, release=platform.release(), architecture=platform.machine())


def _read_cpu(notes: Notes) -> Cpu:
    import psutil

    count = psutil.cpu_count() or os.cpu_count()
    usable = _affinity()
    ids = range(count or 0)
    notes.sources["cpu.threads_list"] = "psutil.cpu_count()"
    for name in ("package", "die", "cluster", "core", "core_id", "numa_node", "kind"):
        notes.lack(f"cpu.threads_list[*].{name}", _UNREAD)
    for name in (
        *("packages", "caches", "features", "clock", "counts.cpuset", "counts.quota"),
        *("temperatures", "throttling", "power_limits", "vulnerabilities", "microcode"),
    ):
        notes.lack(f"cpu.{name}", _UNREAD)
    for name in ("threads", "usable_threads", "counts"):
        notes.found(f"cpu.{name}", count, "psutil.cpu_count()", _UNREAD)
    cores, source = psutil.cpu_count(logical=False), "psutil.cpu_count(logical=False)"
    pinned, asked = None if usable is None else len(usable), "psutil.Process().cpu_affinity()"
    return Cpu(
        model=notes.found("cpu.model", *_model(), _UNREAD),
        cores=notes.found("cpu.cores", cores, source, _UNREAD),
        threads=count,
        usable_threads=count if pinned is None else pinned,
        counts=CpuCounts(
            present=count,
            online=count,
            affinity=notes.found("cpu.counts.affinity", pinned, asked, _UNPINNED),
        ),
        threads_list=tuple(
            Thread(id=n, online=True, usable=usable is None or n in usable) for n in ids
        ),
    )


def _affinity() -> frozenset[int] | None:
    import psutil

    ask = getattr(psutil.Process(), "cpu_affinity", None)  # not on macOS
    return None if ask is None else frozenset(ask())


def _model() -> tuple[str | None, str]:
    if sys.platform == "darwin":
        said = output("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string", within_s=2)
        return said.strip() or None, "sysctl machdep.cpu.brand_string"
    return platform.processor() or None, "platform.processor()"


def _read_memory(notes: Notes) -> Memory:
    import psutil

    notes.sources["memory.total_bytes"] = "psutil.virtual_memory()"
    for name in names(Memory):
        if name != "total_bytes":
            notes.lack(f"memory.{name}", _NO_MODULES)
    return Memory(total_bytes=psutil.virtual_memory().total)
