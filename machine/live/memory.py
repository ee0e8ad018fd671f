"""The memory in use, and the pressure on memory, disks and processors.

Pressure is the share of the time in which some task waited for memory, a disk or a processor. The
kernel counts it for the whole machine, so it is part of no thread's or disk's sample.

Source: Documentation/accounting/psi.rst of the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from machine.facts import Reason, lacking
from machine.memory import nodes
from machine.model import Missing
from machine.record import Record
from machine.system.linux import read_text

_RESOURCES = ("cpu", "memory", "io")
_SOME = re.compile(r"^some .*total=(\d+)", re.MULTILINE)
_NAMES = "MemTotal|MemAvailable|SwapTotal|SwapFree"
_KIB = re.compile(rf"^({_NAMES}): +(\d+) kB$", re.MULTILINE)
_NEEDS_TWO = Reason("A share of time needs two samples.", "Wait for the next sample.")
_NOT_COUNTED = Reason(
    "This kernel does not count how long tasks wait (pressure stall information).",
    "Boot Linux 4.20 or newer with psi=1; cat /proc/pressure/memory",
)

_NO_SWAP_COUNTER = Reason(
    "This system counts no swap space; on Windows its performance counters may be switched off.",
    "As administrator: lodctr /r",
)


class MemorySample(Record):
    """Memory in use; `used_bytes` excludes file caches, which the kernel can reclaim."""

    total_bytes: int
    available_bytes: int
    used_bytes: int
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    memory_pressure_fraction: float | None = None
    io_pressure_fraction: float | None = None
    cpu_pressure_fraction: float | None = None


class MemorySampler:
    """Samples the memory; remembers the previous pressure counters."""

    def __init__(self, root: Path) -> None:
        self._root, self._of_gpus = root, nodes.gpu_node_numbers(root)
        self._pressure = {resource: root / "proc/pressure" / resource for resource in _RESOURCES}
        self._before: dict[str, int] = {}
        self._before_s = 0.0

    def sample(self, now_s: float) -> MemorySample:
        """Return the memory in use, and the pressure since the previous sample."""
        total, available, swap_total, swap_used = _read_memory(self._root / "proc/meminfo")
        for number in self._of_gpus:  # which the kernel counts as main memory
            total -= nodes.meminfo_bytes(self._root, number, "memtotal") or 0
            available -= nodes.meminfo_bytes(self._root, number, "memfree") or 0
        waited = {resource: self._waited_us(resource) for resource in _RESOURCES}
        passed_us = (now_s - self._before_s) * 1e6
        pressures = {}
        for resource, total_us in waited.items():
            before_us = self._before.get(resource)
            if total_us is not None and before_us is not None and passed_us > 0:
                share = (total_us - before_us) / passed_us
                pressures[f"{resource}_pressure_fraction"] = round(min(1.0, max(0.0, share)), 4)
        self._before = {name: value for name, value in waited.items() if value is not None}
        self._before_s = now_s
        return MemorySample(
            total_bytes=total,
            available_bytes=available,
            used_bytes=total - available,
            swap_total_bytes=swap_total,
            swap_used_bytes=swap_used,
            **pressures,
        )

    def missing(self, sample: MemorySample) -> Iterator[Missing]:
        """Return the reasons for missing values of the latest sample."""
        reasons = {
            f"{name}_pressure_fraction": _NEEDS_TWO if name in self._before else _NOT_COUNTED
            for name in _RESOURCES
        } | dict.fromkeys(("swap_total_bytes", "swap_used_bytes"), _NO_SWAP_COUNTER)
        return lacking("memory", [sample], reasons)

    def _waited_us(self, resource: str) -> int | None:
        """Return for how long at least one task has waited since the boot."""
        text = read_text(self._pressure[resource]) or ""
        match = _SOME.search(text)
        return int(match[1]) if match else None


def _read_memory(meminfo: Path) -> tuple[int, int, int | None, int | None]:
    """Return the bytes of memory (total, available) and of swap (total, used; None if unknown).

    Faster than psutil, which reads three files.
    """
    text = read_text(meminfo) or ""
    found = {name: int(kib) * 1024 for name, kib in _KIB.findall(text)}
    if len(found) == _NAMES.count("|") + 1:
        swap_used = found["SwapTotal"] - found["SwapFree"]
        return found["MemTotal"], found["MemAvailable"], found["SwapTotal"], swap_used
    import psutil

    memory = psutil.virtual_memory()
    try:
        swap = psutil.swap_memory()
    except (RuntimeError, OSError):  # Windows' performance counters may be switched off
        return memory.total, memory.available, None, None
    return memory.total, memory.available, swap.total, swap.used
