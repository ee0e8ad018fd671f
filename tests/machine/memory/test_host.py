from __future__ import annotations

import sys

import psutil
import pytest

from machine.facts import Notes
from machine.inspect import inspect
from machine.memory.host import available_bytes, read_memory, read_numa
from machine.model import Memory, NumaNode
from machine.record import names
from machine.system import cgroups


def node(tree, number, cpulist, distance, total_kb):
    folder = f"/sys/devices/system/node/node{number}"
    tree.write(f"{folder}/cpulist", f"{cpulist}\n")
    tree.write(f"{folder}/distance", f"{distance}\n")
    tree.write(f"{folder}/meminfo", f"\nNode {number} MemTotal:       {total_kb} kB\n")


def test_the_total_is_in_bytes(tree):
    tree.write("/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n")
    assert read_memory(tree.root, Notes()).total_bytes == 2**24


def test_what_is_not_known_of_the_memory_is_explained(tree):
    notes = Notes()
    memory = read_memory(tree.root, notes)
    assert (memory.total_bytes, memory.channels, memory.modules) == (None, None, ())
    assert {entry.what for entry in notes.missing} == {f"memory.{name}" for name in names(Memory)}


def test_nodes_keep_their_numbers_memory_and_distances(tree):
    node(tree, 0, "0-1", "10 21 80", 1024)
    node(tree, 8, "2-3", "21 10 80", 2048)
    node(tree, 250, "", "80 80 10", 4096)  # the memory of a GPU: no threads
    assert read_numa(tree.root, frozenset(range(4)), Notes()) == (
        NumaNode(id=0, threads=(0, 1), memory_bytes=2**20, distances=(10, 21, 80)),
        NumaNode(id=8, threads=(2, 3), memory_bytes=2**21, distances=(21, 10, 80)),
        NumaNode(id=250, threads=(), memory_bytes=2**22, distances=(80, 80, 10)),
    )


def test_a_node_lists_only_threads_that_are_there(tree):
    node(tree, 0, "0-87", "10", 1024)
    assert read_numa(tree.root, frozenset({0, 1}), Notes())[0].threads == (0, 1)


def test_a_node_with_a_mask_only_has_threads(tree):
    tree.write("/sys/devices/system/node/node0/cpumap", "00000000,0000000c\n")
    notes = Notes()
    (found,) = read_numa(tree.root, frozenset(range(8)), notes)
    assert found.threads == (2, 3)
    assert [entry.what for entry in notes.missing] == ["numa[*].memory_bytes"]


def test_a_kernel_without_nodes_is_explained(tree):
    notes = Notes()
    assert read_numa(tree.root, frozenset({0}), notes) == ()
    assert [entry.what for entry in notes.missing] == ["numa"]


def test_available_memory_is_bounded_by_the_control_group(monkeypatch):
    monkeypatch.setattr(cgroups, "memory_left_bytes", lambda root: 1000)
    assert available_bytes() == (1000 if sys.platform == "linux" else available_bytes())
    monkeypatch.setattr(cgroups, "memory_left_bytes", lambda root: None)
    assert available_bytes() == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_the_total_agrees_with_psutil():
    assert inspect().memory.total_bytes == psutil.virtual_memory().total
