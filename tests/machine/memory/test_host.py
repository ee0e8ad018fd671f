from __future__ import annotations

import sys

import psutil
import pytest

from machine.facts import Notes
from machine.inspect import inspect
from machine.memory.host import NO_LIMIT, available_bytes, read_memory
from machine.model import Memory, missing_of
from machine.record import names
from machine.system import cgroups


def test_the_total_is_in_bytes(tree):
    tree.write("/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n")
    assert read_memory(tree.root, Notes()).total_bytes == 2**24


def test_what_is_not_known_of_the_memory_is_explained(tree):
    notes = Notes()
    memory = read_memory(tree.root, notes)
    assert (memory.total_bytes, memory.channels, memory.modules) == (None, None, ())
    assert {entry.what for entry in notes.missing} == {f"memory.{name}" for name in names(Memory)}


def test_a_limit_of_the_control_group_is_kept_where_it_is_below_the_total(tree):
    tree.write("/proc/meminfo", "MemTotal:       16384 kB\n")
    tree.write("/proc/self/cgroup", "0::/\n")
    tree.write("/sys/fs/cgroup/memory.max", f"{2**23}\n")
    machine = inspect(tree.root)
    assert (machine.memory.total_bytes, machine.memory.limit_bytes) == (2**24, 2**23)
    assert machine.sources["memory.limit_bytes"] == "/sys/fs/cgroup/memory.max"
    tree.write("/sys/fs/cgroup/memory.max", f"{2**30}\n")
    assert inspect(tree.root).memory.limit_bytes is None
    assert missing_of(inspect(tree.root), "memory.limit_bytes").why == NO_LIMIT


def test_available_memory_is_bounded_by_the_control_group(monkeypatch):
    monkeypatch.setattr(cgroups, "memory_left_bytes", lambda root: 1000)
    assert available_bytes() == (1000 if sys.platform == "linux" else available_bytes())
    monkeypatch.setattr(cgroups, "memory_left_bytes", lambda root: None)
    assert available_bytes() == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_the_total_agrees_with_psutil():
    assert inspect().memory.total_bytes == psutil.virtual_memory().total
