"""Main memory: its size, modules, channels and NUMA nodes, and what this process may still take."""

from __future__ import annotations

import sys
from pathlib import Path

from machine import peaks
from machine.facts import Notes
from machine.memory.modules import is_locked, read_channels, read_modules
from machine.model import Memory, MemoryModule, NumaNode
from machine.record import names
from machine.system import cgroups
from machine.system.linux import fields, kibibytes, numbered, read_set, read_text, to_int

_NODES = "sys/devices/system/node"
_LACKING = {
    "modules": "The firmware shows no table of memory modules; most virtual machines have none.",
    "channels": "Neither the watch for memory errors (EDAC) nor the names of the slots tell which "
    "modules share a channel.",
    "peak_bytes_per_s": peaks.NO_DRAM,
}
_ONLY_ROOT = (
    "Only root may read the firmware's table of memory modules, and udev keeps no copy for all."
)
_HOW = "sudo dmidecode --type 17, and the manual of the mainboard."


def read_memory(root: Path, notes: Notes) -> Memory:
    """Return the memory, with modules and channels if the system tells them."""
    total = fields(read_text(root / "proc/meminfo")).get("memtotal")
    slots, modules_source = read_modules(root)
    channels, channels_source = read_channels(root, slots)
    modules = tuple(slot.module for slot in slots)
    no_modules = _ONLY_ROOT if is_locked(root) else _LACKING["modules"]
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
            kibibytes(total),
            "/proc/meminfo",
            why="There is no /proc/meminfo.",
            how="grep MemTotal /proc/meminfo",
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
    )


def lack_modules(notes: Notes, *, why: str, how: str) -> None:
    """Note that the modules are unknown on a system other than Linux."""
    for name in _LACKING:
        notes.lack(f"memory.{name}", why=why, how=how)


def read_numa(root: Path, present: frozenset[int], notes: Notes) -> tuple[NumaNode, ...]:
    """Return all nodes, including those without threads (a GPU's memory) or without memory."""
    nodes = []
    for number in numbered(root / _NODES, "node"):
        folder = root / _NODES / f"node{number}"
        # "Node 0 MemTotal:  5859544 kB"
        info = fields((read_text(folder / "meminfo") or "").replace(f"Node {number} ", ""))
        threads = read_set(folder, "cpulist", "cpumap") or frozenset()
        distances = (read_text(folder / "distance") or "").split()
        nodes.append(
            NumaNode(
                id=number,
                threads=tuple(sorted(threads & present)),
                memory_bytes=kibibytes(info.get("memtotal")),
                distances=tuple(n for n in map(to_int, distances) if n is not None and n >= 0),
            )
        )
    notes.keep(
        "numa",
        tuple(nodes),
        f"/{_NODES}/node*",
        why="This kernel knows no memory nodes: all memory is equally far from all cores.",
        how=f"ls /{_NODES}",
    )
    if any(node.memory_bytes is None for node in nodes):
        notes.lack(
            "numa[*].memory_bytes",
            why="The kernel does not say how much memory the node has.",
            how=f"grep MemTotal /{_NODES}/node*/meminfo",
        )
    return tuple(nodes)


def available_bytes() -> int | None:
    """Return how much memory this process may still take without displacing others.

    The smaller of what the machine has free and what the control groups leave.
    """
    if sys.platform != "linux":
        import psutil

        return int(psutil.virtual_memory().available)
    free_kib = fields(read_text(Path("/proc/meminfo"))).get("memavailable", "").split()
    known = [int(free_kib[0]) * 1024] if free_kib else []
    left_bytes = cgroups.memory_left_bytes(Path("/"))
    return min([*known, left_bytes] if left_bytes is not None else known, default=None)
