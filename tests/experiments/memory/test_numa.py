from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.memory.numa import experiment as numa
from experiments.memory.numa.experiment import Access, Params, analyse, share_on_node
from experiments.tools.buffers import Buffer
from machine.inspect import inspect
from machine.model import NumaNode
from tests.experiments.machines import GIB, MIB, machine

AGREED = {"local_latency_s", "remote_latency_s", "local_bytes_per_s", "remote_bytes_per_s"}

PARAMS = Params(node_bytes=256 * MIB)


def accesses(latency, rate=20e9):
    return [
        Access(
            threads_on=a,
            memory_on=b,
            repeat=turn,
            latency_s=ns * 1e-9 * noise,
            bytes_per_s=rate / noise,
        )
        for (a, b), ns in latency.items()
        for turn, noise in enumerate((1.02, 1.0, 1.3))
    ]


def found(latency, here=None):
    return analyse(PARAMS, {"accesses": accesses(latency)}, here or machine(nodes=2))


def test_far_memory_that_is_slower_is_told_with_its_ratio():
    result = found({(0, 0): 90, (1, 1): 92, (0, 1): 140, (1, 0): 150})

    assert result.message == "far_is_slower"
    assert result.values["local_latency_s"] == pytest.approx(91e-9)
    assert result.values["remote_over_local"] == pytest.approx(145 / 91)
    assert result.values["farthest_latency_s"] == pytest.approx(150e-9)
    assert result.unclear == ()


@pytest.mark.parametrize(
    ("far", "message"),
    [((90, 92), "far_is_as_near"), ((92, 94), "far_is_as_near"), ((60, 70), "far_is_faster")],
)
def test_far_memory_that_is_as_near_or_nearer_is_said_to_be(far, message):
    result = found({(0, 0): 90, (1, 1): 92, (0, 1): far[0], (1, 0): far[1]})

    assert result.message == message
    assert result.unclear == ()


@pytest.mark.parametrize(
    ("noise", "message"), [((3.0, 0.5, 1.0), "cannot_tell"), ((1.0, 1.1), "too_few_rounds")]
)
def test_where_nobody_can_tell_near_from_far_nothing_is_claimed(noise, message):
    rows = [
        replace(row, latency_s=row.latency_s * (noise[row.repeat] if row.memory_on else 1.0))
        for row in accesses({(0, 0): 90, (0, 1): 140})
        if row.repeat < len(noise)
    ]
    result = analyse(PARAMS, {"accesses": rows}, machine(nodes=2))

    assert result.message == message
    assert result.unclear == ("remote_over_local",)


def test_a_partial_run_speaks_of_what_it_has():
    assert found({(0, 0): 90}).message == "one_node_measured"
    assert "remote_latency_s" not in found({(0, 0): 90}).values
    assert found({}).message == "nothing_measured"


def test_nodes_without_processors_are_named():
    bare = NumaNode(id=2, memory_bytes=GIB)
    here = replace(machine(), numa=(NumaNode(id=0, threads=(0,), memory_bytes=GIB), bare))

    assert "nodes_without_processors" in found({(0, 0): 90}, here).limits


def two_nodes():
    """Return this machine, with its processors dealt out to two nodes that it does not have."""
    here = inspect()
    ids = [thread.id for thread in here.cpu.threads_list if thread.usable]
    if len(ids) < 2:
        pytest.skip("takes two processors")
    halves = ids[: len(ids) // 2], ids[len(ids) // 2 :]
    nodes = tuple(
        NumaNode(id=7 + n, threads=tuple(h), memory_bytes=GIB) for n, h in enumerate(halves)
    )
    return replace(here, numa=nodes)  # fmt: skip


def test_every_pair_of_nodes_is_measured_and_memory_that_lies_elsewhere_is_noted():
    here = two_nodes()
    rows = list(numa.measure(Params(node_bytes=2 * MIB, rounds=1), Bench(here)))

    pairs = {(row.threads_on, row.memory_on) for row in rows if isinstance(row, Access)}
    assert pairs == {(7, 7), (7, 8), (8, 7), (8, 8)}
    told = [row for row in rows if isinstance(row, Note)]
    assert {row.key for row in told} <= {"memory_elsewhere"}  # said where the kernel tells
    assert share_on_node(Buffer(MIB), 0) is None or len(told) == 2


def test_the_share_of_a_buffer_on_a_node_is_read_from_the_kernel(tmp_path):
    buffer = Buffer(MIB)
    maps = tmp_path / "numa_maps"
    maps.write_text(
        f"{int(buffer.address) - 4096:x} default anon=4 N0=1 N1=3 kernelpagesize_kB=4\n"
        f"{int(buffer.address) + 2 * MIB:x} default anon=4 N0=9\n1000 default N0=5\n"
    )

    assert share_on_node(buffer, 1, maps) == 0.75
    assert share_on_node(buffer, 2, maps) == 0.0
    assert share_on_node(buffer, 1, tmp_path / "none") is None


@pytest.mark.parametrize("nodes", [1, 2, 8])
def test_defaults_leave_half_of_the_memory_free(free_memory, nodes):
    free_memory(2 * GIB)
    params = numa.EXPERIMENT.suited(machine(nodes=nodes, caches=(1, 2, 512 * MIB)))

    assert 2 * nodes * params.node_bytes <= GIB


def test_the_memory_of_a_gpu_and_forbidden_nodes_are_not_measured(free_memory):
    free_memory(2 * GIB)
    here = machine(nodes=4)
    _, second, third, fourth = here.numa
    others = replace(second, kind="gpu"), replace(third, kind="gpu"), replace(fourth, allowed=False)
    mixed = numa.EXPERIMENT.suited(replace(here, numa=(here.numa[0], *others)))
    assert mixed == numa.EXPERIMENT.suited(machine(nodes=1)) != numa.EXPERIMENT.suited(here)

    bare = NumaNode(id=2, memory_bytes=GIB, kind="gpu")
    here = replace(machine(), numa=(NumaNode(id=0, threads=(0,), memory_bytes=GIB), bare))
    assert "nodes_without_processors" not in found({(0, 0): 90}, here).limits
