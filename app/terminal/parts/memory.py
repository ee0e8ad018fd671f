"""The main memory and its NUMA nodes on the page of `coreopsis inspect`."""

from __future__ import annotations

from collections.abc import Iterator

from app.terminal.parts.devices import modules_text
from app.terminal.parts.listed import counted, listed
from experiments.core.units import show
from machine.memory.nodes import host_nodes
from machine.model import Machine, NumaNode, missing_of
from machine.system.linux import format_list


def memory_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line about the memory."""
    memory = machine.memory
    if memory.total_bytes:
        limit, peak = memory.limit_bytes, memory.peak_bytes_per_s
        untold = not peak and missing_of(machine, "memory.peak_bytes_per_s")
        yield (
            "memory",
            listed(
                show(memory.total_bytes, "bytes"),
                limit and f"its control group allows {show(limit, 'bytes')}",
                modules_text(memory.modules),
                counted(memory.channels, "channel"),
                f"at most {show(peak, 'bytes/s')}" if peak else untold and "bandwidth not known",
            ),
        )
    if len(machine.numa) > 1 or any(node.side_caches for node in machine.numa):
        there = {node.id for node in host_nodes(machine.numa)}
        for node in machine.numa:
            if node.kind == "gpu" or node.id in there:
                yield f"node {node.id}", ", ".join(_node_parts(machine, node))


def _node_parts(machine: Machine, node: NumaNode) -> Iterator[str]:
    if node.memory_bytes is not None:
        yield show(node.memory_bytes, "bytes") if node.memory_bytes else "no memory"
    if node.kind == "gpu":
        gpus = [f" {gpu.index}" for gpu in machine.gpus if gpu.memory_numa_node == node.id]
        yield f"memory of GPU{gpus[0] if gpus else 's'}"
    elif node.threads:
        yield f"closest to threads {format_list(node.threads)}"
    else:
        yield "no threads"
    for cache in node.side_caches:
        size = show(cache.size_bytes, "bytes") if cache.size_bytes else "unknown size"
        direct = " (direct-mapped)" if cache.is_direct_mapped else ""
        yield f"behind a memory-side cache of {size}{direct}"
    if node.allowed is False:
        yield "not allowed to this process"
    yield f"distances {', '.join(map(str, node.distances))}"
