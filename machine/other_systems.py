"""The machine on Windows and macOS, as psutil and the standard library tell it.

LIMIT: simple facts only. Caches, nodes, and kinds of cores would need each system's own calls.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from machine.facts import Notes
from machine.memory.host import lack_modules
from machine.model import Cpu, CpuCounts, Memory, OperatingSystem, Thread

_WHY = "This version of Coreopsis reads it on Linux only."
_HOW = {
    "win32": "Get-CimInstance Win32_Processor in PowerShell, or Coreinfo of Sysinternals.",
    "darwin": "sysctl hw machdep.cpu",
}.get(sys.platform, "Look into the manual of this system.")
_HOW_MODULES = {
    "win32": "Get-CimInstance Win32_PhysicalMemory in PowerShell.",
    "darwin": "system_profiler SPMemoryDataType",
}.get(sys.platform, "Look into the manual of the mainboard.")


def parts(notes: Notes) -> Iterator[tuple[str, Any]]:
    """Yield the same parts of the running machine as on Linux."""
    yield "os", _read_system(notes)
    for name in ("system", "virtualization", "container", "numa", "pci", "storage", "network"):
        notes.lack(name, why=_WHY, how=_HOW)
    yield "cpu", _read_cpu(notes)
    yield "memory", _read_memory(notes)


def _read_system(notes: Notes) -> OperatingSystem:
    kind = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    notes.sources["os"] = "Python's platform module"
    notes.lack("os.distribution", why="Only Linux has distributions.", how="Nothing to do.")
    return OperatingSystem(kind=kind, release=platform.release(), architecture=platform.machine())


def _read_cpu(notes: Notes) -> Cpu:
    import psutil

    count = psutil.cpu_count() or os.cpu_count()
    usable = _affinity()
    ids = range(count or 0)
    notes.sources["cpu.threads_list"] = "psutil.cpu_count()"
    for name in ("package", "die", "cluster", "core", "core_id", "numa_node", "kind"):
        notes.lack(f"cpu.threads_list[*].{name}", why=_WHY, how=_HOW)
    for name in (
        *("packages", "caches", "features", "clock", "counts.cpuset", "counts.quota"),
        *("temperatures", "throttling", "power_limits", "vulnerabilities", "microcode"),
    ):
        notes.lack(f"cpu.{name}", why=_WHY, how=_HOW)
    for name in ("threads", "usable_threads", "counts"):
        notes.keep(f"cpu.{name}", count, "psutil.cpu_count()", why=_WHY, how=_HOW)
    return Cpu(
        model=notes.keep("cpu.model", *_model(), why=_WHY, how=_HOW),
        cores=notes.keep(
            "cpu.cores",
            psutil.cpu_count(logical=False),
            "psutil.cpu_count(logical=False)",
            why=_WHY,
            how=_HOW,
        ),
        threads=count,
        usable_threads=count if usable is None else len(usable),
        counts=CpuCounts(
            present=count,
            online=count,
            affinity=notes.keep(
                "cpu.counts.affinity",
                None if usable is None else len(usable),
                "psutil.Process().cpu_affinity()",
                why="This system cannot pin processes to threads.",
                how="Nothing to do.",
            ),
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
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=2, check=True)
        except (OSError, subprocess.SubprocessError):
            return None, ""
        return said.stdout.strip() or None, "sysctl machdep.cpu.brand_string"
    return platform.processor() or None, "platform.processor()"


def _read_memory(notes: Notes) -> Memory:
    import psutil

    notes.sources["memory.total_bytes"] = "psutil.virtual_memory()"
    lack_modules(notes, why=_WHY, how=_HOW_MODULES)
    return Memory(total_bytes=psutil.virtual_memory().total)
