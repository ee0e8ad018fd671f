"""The inspection of this machine agrees with lscpu, lsblk and free, if they are installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from machine.inspect import inspect
from machine.live.memory import MemorySampler

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these tools are of Linux")


def told(*command):
    """Return what a tool says; skips where it is missing, or too old for what is asked."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} here")
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30)
    if done.returncode:
        pytest.skip(f"this {command[0]} does not know the question")
    return done.stdout


@pytest.fixture(scope="module")
def machine():
    return inspect()


def test_threads_lie_where_lscpu_says(machine):
    rows = [
        [int(number) if number else None for number in line.split(",")]
        for line in told("lscpu", "--parse=CPU,CORE,SOCKET,NODE").splitlines()
        if not line.startswith("#")
    ]
    threads = {thread.id: thread for thread in machine.cpu.threads_list if thread.online}
    assert threads.keys() == {row[0] for row in rows}
    for name, column in (("core", 1), ("package", 2), ("numa_node", 3)):
        # Each numbers in its own order: equal are who is together.
        ours, theirs = {}, {}
        for row in rows:
            ours.setdefault(getattr(threads[row[0]], name), set()).add(row[0])
            theirs.setdefault(row[column], set()).add(row[0])
        assert sorted(map(sorted, ours.values())) == sorted(map(sorted, theirs.values())), name


def test_model_and_features_are_those_of_lscpu(machine):
    entries = json.loads(told("lscpu", "--json"))["lscpu"]
    fields = {entry["field"].rstrip(":"): entry["data"] for entry in entries}
    if "Model name" in fields and "," not in (machine.cpu.model or ""):
        assert machine.cpu.model == " ".join(fields["Model name"].split())
    assert machine.cpu.counts.present == int(fields["CPU(s)"])
    if "Flags" in fields:
        assert {*machine.cpu.features} == {*fields["Flags"].split()}


def test_caches_are_those_of_lscpu(machine):
    columns = "NAME,ONE-SIZE,ALL-SIZE,WAYS,TYPE,LEVEL,COHERENCY-SIZE"
    entries = json.loads(told("lscpu", f"--caches={columns}", "--bytes", "--json"))["caches"]
    for entry in entries:
        level, kind = int(entry["level"]), entry["type"].lower()
        ours = [c for c in machine.cpu.caches if (c.level, c.kind) == (level, kind)]
        if len({(c.size_bytes, c.ways, c.line_bytes) for c in ours}) > 1:
            continue  # lscpu tells one size where cores differ
        assert ours[0].size_bytes == int(entry["one-size"])
        assert sum(cache.size_bytes for cache in ours) == int(entry["all-size"])
        assert ours[0].ways == (int(entry["ways"]) if entry["ways"] else None)
        assert ours[0].line_bytes == int(entry["coherency-size"])
    listed = {(int(entry["level"]), entry["type"].lower()) for entry in entries}
    assert {(cache.level, cache.kind) for cache in machine.cpu.caches} == listed


def test_disks_are_those_of_lsblk(machine):
    columns = "NAME,SIZE,TYPE,MODEL"
    said = told("lsblk", "--json", "--bytes", "--nodeps", f"--output={columns}")
    listed = json.loads(said)["blockdevices"]
    disks = {
        entry["name"]: entry
        for entry in listed
        if entry["type"] == "disk" and not entry["name"].startswith(("zram", "ram", "fd", "nbd"))
    }
    ours = {disk.name: disk for disk in machine.storage}
    for name, disk in ours.items():
        if name in disks:
            assert (disk.size_bytes or 0) == int(disks[name]["size"])
            assert (disk.model or "") == (disks[name]["model"] or "").strip()
    assert {name for name, entry in disks.items() if int(entry["size"])} <= ours.keys()


def test_memory_is_that_of_free(machine):
    total, *_, available = map(int, told("free", "--bytes").splitlines()[1].split()[1:])
    assert machine.memory.total_bytes == total
    now = MemorySampler(Path("/")).sample(0.0)
    assert now.total_bytes == total
    assert abs(now.available_bytes - available) < 0.1 * total  # others go on meanwhile
