from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.devices import Gpu
from machine.inspect import inspect
from machine.live.memory import MemorySampler
from machine.memory.host import available_bytes
from machine.memory.nodes import host_nodes, usable_nodes
from machine.model import NumaNode, SideCache, missing_of, source_of
from tests.machine.unexplained import unexplained

NODES = "/sys/devices/system/node"
STATUS = "/proc/driver/nvidia/gpus/0009:01:00.0/numa_status"


def node(tree, number, cpulist, distance, total_kb=1024, free_kb=1000, cached_kb=0):
    folder = f"{NODES}/node{number}"
    tree.write(f"{folder}/cpulist", f"{cpulist}\n")
    tree.write(f"{folder}/distance", f"{distance}\n")
    lines = (("MemTotal", total_kb), ("MemFree", free_kb), ("Inactive(file)", cached_kb))
    told = "".join(f"Node {number} {name}:       {kb} kB\n" for name, kb in lines)
    tree.write(f"{folder}/meminfo", f"\n{told}")


def ids(nodes):
    return [node.id for node in nodes]


@pytest.fixture
def with_gpu(tree):
    """A machine like Grace: the memory of its GPU is a node, and seven nodes are kept free."""
    tree.cpus(4)
    node(tree, 0, "0-3", "10 80 80", 480_000, 400_000)
    node(tree, 1, "", "80 10 80", 96_000, 90_000)
    node(tree, 2, "", "80 80 10", 0, 0)
    tree.write(
        "/proc/meminfo",
        "MemTotal: 576000 kB\nMemAvailable: 480000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    )
    return tree


def test_nodes_keep_their_numbers_memory_and_distances(tree):
    tree.cpus(4)
    node(tree, 0, "0-1", "10 21 80", 1024)
    node(tree, 8, "2-3", "21 10 80", 2048)
    node(tree, 250, "", "80 80 10", 4096)
    host = NumaNode(id=0, kind="host", allowed=True)
    assert inspect(tree.root).numa == (
        replace(host, threads=(0, 1), memory_bytes=2**20, distances=(10, 21, 80)),
        replace(host, id=8, threads=(2, 3), memory_bytes=2**21, distances=(21, 10, 80)),
        replace(host, id=250, memory_bytes=2**22, distances=(80, 80, 10)),
    )


def test_the_only_node_has_all_memory_though_its_own_count_lags_behind(tree):
    tree.cpus(2)
    tree.write("/proc/meminfo", "MemTotal: 24683656 kB\nMemAvailable: 24023020 kB\n")
    node(tree, 0, "0-1", "10", 6_907_680)
    machine = inspect(tree.root)
    assert machine.numa[0].memory_bytes == machine.memory.total_bytes == 24_683_656 * 1024
    assert "meminfo" in source_of(machine, "numa[0].memory_bytes")
    node(tree, 0, "0", "10 20", 6_907_680)
    node(tree, 1, "1", "20 10", 10_000_000)
    assert inspect(tree.root).numa[0].memory_bytes == 6_907_680 * 1024, "which one lags?"


def test_a_node_lists_only_threads_that_are_there(tree):
    tree.cpus(2)
    node(tree, 0, "0-87", "10")
    assert inspect(tree.root).numa[0].threads == (0, 1)


def test_a_node_with_a_mask_only_has_threads(tree):
    tree.cpus(8)
    tree.write(f"{NODES}/node0/cpumap", "00000000,0000000c\n")
    machine = inspect(tree.root)
    assert machine.numa[0].threads == (2, 3)
    assert "memory node" not in missing_of(machine, "numa[0].memory_bytes").why
    assert missing_of(machine, "numa[0].memory_bytes").what == "numa[*].memory_bytes"


def test_a_kernel_without_nodes_is_explained(tree):
    machine = inspect(tree.root)
    assert machine.numa == ()
    assert missing_of(machine, "numa").what == "numa"


def test_the_memory_of_a_gpu_is_no_main_memory(with_gpu):
    assert ids(host_nodes(inspect(with_gpu.root).numa)) == [0, 1]
    with_gpu.write(STATUS, "Node:      1\nStatus:    online\n")
    machine = inspect(with_gpu.root)
    assert [node.kind for node in machine.numa] == ["host", "gpu", "host"]
    assert ids(host_nodes(machine.numa)) == ids(usable_nodes(machine)) == [0]
    assert machine.memory.total_bytes == 480_000 * 1024
    assert available_bytes(with_gpu.root) == 400_000 * 1024
    live = MemorySampler(with_gpu.root).sample(0.0)
    assert (live.total_bytes, live.available_bytes) == (480_000 * 1024, 390_000 * 1024)
    assert unexplained(machine) == []


def test_the_memory_of_a_gpu_may_be_told_by_its_driver_alone(with_gpu, monkeypatch):
    gpu = Gpu(index=0, memory_numa_node=1)
    monkeypatch.setattr(
        "machine.gpus.accelerators.parts", lambda host, notes: iter([("gpus", (gpu,))])
    )
    machine = inspect(with_gpu.root)
    assert [node.kind for node in machine.numa] == ["host", "gpu", "host"]
    assert machine.memory.total_bytes == 480_000 * 1024


def test_nodes_that_the_process_may_not_use_are_told_and_give_it_no_memory(tree):
    tree.cpus(4)
    node(tree, 0, "0-1", "10 21", 2048, 700, cached_kb=100)
    node(tree, 1, "2-3", "21 10", 2048, 600)
    tree.write("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 1400 kB\n")
    assert ids(usable_nodes(inspect(tree.root))) == [0, 1]
    assert available_bytes(tree.root) == 1400 * 1024
    tree.write("/proc/self/status", "Mems_allowed_list:\t0\n")
    machine = inspect(tree.root)
    assert [node.allowed for node in machine.numa] == [True, False]
    assert ids(host_nodes(machine.numa)) == [0, 1]
    assert ids(usable_nodes(machine)) == [0]
    assert machine.sources["numa[*].allowed"] == "Mems_allowed_list of /proc/self/status"
    assert available_bytes(tree.root) == 800 * 1024


@pytest.mark.parametrize(
    ("first", "second", "distances", "hint"),
    [
        ("0-3", "0-3", ("10 20", "20 10"), "same threads"),
        ("0-1", "2-3", ("10 10", "10 10"), "distance"),
        ("0-1", "2-3", ("10 20", "20 10"), None),
        ("0-3", "", ("10 20", "20 10"), None),  # HBM or CXL beside the processor's own
    ],
)
def test_nodes_that_cannot_be_as_they_are_told_get_a_remark_without_a_cause(
    tree, first, second, distances, hint
):
    tree.cpus(4)
    for number, threads in enumerate((first, second)):
        node(tree, number, threads, distances[number])
    why = [entry.why for entry in inspect(tree.root).missing if entry.what == "numa[*].distances"]
    assert len(why) == (hint is not None)
    assert all((hint or "") in text for text in why)
    assert not any(word in text for text in why for word in ("firmware", "asked for"))


def test_memory_side_caches_are_read(tree):
    tree.cpus(2)
    node(tree, 0, "0-1", "10")
    cache = f"{NODES}/node0/memory_side_cache/index1"
    for name, value in (("size", 2**34), ("line_size", 64), ("indexing", 0)):
        tree.write(f"{cache}/{name}", f"{value}\n")
    tree.write(f"{NODES}/node0/memory_side_cache/index2/size", "0\n")
    machine = inspect(tree.root)
    assert machine.numa[0].side_caches == (
        SideCache(level=1, size_bytes=2**34, line_bytes=64, is_direct_mapped=True),
        SideCache(level=2),
    )
    assert unexplained(machine) == []


def test_numbers_that_no_kernel_writes_are_left_out(tree):
    tree.cpus(2)
    node(tree, 0, "0-1", f"10 {'9' * 5000} -1 x")
    tree.write(STATUS, f"Node: {'9' * 5000}\n")
    (found,) = inspect(tree.root).numa
    assert (found.distances, found.kind) == ((10,), "host")
