"""Main memory: its size, limit, modules and channels, and what this process may still take."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from machine import peaks
from machine.facts import Notes, Reason, lacking
from machine.memory import nodes
from machine.memory.modules import clash_of_sizes, is_locked, read_channels, read_modules
from machine.memory.pages import read_pages
from machine.model import Cpu, Memory, MemoryModule, NumaNode
from machine.record import names
from machine.system import cgroups
from machine.system.linux import fields, kibibytes, read_text

NO_LIMIT = "No control group limits the memory of this process."

_LIMITED = re.compile(r"(?:^|\s)((?:mem|memmap)=\S+)")
_HOW = "sudo dmidecode --type 17, and the manual of the mainboard."
_NO_MODULES = Reason("The firmware shows no table of memory modules.", _HOW)
_ONLY_ROOT = Reason(
    "Only root may read the firmware's table of memory modules, and udev keeps no copy for all.",
    _HOW,
)
_NO_CHANNELS = Reason(
    "Neither the watch for memory errors (EDAC) nor the names of the slots tell which modules "
    "share a channel.",
    _HOW,
)
_OF_SOME = Reason("The firmware does not tell it of all modules; an empty slot has none.", _HOW)
_NO_TOTAL = Reason("There is no /proc/meminfo.", "grep MemTotal /proc/meminfo")
_UNLIMITED = Reason(
    NO_LIMIT, "cat /proc/self/cgroup, then memory.max of that group and of those above it."
)


def read_memory(
    root: Path, notes: Notes, numa: tuple[NumaNode, ...] = (), cpu: Cpu | None = None
) -> Memory:
    """Return the memory, with modules and channels if the system reports them.

    The peak is for the channels of the processor `cpu`, where these are known.
    """
    total_bytes = kibibytes(fields(read_text(root / "proc/meminfo")).get("memtotal"))
    total_source = "/proc/meminfo"
    if total_bytes and (gpu_bytes := nodes.gpu_bytes(numa)):
        total_bytes = max(0, total_bytes - gpu_bytes)
        total_source += f", without the memory of GPUs in /{nodes.NODES}"
    limit_bytes, limit_source = cgroups.memory_limit(root) or (None, "")
    if total_bytes and limit_bytes and limit_bytes >= total_bytes:
        limit_bytes = None  # it limits nothing
    modules, modules_source = read_modules(root)
    channels, channels_source, clash = read_channels(root, modules)
    if clash:
        notes.lack("memory.channels", Reason(clash, _HOW))
    # Behind a host, the table is made up, and memory comes and goes.
    if notes.virtualization == "none" and (differ := clash_of_sizes(modules, total_bytes)):
        asked = _LIMITED.search(read_text(root / "proc/cmdline") or "")
        why = f"{differ} Its command line says {asked[1]}." if asked else differ
        notes.lack("memory.total_bytes", Reason(why, "sudo dmesg | grep -i -E 'memory|e820'"))
    if sums := nodes.clash(numa, total_bytes):
        notes.lack("memory.total_bytes", Reason(sums, "numactl --hardware, and free --bytes"))
    no_modules = notes.because(_NO_MODULES, "and most have none")
    if is_locked(root):
        no_modules = _ONLY_ROOT
    ceiling = peaks.dram(modules, channels, None if notes.is_virtual else cpu)
    peak = ceiling.value if ceiling else None
    source = f"{ceiling.formula}; {ceiling.source}" if ceiling else ""
    of_each = dict.fromkeys(names(MemoryModule), _OF_SOME)
    notes.missing += lacking("memory.modules[*]", modules, of_each)
    no_channels = _NO_CHANNELS if modules else no_modules
    return Memory(
        total_bytes=notes.found("memory.total_bytes", total_bytes, total_source, _NO_TOTAL),
        limit_bytes=notes.found("memory.limit_bytes", limit_bytes, limit_source, _UNLIMITED),
        modules=notes.found("memory.modules", modules, modules_source, no_modules),
        channels=notes.found("memory.channels", channels, channels_source, no_channels),
        peak_bytes_per_s=notes.found(
            "memory.peak_bytes_per_s", peak, source, Reason(peaks.NO_DRAM, _HOW)
        ),
        **read_pages(root, notes),
    )


def available_bytes(root: Path = Path("/")) -> int | None:
    """Return how much memory this process may still take without displacing others.

    The least of what the machine has free, what its allowed nodes have, and what the control groups
    leave.
    """
    if sys.platform != "linux" and root == Path("/"):
        import psutil

        return int(psutil.virtual_memory().available)
    free_kib = fields(read_text(root / "proc/meminfo")).get("memavailable", "").split()
    known = (
        int(free_kib[0]) * 1024 if free_kib else None,
        nodes.free_bytes(root),
        cgroups.memory_left_bytes(root),
    )
    return min((count for count in known if count is not None), default=None)
