"""Main memory: its size, limit, modules and channels, and what this process may still take."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from machine import peaks
from machine.facts import Notes
from machine.memory import nodes
from machine.memory.modules import clash_of_sizes, is_locked, read_channels, read_modules
from machine.memory.pages import read_pages
from machine.model import Memory, MemoryModule, NumaNode
from machine.record import names
from machine.system import cgroups
from machine.system.linux import fields, kibibytes, read_text

NO_LIMIT = "No control group limits the memory of this process."
_LACKING = {
    "modules": "The firmware shows no table of memory modules.",
    "channels": "Neither the watch for memory errors (EDAC) nor the names of the slots tell which "
    "modules share a channel.",
    "peak_bytes_per_s": peaks.NO_DRAM,
}
_ONLY_ROOT = (
    "Only root may read the firmware's table of memory modules, and udev keeps no copy for all."
)
_LIMITED = re.compile(r"(?:^|\s)((?:mem|memmap)=\S+)")
_HOW = "sudo dmidecode --type 17, and the manual of the mainboard."


def read_memory(root: Path, notes: Notes, numa: tuple[NumaNode, ...] = ()) -> Memory:
    """Return the memory, with modules and channels if the system tells them."""
    total_bytes = kibibytes(fields(read_text(root / "proc/meminfo")).get("memtotal"))
    total_source = "/proc/meminfo"
    if total_bytes and (gpu_bytes := nodes.gpu_bytes(numa)):
        total_bytes = max(0, total_bytes - gpu_bytes)
        total_source += f", without the memory of GPUs in /{nodes.NODES}"
    limit_bytes, limit_source = cgroups.memory_limit(root) or (None, "")
    if total_bytes and limit_bytes and limit_bytes >= total_bytes:
        limit_bytes = None  # it limits nothing
    slots, modules_source = read_modules(root)
    channels, channels_source, clash = read_channels(root, slots)
    modules = tuple(slot.module for slot in slots)
    if clash:
        notes.lack("memory.channels", why=clash, how=_HOW)
    # Behind a host, the table is made up, and memory comes and goes.
    if notes.virtualization == "none" and (differ := clash_of_sizes(modules, total_bytes)):
        asked = _LIMITED.search(read_text(root / "proc/cmdline") or "")
        why = f"{differ} Its command line says {asked[1]}." if asked else differ
        notes.lack("memory.total_bytes", why=why, how="sudo dmesg | grep -i -E 'memory|e820'")
    if sums := nodes.clash(numa, total_bytes):
        notes.lack("memory.total_bytes", why=sums, how="numactl --hardware, and free --bytes")
    no_modules = notes.why(_LACKING["modules"], "and most have none")
    if is_locked(root):
        no_modules = _ONLY_ROOT
    ceiling = peaks.dram(modules, channels)
    for name in names(MemoryModule):
        if any(getattr(module, name) is None for module in modules):
            notes.lack(
                f"memory.modules[*].{name}",
                why="The firmware does not tell it of all modules; an empty slot has none.",
                how=_HOW,
            )
    return Memory(
        total_bytes=notes.keep(
            "memory.total_bytes",
            total_bytes,
            total_source,
            why="There is no /proc/meminfo.",
            how="grep MemTotal /proc/meminfo",
        ),
        limit_bytes=notes.keep(
            "memory.limit_bytes",
            limit_bytes,
            limit_source,
            why=NO_LIMIT,
            how="cat /proc/self/cgroup, then memory.max of that group and of those above it.",
        ),
        modules=notes.keep(
            "memory.modules",
            modules,
            modules_source,
            why=no_modules,
            how=_HOW,
        ),
        channels=notes.keep(
            "memory.channels",
            channels,
            channels_source,
            why=_LACKING["channels"] if modules else no_modules,
            how=_HOW,
        ),
        peak_bytes_per_s=notes.keep(
            "memory.peak_bytes_per_s",
            ceiling.value if ceiling else None,
            ceiling.formula if ceiling else "",
            why=_LACKING["peak_bytes_per_s"],
            how=_HOW,
        ),
        **read_pages(root, notes),
    )


def lack_modules(notes: Notes, *, why: str, how: str) -> None:
    """Note that the modules are unknown on a system other than Linux."""
    for name in names(Memory):
        if name != "total_bytes":
            notes.lack(f"memory.{name}", why=why, how=how)


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
