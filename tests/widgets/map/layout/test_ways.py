from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core import words
from machine.devices import GpuLink
from tests.widgets.map.machines import dense, shipped, small
from widgets.map.layout.layout import lay_out
from widgets.map.layout.ways import DataPaths
from widgets.map.panel.about import About

WORDS = words.load()
LARGEST = "dual-socket-8-gpu"


@pytest.fixture
def way(measure):
    """Return a function from a machine and the names of two boxes to the way between them."""

    def find(machine, a, b):
        boxes = lay_out(machine, WORDS, measure(), 2000, 1e6).boxes
        by_id = {box.id: box for box in boxes}
        ways = DataPaths(machine, WORDS, About(machine, WORDS).title)
        return ways.between(by_id[a], by_id[b], boxes)

    return find


def test_a_core_reaches_the_memory_through_its_caches(way):
    found = way(small(), "thread:1", "memory")

    assert found.text.startswith("hardware thread 1 → L1 → L2 → L3 → Memory.")
    assert "Memory: bandwidth not known." in found.text
    assert {"thread:1", "memory", "cache:0", "cache:4", "cache:6"} <= found.lit


def test_the_way_back_is_told_backwards(way):
    assert way(small(), "memory", "thread:1").text.startswith("Memory → L3 → L2 → L1 → hardware")


def test_the_ceiling_of_the_memory_is_named(way):
    text = way(shipped("workstation"), "thread:3", "memory").text

    assert "Narrowest: Memory, at most 96 GB/s in one direction." in text


def test_cores_meet_in_the_nearest_cache_they_share(way):
    near, far = way(dense(), "thread:1", "thread:7"), way(dense(), "thread:1", "thread:8")

    assert "→ L3 →" in near.text
    assert "L3 → inside the package → L3" in far.text


@pytest.mark.parametrize("ends", [("cache:0", "core:0"), ("thread:0", "thread:1")])
def test_nothing_is_said_of_a_rate_that_no_machine_tells(way, ends):
    assert "bandwidth" not in way(small(), *ends).text


def test_a_way_that_ends_at_a_cache_passes_nothing_behind_it(way):
    assert way(small(), "thread:0", "cache:4").text.startswith(
        "hardware thread 0 → L1 → L2 → L3 → L2 → L1 cache."
    )
    assert way(small(), "cache:6", "thread:0").text.startswith(
        "L2 cache → L3 → L2 → L1 → hardware thread 0."
    )


def test_parts_that_lie_in_each_other_have_no_way(way):
    assert way(small(), "thread:1", "package:0") is None
    assert way(small(), "core:0", "core:0") is None


def test_the_memory_of_another_node_is_farther_away(way):
    text = way(shipped(LARGEST), "thread:0", "node:1").text

    assert "Node 0 to node 1: distance 32, at home 10." in text


def test_gpus_reach_each_other_by_nvlink(way):
    found = way(shipped(LARGEST), "gpu:0", "gpu:7")

    assert found.text == (
        "GPU 0 → NVSwitch, 18 NVLinks → GPU 7. "
        "Narrowest: NVLink, at most 450 GB/s in one direction."
    )
    assert found.lit == {"gpu:0", "gpu:7", "nvlink", "nvlink:0", "nvlink:7"}


def test_gpus_without_nvlink_go_by_pcie_in_the_words_of_the_driver(way):
    plain = shipped(LARGEST)
    slow = tuple(
        GpuLink(a=link.a, b=link.b, path=None, peer_access_cuda=False) for link in plain.gpu_links
    )
    machine = replace(plain, gpu_links=slow, nvswitch=False)
    by_switch, by_processors = way(machine, "gpu:0", "gpu:1"), way(machine, "gpu:0", "gpu:7")

    assert "PIX: through one PCIe switch" in by_switch.text
    assert "SYS: through the processors" in by_processors.text
    assert "Neither reads the other's memory" in by_switch.text
    assert not any(name.startswith("up:") for name in by_switch.lit)
    assert {"package:0", "package:128"} <= by_processors.lit
    assert sum(name.startswith("up:switch:") for name in by_processors.lit) == 2


def test_a_narrow_slot_is_named_as_the_narrowest(way):
    text = way(shipped("workstation"), "gpu:1", "memory").text

    assert text.startswith("GPU 1 → ")
    assert "Narrowest: the link of GPU 1, at most 31.5 GB/s in one direction." in text


def test_a_disk_reaches_a_gpu(way):
    found = way(shipped("workstation"), "disk:0", "gpu:0")

    assert found.text.startswith("nvme0n1 → ")
    assert "Narrowest: the link of nvme0n1, at most 7.88 GB/s" in found.text
    assert {"disk:0", "gpu:0", "link:gpu:0"} <= found.lit


@pytest.mark.parametrize("end", ["package:0", "memory"])
def test_every_sentence_begins_with_a_capital(way, end):
    text = way(shipped("virtual-machine"), end, "disk:0").text

    assert ". The link of vda: bandwidth not known." in text


def test_a_unified_gpu_goes_by_its_own_joint(way):
    text = way(shipped("unified"), "gpu:0", "memory").text

    assert "Narrowest: Memory, at most 273 GB/s in one direction." in text
