"""The recorded machines have the counts that hwloc finds, over what the process may use."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from machine.bus.pcie import is_bridge
from machine.model import usable_threads
from tests.machine.trees import RECORDINGS

EXPECTED = RECORDINGS / "expected.json"
MACHINES = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
KEYS = ("packages", "cores", "threads", "numa_nodes", "caches", "pci_devices", "pci_bridges")

NODES = "hwloc leaves out nodes whose memory the process may not use; we list them all"
KEPT_FOR_MEMORY = "hwloc keeps some without usable threads, because their memory may be used"
EFFECTIVE = "hwloc reads cpuset.cpus; the kernel obeys cpuset.effective_cpus, half as many here"
NO_BUSES = "hwloc leaves out a bridge (0000:00:11.0) whose bus numbers are 0"
# What we say where hwloc says otherwise, and why we keep to it.
DIFFERENCES = {
    "16amd64-8n2c-cpusets": {"packages": (6, KEPT_FOR_MEMORY), "numa_nodes": (8, NODES)},
    "32amd64-4s2n4c-cgroup2": {
        "packages": (1, KEPT_FOR_MEMORY),
        "numa_nodes": (8, NODES),
        "caches": (
            {
                "L1 data 65536": 6,
                "L1 instruction 65536": 6,
                "L2 unified 524288": 6,
                "L3 unified 5240832": 2,
            },
            KEPT_FOR_MEMORY,
        ),
    },
    "32em64t-2n8c+dax+nvme+mic+dimms": {"pci_bridges": (13, NO_BUSES)},
    "2arm-2c": {"numa_nodes": (0, "this kernel knows no nodes; hwloc makes one up")},
    "nvidiagpunumanodes": {
        "numa_nodes": (8, "six are the memory of GPUs, which hwloc leaves out unless asked"),
        "packages": (1, EFFECTIVE),
        "cores": (4, EFFECTIVE),
        "threads": (16, EFFECTIVE),
        "caches": (
            {
                "L1 data 32768": 4,
                "L1 instruction 32768": 4,
                "L2 unified 524288": 2,
                "L3 unified 10485760": 2,
            },
            EFFECTIVE,
        ),
    },
}


@pytest.mark.skipif(not MACHINES, reason="the recorded machines are not here")
def test_every_difference_belongs_to_a_recording():
    assert DIFFERENCES.keys() <= MACHINES.keys()


@pytest.mark.parametrize("name", MACHINES)
def test_a_recorded_machine_is_what_hwloc_says(name, recorded):
    machine = recorded(name)
    threads = usable_threads(machine)
    ids = {thread.id for thread in threads}
    bridges = {device.address for device in machine.pci if is_bridge(device)}
    # hwloc counts a bridge for every bus that hangs on the processor.
    roots = {d.address.rpartition(":")[0] for d in machine.pci if d.parent not in bridges}
    found = {
        "packages": len({thread.package for thread in threads}),
        "cores": len({thread.core for thread in threads}),
        "threads": len(threads),
        "numa_nodes": len(machine.numa),
        "caches": Counter(
            f"L{c.level} {c.kind} {c.size_bytes}" for c in machine.cpu.caches if ids & {*c.threads}
        ),
        "pci_devices": len(machine.pci) - len(bridges),
        "pci_bridges": len(bridges | roots),
    }
    explained = {key: ours for key, (ours, _why) in DIFFERENCES.get(name, {}).items()}
    assert found == {key: MACHINES[name][key] for key in KEYS} | explained
    assert all(explained[key] != MACHINES[name][key] for key in explained), "no longer a difference"
