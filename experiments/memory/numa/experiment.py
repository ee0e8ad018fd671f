"""How near is near memory, how far is far?

Method: for each pair of memory nodes, threads on the first use memory of the second. A thread that
is kept on a node (pinned) writes memory first, and so puts it there. Its place is then checked. One
thread walks a shuffled chain (the best counts); then one thread a core reads in order, all together
(the best counts). Pairs are shuffled in each round.
Source: the matrices of Intel's Memory Latency Checker; C. Lameter, NUMA: An Overview (2013).

Not shown: the cost of memory without processors, since no thread there could write it first.
"""

from __future__ import annotations

import functools
import itertools
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.chasing import step_s
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import seconds_together

LEAST_BYTES = 64 * x.MIB
MOST_QUICK_BYTES = 256 * x.MIB
FEW_ROUNDS = 5
FREE_SHARE = 0.4
SAMPLE_S, PAIR_S = 0.02, 0.15
MOSTLY = 0.9
NUMA_MAPS = Path("/proc/self/numa_maps")


class Params(x.Params):
    """The parameters; `node_bytes` are used on each node, `readers` work on each."""

    node_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    readers: int = x.param(16, minimum=1, maximum=512, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=50)


class Access(x.Row):
    """One repeat: threads on one node use the memory of a node, the same or another."""

    threads_on: int
    memory_on: int
    repeat: int
    latency_s: float
    bytes_per_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each pair of nodes and round."""
    nodes = _processors(bench.machine, params.readers)
    memory = {node: _memory_on(processors, params, bench) for node, processors in nodes.items()}
    for node, buffers in memory.items():
        share = share_on_node(buffers[0], node)
        if share is not None and share < MOSTLY:
            yield x.Note("memory_elsewhere", {"node": node, "share_fraction": share})
    pairs = list(itertools.product(nodes, nodes))
    for arm, (threads_on, memory_on) in bench.interleave(pairs, params.rounds):
        processors, buffers = nodes[threads_on], memory[memory_on]
        yield Access(
            threads_on=threads_on,
            memory_on=memory_on,
            repeat=arm.round,
            latency_s=_latency_s(processors[0], buffers[0], arm.round, bench),
            bytes_per_s=_bytes_per_s(processors, buffers, bench),
        )
        yield x.Progress(arm.fraction)


def _processors(machine: x.Machine, readers: int) -> dict[int, list[int]]:
    """Return hardware threads of each node that has some, one a core and equally many."""
    ordered = by_topology(machine)
    nodes = {
        node.id: [thread.id for thread in ordered if thread.id in node.threads]
        for node in x.usable_nodes(machine)
    }
    nodes = {node: threads for node, threads in nodes.items() if threads}
    count = min(readers, *map(len, nodes.values())) if nodes else 0
    return {node: threads[:count] for node, threads in nodes.items()}


def _memory_on(processors: Sequence[int], params: Params, bench: x.Bench) -> list[Buffer]:
    """Return buffers that these processors have written first; the first also holds the chain."""
    buffers: dict[int, Buffer] = {}
    size_bytes = max(params.node_bytes // len(processors), x.MIB)

    def take(place: int) -> None:
        buffers[place] = Buffer(params.node_bytes if place == 0 else size_bytes)

    jobs = [(thread, functools.partial(take, n)) for n, thread in enumerate(processors)]
    seconds_together(bench, jobs)
    return [buffers[place] for place in range(len(processors))]


def _latency_s(processor: int, buffer: Buffer, turn: int, bench: x.Bench) -> float:
    found: list[float] = []

    def walk() -> None:
        found.append(step_s(buffer, buffer.size_bytes, bench, turn=turn, at_random=True))

    seconds_together(bench, [(processor, walk)])
    return found[0]


def _bytes_per_s(processors: Sequence[int], buffers: Sequence[Buffer], bench: x.Bench) -> float:
    from experiments.kernels.sums import sum_in_a_row

    words = [buffer.words[: buffers[-1].words.size] for buffer in buffers]  # the same by each

    def read(laps: int) -> float:
        parts: list[Any] = [functools.partial(sum_in_a_row, part, laps) for part in words]
        return seconds_together(bench, list(zip(processors, parts, strict=True)))

    laps = max(1, round(SAMPLE_S / read(1)))
    return laps * sum(part.nbytes for part in words) / read(laps)


def share_on_node(buffer: Buffer, node: int, numa_maps: Path = NUMA_MAPS) -> float | None:
    """Return the share of a buffer's pages on a node; None where it is unknown.

    The kernel knows it once the pages were written.
    """
    try:
        lines = numa_maps.read_text().splitlines()
    except OSError:
        return None
    starts = [(int(line.split(maxsplit=1)[0], 16), line) for line in lines]
    below = [entry for entry in starts if entry[0] <= int(buffer.address)]
    pages = (
        {int(n): int(count) for n, count in re.findall(r" N(\d+)=(\d+)", max(below)[1])}
        if below
        else {}
    )
    return pages.get(node, 0) / sum(pages.values()) if pages else None


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare near with far memory, each pair by its best."""
    accesses, nodes = tables["accesses"], ("threads_on", "memory_on")
    latency = x.best_of(accesses, "latency_s", *nodes)
    rate = x.best_of(accesses, "bytes_per_s", *nodes, choose=max)
    near = [pair for pair in rate if pair[0] == pair[1]]
    far = [pair for pair in rate if pair[0] != pair[1]]
    limits = ["page_translation_included"]
    cache_bytes = x.last_level_cache_bytes(machine)
    if cache_bytes is None or params.node_bytes < x.BEYOND_CACHE * cache_bytes:
        limits.append("partly_in_cache")
    if any(not node.threads for node in x.usable_nodes(machine)):
        limits.append("nodes_without_processors")
    values: dict[str, float] = {}
    for name, pairs in (("local", near), ("remote", far)):
        if pairs:
            values[f"{name}_latency_s"] = statistics.median(latency[pair] for pair in pairs)
            values[f"{name}_bytes_per_s"] = statistics.median(rate[pair] for pair in pairs)
    if not near or not far:
        return x.Finding("one_node_measured" if near else "nothing_measured", values, tuple(limits))
    of = x.spreads((r.threads_on == r.memory_on, r.latency_s, r.repeat) for r in accesses)
    inside, outside = of[True], of[False]
    values |= {
        "remote_over_local": values["remote_latency_s"] / values["local_latency_s"],
        "farthest_latency_s": max(latency[pair] for pair in far),
        "node_count": len({node for pair in rate for node in pair}),
    }
    if unsure := x.unsure((inside, outside)):
        return x.Finding(unsure, values, tuple(limits), unclear=("remote_over_local",))
    if inside.is_below(outside):
        return x.Finding("far_is_slower", values, tuple(limits))
    same = inside.is_as(outside)
    return x.Finding("far_is_as_near" if same else "far_is_faster", values, tuple(limits))


