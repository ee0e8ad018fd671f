"""The recorded machines are what hwloc says of them: what the process may use, and its memory."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from machine.bus.pcie import is_bridge
from machine.memory.nodes import host_nodes
from machine.model import usable_threads
from tests.machine.trees import RECORDINGS

EXPECTED = RECORDINGS / "expected.json"
MACHINES = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
KEYS = (
    *("packages", "dies", "cores", "threads", "numa_nodes"),
    *("caches", "pci_devices", "pci_bridges"),
)

NO_BUSES = "hwloc leaves out a bridge (0000:00:11.0) whose bus numbers are 0"
NO_NODES = "this kernel knows no memory nodes; hwloc makes one up"
# What we say where hwloc says otherwise, and why we keep to it.
DIFFERENCES = {
    "32em64t-2n8c+dax+nvme+mic+dimms": {"pci_bridges": (13, NO_BUSES)},
    "2arm-2c": {"numa_nodes": (0, NO_NODES)},
}
# The memory of GPUs, which hwloc leaves out unless it is asked to keep it.
OF_GPUS = {"nvidiagpunumanodes": (250, 251, 252, 253, 254, 255)}


@pytest.mark.skipif(not MACHINES, reason="the recorded machines are not here")
def test_every_difference_belongs_to_a_recording():
    assert DIFFERENCES.keys() <= MACHINES.keys()


@pytest.mark.parametrize("name", MACHINES)
def test_a_recorded_machine_is_what_hwloc_says(name, recorded):
    machine = recorded(name)
    threads = usable_threads(machine)
    ids = {thread.id for thread in threads}
    online = {thread.id: thread for thread in machine.cpu.threads_list if thread.online}
    nodes = [node for node in host_nodes(machine.numa) if node.allowed]
    # hwloc keeps what holds an allowed thread, and what memory hangs on that the process may use.
    near = [{*node.threads} & online.keys() for node in nodes]
    kept = ids.union(*near)
    packages = {online[thread].package for thread in kept}
    dies = {online[thread].die for thread in kept}
    bridges = {device.address for device in machine.pci if is_bridge(device)}
    # hwloc counts a bridge for every bus that hangs on the processor.
    roots = {d.address.rpartition(":")[0] for d in machine.pci if d.parent not in bridges}
    found = {
        "packages": len(packages),
        "dies": len(dies) if len(dies) > len(packages) else 0,
        "cores": len({thread.core for thread in threads}),
        "threads": len(threads),
        "numa_nodes": len(nodes),
        "caches": Counter(
            f"L{cache.level} {cache.kind} {cache.size_bytes}"
            for cache in machine.cpu.caches
            if ids & {*cache.threads} or any(part and part <= {*cache.threads} for part in near)
        ),
        "pci_devices": len(machine.pci) - len(bridges),
        "pci_bridges": len(bridges | roots),
    }
    explained = {key: ours for key, (ours, _why) in DIFFERENCES.get(name, {}).items()}
    assert found == {key: MACHINES[name][key] for key in KEYS} | explained
    assert all(explained[key] != MACHINES[name][key] for key in explained), "no longer a difference"
    of_gpus = tuple(node.id for node in machine.numa if node.kind == "gpu")
    assert of_gpus == OF_GPUS.get(name, ())


@pytest.mark.skipif(not MACHINES, reason="the recorded machines are not here")
def test_the_memory_of_gpus_is_no_main_memory(recorded):
    """hwloc gives each node its local memory; the kernel's total counts the six GPUs too."""
    machine = recorded("nvidiagpunumanodes")
    host = sum(node.memory_bytes for node in host_nodes(machine.numa))
    assert machine.memory.total_bytes == host == (129839104 + 133952000) * 1024
    assert {gpu.memory_numa_node for gpu in machine.gpus} == {*OF_GPUS["nvidiagpunumanodes"]}
