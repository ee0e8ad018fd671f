"""NUMA nodes: their memory, distances and side caches, and which belong to GPUs or are forbidden.

The memory of some GPUs is a node (POWER9, Grace). The kernel counts it as main memory; here it is
not. Sources: Documentation/admin-guide/mm/numaperf.rst of the kernel; NVIDIA's numa_status.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec.structs import replace

from machine.facts import Notes, Reason, lacking
from machine.model import Machine, NumaNode, SideCache
from machine.system import cgroups
from machine.system.linux import (
    HIGHEST_THREAD,
    entries,
    fields,
    format_list,
    kibibytes,
    numbered,
    read_int,
    read_set,
    read_text,
)

NODES = "sys/devices/system/node"
GPU_NODES = "proc/driver/nvidia/gpus"
_MEMINFO = "proc/meminfo"
_ALIKE = 0.9
_NUMBER = re.compile(r"[0-9]{1,9}")
_UNLIKE = 0.1  # of the memory: the kernel's counts differ by less
_LOCAL = 10  # the distance of a node to itself (ACPI, System Locality Information Table)
_ASKED_FOR = re.compile(r"(?:^|\s)(numa=fake=\S+)")  # on the kernel's command line
_SAME_THREADS = "Several memory nodes have the same threads, so not all of them are real."
_ONE_DISTANCE = (
    "All distances of these memory nodes are 10, that of a node to itself: not all can be true."
)
_NO_NODES = Reason("This kernel shows no memory nodes.", f"ls /{NODES}")
_NO_SIZE = Reason(
    "The kernel does not say how much memory the node has.",
    f"grep MemTotal /{NODES}/node*/meminfo",
)
_OF_SOME = Reason(
    "The firmware does not tell it of every memory-side cache.",
    f"grep . /{NODES}/node*/memory_side_cache/index*/*",
)
_FILL = "The manual of the mainboard says which slots to fill."
DOUBTED, EMPTY = "numa[*].distances", "numa[*].threads"  # what clashes are noted for


def read_numa(root: Path, present: frozenset[int], notes: Notes) -> tuple[NumaNode, ...]:
    """Return all nodes, including those without threads or without memory."""
    numbers = _numbers(root)
    of_gpus = gpu_node_numbers(root)
    allowed = cgroups.allowed_nodes(root) if numbers else None
    nodes = []
    for number in numbers:
        folder = root / NODES / f"node{number}"
        threads = read_set(folder, "cpulist", "cpumap") or frozenset()
        distances = (read_text(folder / "distance") or "").split()
        nodes.append(
            NumaNode(
                id=number,
                threads=tuple(sorted(threads & present)),
                memory_bytes=meminfo_bytes(root, number, "memtotal"),
                distances=tuple(int(each) for each in distances if _NUMBER.fullmatch(each)),
                kind="gpu" if number in of_gpus else "host",
                allowed=allowed is None or number in allowed[0],
                side_caches=_side_caches(f"{folder}/memory_side_cache"),
            )
        )
    whole = _as_the_whole(root, tuple(nodes), notes)
    found = notes.found("numa", whole, f"/{NODES}/node*", _NO_NODES)
    if not found:
        return ()
    notes.sources["numa[*].kind"] = (
        f"/{GPU_NODES}/*/numa_status" if of_gpus else "no driver calls a node the memory of a GPU"
    )
    notes.sources["numa[*].allowed"] = allowed[1] if allowed else "no limit was found"
    notes.missing += lacking("numa[*]", nodes, {"memory_bytes": _NO_SIZE})
    caches = [cache for node in nodes for cache in node.side_caches]
    of_each = dict.fromkeys(("size_bytes", "line_bytes", "is_direct_mapped"), _OF_SOME)
    notes.missing += lacking("numa[*].side_caches[*]", caches, of_each)
    if doubt := _doubt(found, read_text(root / "proc/cmdline") or ""):
        notes.lack(DOUBTED, Reason(doubt, "coreopsis run numa"))
    if empty := _without_memory(found, is_real=notes.virtualization == "none"):
        notes.lack(EMPTY, Reason(empty, _FILL))
    return found


def _as_the_whole(root: Path, nodes: tuple[NumaNode, ...], notes: Notes) -> tuple[NumaNode, ...]:
    """Return the nodes. The only one has all of the machine's memory, whatever it says itself.

    Some virtual machines start small, and the count of their node lags behind: one reported 20 of
    126 GiB. LIMIT: of several nodes nothing says which one lags.
    """
    total_bytes = kibibytes(fields(read_text(root / _MEMINFO)).get("memtotal"))
    if len(nodes) != 1 or not total_bytes or not nodes[0].memory_bytes:
        return nodes
    if nodes[0].memory_bytes >= _ALIKE * total_bytes:
        return nodes
    notes.sources["numa[0].memory_bytes"] = f"/{_MEMINFO}; its own count is lower"
    return (replace(nodes[0], memory_bytes=total_bytes),)


def _numbers(root: Path) -> list[int]:
    """Return the numbers of the nodes; none that only damage could make."""
    return [number for number in numbered(root / NODES, "node") if number < HIGHEST_THREAD]


def with_gpu_nodes(nodes: tuple[NumaNode, ...], numbers: Collection[int]) -> tuple[NumaNode, ...]:
    """Return the nodes; those of these numbers are the memory of GPUs, if no thread is near."""
    return tuple(
        replace(node, kind="gpu") if node.id in numbers and not node.threads else node
        for node in nodes
    )


def host_nodes(nodes: Iterable[NumaNode]) -> list[NumaNode]:
    """Return the nodes of the main memory, without a GPU's and those with nothing in them."""
    return [n for n in nodes if n.kind != "gpu" and (n.threads or n.memory_bytes != 0)]


