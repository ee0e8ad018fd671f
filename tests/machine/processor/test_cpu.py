from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from machine.facts import Notes
from machine.inspect import inspect
from machine.processor.cpu import read_cpu
from tests import ROOT

live = pytest.mark.skipif(sys.platform != "linux", reason="reads the running Linux")


@pytest.fixture
def read(tree):
    def cpu():
        notes = Notes()
        return read_cpu(tree.root, (), notes, is_live=False), notes

    return cpu


def test_what_is_online_is_counted_and_what_is_usable_apart(tree, read):
    tree.cpus(8, threads_per_core=2, packages=2, online="0-5")
    tree.pinned("0-3,6")
    cpu, _ = read()
    assert (cpu.packages, cpu.cores, cpu.threads, cpu.usable_threads) == (2, 3, 6, 4)
    assert [thread.id for thread in cpu.threads_list if thread.usable] == [0, 1, 2, 3]


def test_the_five_counts_differ_in_a_container(tree, read):
    tree.cpus(8, online="0-6")
    tree.pinned("0-4")
    tree.write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    tree.write("/proc/self/cgroup", "0::/\n")
    tree.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-5\n")
    tree.write("/sys/fs/cgroup/cpu.max", "250000 100000\n")
    cpu, notes = read()
    counts = cpu.counts
    assert (counts.present, counts.online, counts.cpuset, counts.affinity) == (8, 7, 6, 5)
    assert counts.quota == 2.5
    assert cpu.usable_threads == 5, "a quota is time, not threads"
    assert notes.sources["cpu.counts.quota"] == "/sys/fs/cgroup/cpu.max"


def test_a_mask_with_threads_that_are_not_built_in_counts_only_real_ones(tree, read):
    tree.cpus(4)
    tree.pinned("0-127")
    cpu, _ = read()
    assert (cpu.counts.affinity, cpu.usable_threads) == (4, 4)


def test_an_unknown_affinity_of_a_recording_is_not_that_of_the_running_machine(tree, read):
    tree.cpus(64)
    cpu, notes = read()
    assert (cpu.counts.affinity, cpu.usable_threads) == (None, 64)
    assert "cpu.counts.affinity" in {entry.what for entry in notes.missing}


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        ("processor : 0\nmodel name : AMD  Opteron(TM) 6276   \n", "AMD Opteron(TM) 6276"),
        ("processor : 0\ncpu : POWER9, altivec supported\n", "POWER9"),
        ("Processor : ARMv7 rev 1\nprocessor : 0\n", "ARMv7 rev 1"),
    ],
)
def test_the_model_has_other_names_on_other_architectures(tree, read, cpuinfo, model):
    tree.write("/proc/cpuinfo", cpuinfo)
    assert read()[0].model == model


def test_a_model_that_is_only_numbers_is_explained_with_them(tree, read):
    tree.write("/proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n")
    cpu, notes = read()
    assert cpu.model is None
    (why,) = (entry.why for entry in notes.missing if entry.what == "cpu.model")
    assert "implementer 0x41" in why
    assert "part 0xfff" in why


def test_features_are_sorted_and_unique(tree, read):
    tree.write("/proc/cpuinfo", "flags : sse avx sse\nflags : mmx\n")
    assert read()[0].features == ("avx", "sse")


def test_clocks_are_in_hertz_and_span_all_cores(tree, read):
    for n, (low, high, base) in enumerate([(400, 5200, 1900), (300, 3900, 1400)]):
        tree.cpu(f"cpufreq/policy{n}/cpuinfo_min_freq", f"{low}000")
        tree.cpu(f"cpufreq/policy{n}/cpuinfo_max_freq", f"{high}000")
        tree.cpu(f"cpufreq/policy{n}/base_frequency", f"{base}000")
    clock = read()[0].clock
    assert (clock.min_hz, clock.max_hz, clock.base_hz) == (
        300_000_000,
        5_200_000_000,
        1_900_000_000,
    )


def test_clocks_of_old_kernels_lie_with_each_thread(tree, read):
    tree.cpu("cpu0/cpufreq/cpuinfo_max_freq", "2300000")
    assert read()[0].clock.max_hz == 2_300_000_000


def test_a_clock_that_is_not_told_is_none_and_explained(tree, read):
    tree.cpus(2)
    cpu, notes = read()
    assert (cpu.clock.min_hz, cpu.clock.max_hz, cpu.clock.base_hz) == (None, None, None)
    lacking = {entry.what for entry in notes.missing}
    assert {f"cpu.clock.{name}" for name in ("min_hz", "max_hz", "base_hz")} <= lacking


@live
def test_affinity_agrees_with_the_scheduler():
    cpu = inspect().cpu
    assert {t.id for t in cpu.threads_list if t.usable} == os.sched_getaffinity(0)
    assert cpu.counts.affinity == len(os.sched_getaffinity(0))


@live
def test_a_pinned_process_may_use_what_it_is_pinned_to():
    first = min(os.sched_getaffinity(0))
    program = (
        f"import os; os.sched_setaffinity(0, {{{first}}});"
        "from machine.inspect import inspect; m = inspect();"
        "print([t.id for t in m.cpu.threads_list if t.usable], m.cpu.counts.affinity)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert said.stdout.strip() == f"[{first}] 1"


@live
@pytest.mark.skipif(shutil.which("lscpu") is None, reason="lscpu is not installed")
def test_topology_agrees_with_lscpu():
    def ask(*arguments):
        command = ["lscpu", *arguments]
        environment = {**os.environ, "LC_ALL": "C"}
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment
        ).stdout

    cpu = inspect().cpu
    rows = json.loads(ask("-J", "-e=CPU,CORE,SOCKET,NODE"))["cpus"]
    ours = {(t.id, t.core, t.package, t.numa_node) for t in cpu.threads_list if t.online}
    theirs = {tuple(int(row[key]) for key in ("cpu", "core", "socket", "node")) for row in rows}
    # Numbers may be given in another order; what lies together may not differ.
    for column in (1, 2, 3):
        assert together(ours, column) == together(theirs, column)

    summary = dict(line.split(":", 1) for line in ask().splitlines() if ":" in line)
    assert cpu.model == " ".join(summary["Model name"].split())
    assert set(summary["Flags"].split()) == set(cpu.features)

    caches = json.loads(ask("-J", "-B", "-C"))["caches"]
    kinds = {"Data": "data", "Instruction": "instruction", "Unified": "unified"}
    for cache in caches:
        found = [
            c for c in cpu.caches if (c.level, c.kind) == (cache["level"], kinds[cache["type"]])
        ]
        assert sum(c.size_bytes for c in found) == int(cache["all-size"])
        assert {(c.line_bytes, c.ways) for c in found} == {(cache["coherency-size"], cache["ways"])}
    assert len({(c.level, c.kind) for c in cpu.caches}) == len(caches)


def together(rows, column):
    groups = {}
    for row in rows:
        groups.setdefault(row[column], set()).add(row[0])
    return set(map(frozenset, groups.values()))
