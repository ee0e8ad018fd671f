"""The machines in resources/machines are consistent, and nothing in them is invented."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter

import pytest
from rich.console import Console

from app.terminal.inspect import show_machine, show_unknown
from machine.bus import pcie
from machine.facts import Notes
from machine.live import recorded_watch
from machine.model import from_json, source_of, to_json
from machine.peaks import read_peaks
from tests.cases import in_one
from tests.machine.unexplained import leaves, unexplained
from tests.tools.made_machines.files import FOLDER, MAKERS
from tests.tools.made_machines.parts import MADE, text

INSPECTED = ("gpu-server.json", "virtual-machine.json")
NAMES = sorted(path.name for path in FOLDER.glob("*.json"))


def shipped(name):
    return from_json(json.loads((FOLDER / name).read_text(encoding="utf-8")))


@pytest.fixture(params=NAMES)
def machine(request):
    return shipped(request.param)


def test_all_that_are_promised_are_there():
    assert {*NAMES} == {*MAKERS, *INSPECTED}


@in_one("name", NAMES)
def test_beside_each_lies_a_watch_of_it_that_names_no_process(name):
    machine = shipped(name)
    watch = recorded_watch.read(recorded_watch.beside(FOLDER / name))
    assert watch.is_made_up is not (name == "gpu-server.json"), "the one that was really watched"
    for sample in (watch.samples[0], watch.samples[-1]):
        assert len(sample.threads) == machine.cpu.counts.online
        assert [g.pci_address for g in sample.gpus] == [g.pci_address for g in machine.gpus]
        assert all(gpu.processes is None for gpu in sample.gpus)


@in_one("name", MAKERS)
def test_a_shipped_machine_is_exactly_what_its_recipe_makes(name):
    remedy = "python -m tests.tools.made_machines"
    assert (FOLDER / name).read_text(encoding="utf-8") == text(MAKERS[name]()), remedy


@in_one("name", MAKERS)
def test_a_machine_that_was_made_says_so_of_every_value(name):
    machine = shipped(name)
    for path in ("cpu.model", "gpus[0].name", "memory.total_bytes", "pci[0].name", "storage"):
        assert source_of(machine, path) == MADE


@in_one("name", NAMES)
def test_every_value_has_a_source_or_a_reason(name):
    plain = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    asked = {path for path, _ in leaves(plain)}  # not what came after an inspected one was kept
    assert [path for path in unexplained(from_json(plain)) if path in asked] == []


def test_its_counts_are_those_of_its_threads(machine):
    cpu = machine.cpu
    ids = [thread.id for thread in cpu.threads_list]
    assert len({*ids}) == len(ids) == cpu.threads == cpu.counts.present == cpu.counts.online
    assert cpu.cores == len({thread.core for thread in cpu.threads_list})
    assert cpu.packages == len({thread.package for thread in cpu.threads_list})
    assert cpu.usable_threads == sum(bool(thread.usable) for thread in cpu.threads_list)
    by_core = Counter((t.core, t.package, t.die, t.cluster, t.numa_node) for t in cpu.threads_list)
    assert len(by_core) == cpu.cores, "the threads of a core lie together"


def test_every_thread_has_its_caches_once(machine):
    ids = {thread.id for thread in machine.cpu.threads_list}
    for level, kind in {(cache.level, cache.kind) for cache in machine.cpu.caches}:
        served = [
            thread
            for cache in machine.cpu.caches
            if (cache.level, cache.kind) == (level, kind)
            for thread in cache.threads
        ]
        assert len(served) == len({*served})
        assert {*served} <= ids
        if level == 1:
            assert {*served} == ids


def test_every_memory_node_knows_its_threads_and_the_way_to_all_others(machine):
    total_bytes = sum(node.memory_bytes or 0 for node in machine.numa)
    assert total_bytes <= machine.memory.total_bytes
    for place, node in enumerate(machine.numa):
        assert len(node.distances) == len(machine.numa)
        assert node.distances[place] == 10
        ours = {t.id for t in machine.cpu.threads_list if t.numa_node == node.id}
        assert {*node.threads} == ours


def test_its_memory_is_a_little_less_than_its_modules(machine):
    built_in = sum(module.size_bytes for module in machine.memory.modules)
    if built_in:
        assert 0.9 * built_in < machine.memory.total_bytes < built_in


def test_every_device_hangs_on_one_that_is_there(machine):
    addresses = [device.address for device in machine.pci]
    assert len({*addresses}) == len(addresses)
    for device in machine.pci:
        assert device.parent in addresses or re.fullmatch(
            r"pci[0-9a-f]{4}:[0-9a-f]{2}", device.parent
        )
        assert device.numa_node in {node.id for node in machine.numa}
        if device.parent in addresses:
            parent = machine.pci[addresses.index(device.parent)]
            assert pcie.is_bridge(parent)
            assert parent.numa_node == device.numa_node


def test_a_link_can_carry_what_both_its_ends_can(machine):
    for link in (device.link for device in machine.pci if device.link):
        assert link.peak_bytes_per_s == pcie.bytes_per_s(*pcie.able(link))
        assert link.generation <= pcie.able(link)[0]
        assert link.width <= pcie.able(link)[1]


def test_gpus_disks_and_networks_are_in_the_pci_tree(machine):
    by_address = {device.address: device for device in machine.pci}
    for part in (*machine.gpus, *machine.storage, *machine.network):
        assert part.pci_address in by_address
    for gpu in machine.gpus:
        assert gpu.numa_node == by_address[gpu.pci_address].numa_node
    assert [gpu.index for gpu in machine.gpus] == [*range(len(machine.gpus))]
    for disk in machine.storage:
        link = by_address[disk.pci_address].link
        assert disk.peak_bytes_per_s == (link.peak_bytes_per_s if link else None)


def test_the_ways_between_gpus_are_those_of_their_nvlinks(machine):
    pairs = [(link.a, link.b) for link in machine.gpu_links]
    assert pairs == [*itertools.combinations(range(len(machine.gpus)), 2)]
    switches = {d.address for d in machine.pci if d.class_id == 0x068000}
    for gpu in machine.gpus:
        assert {link.peer for link in gpu.nvlinks} <= switches
        assert [link.number for link in gpu.nvlinks] == [*range(len(gpu.nvlinks))]
    for pair in machine.gpu_links:
        links = machine.gpus[pair.a].nvlinks
        assert (pair.nvlinks or 0) == len(links)
        assert (pair.path == f"NV{len(links)}") == bool(links)
    assert bool(machine.nvswitch) == bool(switches)


def test_its_ceilings_are_what_its_parts_give(machine):
    parts = (machine.memory, machine.pci, machine.gpus, machine.gpu_links)
    found = read_peaks(*parts, notes := Notes(), machine.cpu)
    assert json.loads(json.dumps(found)) == machine.peaks
    assert [m for m in machine.missing if m.what.startswith("peaks")] == [
        m for m in notes.missing if m.what.startswith("peaks")
    ]
    if "memory" in machine.peaks:
        assert machine.peaks["memory"]["bytes_per_s"] == machine.memory.peak_bytes_per_s


def test_no_machine_names_its_owner(machine):
    told = json.dumps(to_json(machine))
    assert not any(gpu.uuid for gpu in machine.gpus)
    assert "/home/" not in told
    assert not re.search(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", told), "a hardware address"


@pytest.mark.parametrize("width", [80, 120])
def test_it_is_a_page_in_the_terminal(machine, width, capsys):
    console = Console(width=width, highlight=False, markup=False)
    show_machine(console, machine)
    show_unknown(console, machine)
    page = capsys.readouterr().out
    assert machine.cpu.model in page
    for gpu in machine.gpus:
        assert gpu.name.split()[-1] in page
    assert max(map(len, page.splitlines())) <= width