def usable_nodes(machine: Machine) -> list[NumaNode]:
    """Return the host's nodes with memory that this process may use."""
    return [n for n in host_nodes(machine.numa) if n.memory_bytes and n.allowed is not False]


def _doubt(nodes: Iterable[NumaNode], command_line: str) -> str | None:
    """Return why the reported nodes cannot be right, and who asked for them, if that is read."""
    host = host_nodes(nodes)
    threads = [node.threads for node in host if node.threads]
    distances = {distance for node in host for distance in node.distances}
    if len(set(threads)) < len(threads):
        doubt = _SAME_THREADS
    elif len(host) > 1 and distances == {_LOCAL}:
        doubt = _ONE_DISTANCE
    else:
        return None
    asked = _ASKED_FOR.search(command_line)
    return f"{doubt} The kernel's command line asked for them: {asked[1]}." if asked else doubt


def _without_memory(nodes: Iterable[NumaNode], *, is_real: bool) -> str | None:
    """Return which nodes have threads and no memory, on a machine where others have some."""
    host = [node for node in nodes if node.kind != "gpu" and node.threads]
    empty = [node.id for node in host if node.memory_bytes == 0]
    if not empty or len(empty) == len(host):
        return None
    named = f"node {empty[0]} has" if len(empty) == 1 else f"nodes {format_list(empty)} have"
    if not is_real:
        return f"Memory {named} threads and no memory."
    return f"{len(empty)} of {len(host)} memory controllers have no memory: {named} threads only."


def clash(nodes: Iterable[NumaNode], total_bytes: int | None) -> str | None:
    """Return what differs if the nodes of the host add up to another amount than all memory."""
    sizes = [node.memory_bytes for node in nodes if node.kind != "gpu"]
    told = sum(size or 0 for size in sizes)
    if None in sizes or not told or not total_bytes:
        return None
    if abs(told - total_bytes) <= _UNLIKE * told:
        return None
    nodes_, all_ = (f"{count / 2**30:.3g} GiB" for count in (told, total_bytes))
    return f"The memory nodes add up to {nodes_}, and /proc/meminfo tells of {all_}."


def gpu_bytes(nodes: Iterable[NumaNode]) -> int:
    """Return how much of what the kernel calls main memory belongs to GPUs."""
    return sum(node.memory_bytes or 0 for node in nodes if node.kind == "gpu")


def free_bytes(root: Path) -> int | None:
    """Return the free memory of the host's allowed nodes; None where that is all there is.

    The kernel's count of available memory covers all nodes, so it is no help here. File caches
    count as free, because the kernel gives them up on demand.
    """
    there, of_gpus = frozenset(_numbers(root)), gpu_node_numbers(root)
    if not there:
        return None
    allowed = cgroups.allowed_nodes(root)
    ours = (there & allowed[0] if allowed else there) - of_gpus
    if not ours or ours == there:
        return None
    names = ("memfree", "active(file)", "inactive(file)")
    return sum(meminfo_bytes(root, number, name) or 0 for number in ours for name in names)


def gpu_node_numbers(root: Path) -> frozenset[int]:
    """Return the nodes that NVIDIA's driver made of the memory of its GPUs."""
    folder = root / GPU_NODES
    told = (
        fields(read_text(folder / gpu / "numa_status")).get("node", "") for gpu in entries(folder)
    )
    return frozenset(int(node) for node in told if _NUMBER.fullmatch(node))


def meminfo_bytes(root: Path, number: int, name: str) -> int | None:
    """Return the bytes in a line such as "Node 0 MemTotal:  5859544 kB"."""
    text = read_text(root / NODES / f"node{number}/meminfo") or ""
    return kibibytes(fields(text.replace(f"Node {number} ", "")).get(name))


def _side_caches(folder: str) -> tuple[SideCache, ...]:
    """Return the caches before the node's memory; the kernel numbers them from the memory on."""
    return tuple(
        SideCache(
            level=index,
            size_bytes=read_int(f"{folder}/index{index}/size") or None,
            line_bytes=read_int(f"{folder}/index{index}/line_size") or None,
            is_direct_mapped=_is_direct(read_int(f"{folder}/index{index}/indexing")),
        )
        for index in numbered(folder, "index")
    )


def _is_direct(indexing: int | None) -> bool | None:
    return None if indexing is None else indexing == 0