def defaults(machine: x.Machine) -> Params:
    """Exceed the last-level cache four times on each node, within the free memory."""
    nodes = max(1, len(x.usable_nodes(machine)))
    chain_and_reads = 2  # on each node
    share = FREE_SHARE / chain_and_reads / nodes
    return Params(node_bytes=x.beyond_cache(machine, LEAST_BYTES, share))


def seconds(params: Params) -> float:
    """Estimate for two nodes; each further node adds as many pairs as there are nodes."""
    layout_s = 2 * params.node_bytes / 64 * 15e-9
    return 4 * params.node_bytes / 2e9 + 4 * params.rounds * (PAIR_S + layout_s)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"accesses": Access},
    measure=measure,
    loop="kernels/sums.py:sum_in_a_row",
    analyse=analyse,
    views=(
        x.Heatmap("latency", "accesses", "threads_on", "memory_on", "latency_s", statistic="least"),
        x.Heatmap(
            "bandwidth", "accesses", "threads_on", "memory_on", "bytes_per_s", statistic="greatest"
        ),
    ),
    values=x.values(
        x.Value("local_latency_s", x.Part.MEMORY),
        x.Value("remote_latency_s", x.Part.MEMORY),
        x.Value("local_bytes_per_s", x.Part.MEMORY),
        x.Value("remote_bytes_per_s", x.Part.MEMORY),
        "remote_over_local",
        "farthest_latency_s",
        "node_count",
    ),
    keys=(
        x.Key("local_latency_s", "latency", ("0",)),
        x.Key("remote_latency_s", "latency", ("0", "1")),
        x.Key("remote_bytes_per_s", "bandwidth", ("0", "1")),
    ),
    next=x.Next("core-to-core", {"readers": 1}),
    parts=(x.Part.MEMORY, x.Part.CORES),
    needs=(x.Need.NUMA,),
    uses=(x.Use.MEMORY_NODE,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(
        node_bytes=lambda size: min(max(size // 4, x.MIB), MOST_QUICK_BYTES),
        at_most={"rounds": FEW_ROUNDS},
    ),
    smallest=x.change(node_bytes=x.MIB, rounds=5),
    budget=x.Budget(full={"rounds": FEW_ROUNDS}, quick={"node_bytes": x.MIB}),
    seconds=seconds,
    memory_bytes=lambda params: 4 * params.node_bytes,
)
