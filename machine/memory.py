"""How much memory is there, on which nodes, and how much of it may this process still take?"""

from __future__ import annotations

import sys
from pathlib import Path

from machine import cgroups
from machine.linux import fields, kibibytes, numbered, read_set, read_text
from machine.model import Memory, NumaNode
from machine.notes import Notes

_NODES = "sys/devices/system/node"
_MODULES_WHY = (
    "Only root may read the firmware's table of memory modules, and this version of Coreopsis does "
    "not ask udev for its copy yet."
)


def read_memory(root: Path, notes: Notes) -> Memory:
    """Return the size of the memory; what sticks there are is not read yet."""
    total = fields(read_text(root / "proc/meminfo")).get("memtotal")
    lack_modules(notes)
    return Memory(
        total_bytes=notes.keep(
            "memory.total_bytes",
            kibibytes(total),
            "/proc/meminfo",
            why="There is no /proc/meminfo.",
            how="grep MemTotal /proc/meminfo",
        )
    )


def lack_modules(notes: Notes) -> None:
    """Note what no version for any system reads yet."""
    for name in ("modules", "channels", "peak_bytes_per_s"):
        notes.lack(f"memory.{name}", why=_MODULES_WHY, how="sudo dmidecode --type 17")


def read_numa(root: Path, present: frozenset[int], notes: Notes) -> tuple[NumaNode, ...]:
    """Return all nodes, also those without threads (the memory of a GPU) or without memory."""
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
                distances=tuple(int(distance) for distance in distances if distance.isdecimal()),
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
    """Return how much memory this process may still take without pushing others out.

    The lesser of what is free in the machine and what the control groups leave.
    """
    import psutil

    free_bytes: int = psutil.virtual_memory().available
    left_bytes = cgroups.memory_left_bytes(Path("/")) if sys.platform == "linux" else None
    return free_bytes if left_bytes is None else min(free_bytes, left_bytes)
