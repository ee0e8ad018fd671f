from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from app.terminal.inspect import gaps, show_machine, show_unknown
from machine.condition import Clock, HugePages
from machine.devices import Disk, Gpu
from machine.model import CpuCounts, Machine, Memory, Missing, NumaNode, SideCache
from machine.processor.core_kinds import ONE_KIND
from machine.processor.cpu import NO_QUOTA
from tests.cases import in_one
from tests.experiments.machines import GIB, machine
from tests.tools.made_machines import laptop, server, workstation


def page(here, width=80):
    console = Console(file=io.StringIO(), width=width, markup=False)
    show_machine(console, here)
    show_unknown(console, here)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def with_cpu(here, **changes):
    return msgspec.structs.replace(here, cpu=msgspec.structs.replace(here.cpu, **changes))


def test_a_machine_of_which_nothing_is_known_is_still_a_page():
    assert page(Machine())[0] == "A machine of unknown model"


def test_one_is_one_and_two_are_two():
    one = with_cpu(machine(cores=1), packages=1, cores=1, threads=1)
    two = with_cpu(machine(cores=2), packages=2, cores=2, threads=4)

    assert "processor  1 package, 1 core, 1 hardware thread" in page(one)
    assert "processor  2 packages, 2 cores, 4 hardware threads" in page(two)


def test_caches_are_counted_and_say_whom_they_serve():
    lines = page(machine(cores=8))

    assert "L1         8 × 32 KiB, one for each hardware thread" in lines
    assert "L3         1 × 32 MiB, one for each 8 hardware threads" in lines


@in_one(
    ("counts", "said"),
    [
        (CpuCounts(present=8, online=4), "8 present, 4 switched on"),
        (CpuCounts(online=4, affinity=2), "its affinity leaves 2"),
        (CpuCounts(online=4, cpuset=1), "its control group leaves 1"),
        (CpuCounts(online=4, quota=1.5), "of which its control group grants the time of 1.5"),
    ],
)
def test_what_leaves_fewer_threads_than_there_are_is_said(counts, said):
    (usable,) = (line for line in page(with_cpu(machine(), counts=counts)) if "usable" in line)

    assert said in usable


def test_the_five_counts_of_cpus_stand_side_by_side():
    counts = CpuCounts(present=8, online=8, affinity=2, cpuset=4, quota=1.5)
    (line,) = (text for text in page(with_cpu(machine(), counts=counts), 120) if "present" in text)
    assert line.endswith("8 present, 8 online, 2 by affinity, 4 by cpuset, 1.5 by quota of time")

    (line,) = (text for text in page(with_cpu(machine(), counts=CpuCounts())) if "present" in text)
    assert line.endswith("? present, ? online, ? by affinity, ? by cpuset, no quota of time")


def test_kinds_of_cores_are_counted_and_caches_say_whom_they_serve():
    lines = page(laptop.make(), 120)
    assert "cores      6 performance, 8 efficiency, 2 low-power" in lines
    assert any("6 × 48 KiB for 2 hardware threads, 10 × 32 KiB for 1 " in line for line in lines)
    assert any("1 package, 2 dies, 16 cores" in line for line in page(workstation.make(), 120))


def test_ceilings_stand_with_formula_and_source_and_what_is_alike_once():
    lines = page(server.make(), 160)
    start = lines.index("At best")
    ceilings = lines[start + 1 : lines.index("", start)]
    assert ceilings[:2] == [
        "JEDEC: one transfer moves the data width of the channel",
        "  memory    1.15 TB/s  = 24 channels × 6000e6 transfers/s × 64 bits / 8",
    ]
    joined = [" ".join(line.split()) for line in ceilings if "nvlink" in line]
    assert joined == ["nvlink 28 pairs of GPUs, each way 450 GB/s = 18 links × 25e9 bytes/s"]
    assert sum("gpu 0 to 7" in line for line in ceilings) == 2
    assert any("int8" in line and "2141 TOP/s" in line for line in ceilings)
    assert len(ceilings) < 30
    assert "At best" not in page(machine())


def test_ceilings_of_another_program_may_lack_formula_and_source():
    gpus = {"0": {"memory": {"bytes_per_s": 3.35e12}}, "2": {"memory": {"bytes_per_s": 3.35e12}}}
    here = msgspec.structs.replace(
        machine(), peaks={"gpus": gpus, "nvlink": {"0-2": {"bytes_per_s": 450e9}}}
    )
    lines = [" ".join(line.split()) for line in page(here)]
    assert "gpu 0 and 2 memory 3.35 TB/s" in lines
    assert "nvlink gpu 0 and 2, each way 450 GB/s" in lines


def test_a_ceiling_in_a_unit_of_a_later_version_is_left_out():
    later = {"photons_per_s": 1.0}
    peaks = {"memory": later, "pcie": {"0": later}, "nvlink": {"0-1": later}}
    here = msgspec.structs.replace(machine(), peaks={**peaks, "gpus": {"0": {"memory": later}}})
    assert "At best" not in page(here)


def test_clock_memory_and_nodes_are_shown_where_they_are_known():
    here = with_cpu(machine(peak_bytes_per_s=80e9), clock=Clock(min_hz=8 * 10**8, max_hz=5 * 10**9))
    nodes = (
        NumaNode(id=0, threads=(0, 1, 2, 3), memory_bytes=GIB, distances=(10, 21)),
        NumaNode(id=1, memory_bytes=GIB, distances=(21, 10)),
    )
    lines = page(msgspec.structs.replace(here, numa=nodes))

    assert "clock      800 MHz to 5 GHz" in lines
    assert "memory     16 GiB, at most 80 GB/s" in lines
    assert "node 0     1 GiB, closest to threads 0-3, distances 10, 21" in lines
    assert "node 1     1 GiB, no threads, distances 21, 10" in lines


def test_what_is_not_known_stands_with_its_reason_and_the_way_to_it():
    missing = (
        Missing(what="cpu.model", why="Nobody says.", how="lscpu"),
        Missing(what="pci", why="It is not read yet.", how="lspci"),
        Missing(what="gpus", why="It is not read yet.", how="nvidia-smi"),
        Missing(what="a", why="Root only.", how="sudo it"),
        Missing(what="b", why="Root only.", how="sudo it"),
        Missing(what="c", why="Nothing helps.", how=""),
    )
    lines = page(msgspec.structs.replace(machine(), missing=missing))

    assert lines[lines.index("Not known here, named as in --json") + 1 :] == [
        "cpu.model",
        "  Nobody says.",
        "  → lscpu",
        "pci, gpus",
        "  It is not read yet.",
        "  → pci: lspci",
        "  → gpus: nvidia-smi",
        "a, b",
        "  Root only.",
        "  → sudo it",
        "c",
        "  Nothing helps.",
    ]


def test_what_is_known_not_to_be_there_is_a_fact_and_no_gap():
    missing = (
        Missing(what="cpu.counts.quota", why=NO_QUOTA, how="cat it"),
        Missing(what="cpu.threads_list[*].kind", why=ONE_KIND, how="look it up"),
        Missing(what="cpu.clock", why="Nobody says.", how="lscpu"),
    )
    lines = page(msgspec.structs.replace(machine(), missing=missing))

    assert lines[lines.index("Not known here, named as in --json") + 1 :] == [
        "cpu.clock",
        "  Nobody says.",
        "  → lscpu",
    ]
    assert "cores      all of one kind" in lines
    assert any(line.endswith("no quota of time") for line in lines)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_page_fits_the_terminal(width):
    long = Missing(what="cpu.clock", why="Because " * 20, how="cat /sys/devices/" + "x" * 20)

    here = msgspec.structs.replace(machine(), missing=(long,))

    assert max(len(line) for line in page(here, width)) <= width


@pytest.mark.parametrize("nothing", [None, "none"])
def test_a_machine_of_its_own_is_not_said_to_run_in_anything(nothing):
    here = msgspec.structs.replace(machine(), virtualization=nothing, container=nothing)

    assert not [line for line in page(here) if line.startswith("runs in")]


def test_a_virtual_machine_and_a_container_are_named():
    here = msgspec.structs.replace(machine(), virtualization="kvm", container="podman")

    assert any(
        "a virtual machine (kvm), and in it a container (podman)" in line for line in page(here)
    )


def test_nodes_are_told_with_their_gpus_their_caches_and_what_forbids_them():
    side = SideCache(level=1, size_bytes=16 * GIB, is_direct_mapped=True)
    host = NumaNode(id=0, threads=(0, 1), memory_bytes=64 * GIB, distances=(10, 20, 80))
    lines = page(
        msgspec.structs.replace(
            machine(),
            gpus=(Gpu(index=3, name="GH200", memory_numa_node=2),),
            numa=(
                msgspec.structs.replace(host, side_caches=(side,)),
                msgspec.structs.replace(host, id=1, threads=(2, 3), allowed=False),
                NumaNode(id=2, memory_bytes=96 * GIB, kind="gpu", distances=(80, 80, 10)),
                NumaNode(id=3, memory_bytes=0, kind="host"),
            ),
        ),
        160,
    )
    nodes = [line for line in lines if line.startswith("node")]
    assert len(nodes) == 3, "an empty node, kept for the instances of a GPU, is none"
    assert "64 GiB, closest to threads 0-1, behind a memory-side cache of 16 GiB (di" in nodes[0]
    assert "closest to threads 2-3, not allowed to this process, distances 10, 20, 80" in nodes[1]
    assert nodes[2].endswith("96 GiB, memory of GPU 3, distances 80, 80, 10")


def test_the_limit_of_the_control_group_stands_beside_the_memory():
    memory = Memory(total_bytes=64 * GIB, limit_bytes=4 * GIB)
    lines = page(msgspec.structs.replace(machine(), memory=memory), 120)
    assert any("64 GiB, its control group allows 4 GiB" in line for line in lines)


def test_sources_that_contradict_each_other_are_remarked_on_and_are_no_gap():
    clash = Missing(what="memory.channels", why="The drivers and the slots differ.", how="look")
    memory = msgspec.structs.replace(machine().memory, channels=2)
    sources = {**machine().sources, "memory.channels": "somewhere"}
    here = msgspec.structs.replace(machine(), memory=memory, sources=sources, missing=(clash,))
    lines = page(here, 160)
    assert "remark     The drivers and the slots differ." in lines
    assert gaps(here) == []
    assert gaps(msgspec.structs.replace(here, sources={})) == [clash], "nothing is known"
    assert not any(line.startswith("remark") for line in page(server.make(), 160))


def test_windows_sets_the_clock_by_its_power_plan():
    here = laptop.make()
    windows = msgspec.structs.replace(here, os=msgspec.structs.replace(here.os, kind="windows"))
    (line,) = (line for line in page(windows, 160) if line.startswith("clock "))
    assert "power plan powersave" in line
    assert "governor" not in line


def test_the_condition_of_the_machine_stands_on_the_page():
    lines = page(laptop.make(), 160)
    for line in (
        "machine    Dell Inc. XPS 16 9640",
        "firmware   Dell Inc. 1.12.1, 2025-02-19",
        "clock      400 MHz to 4.80 GHz, boost on, governor powersave, energy preference "
        "balance_power, driver intel_pstate",
        "heat       Package id 0 64 °C now, limit 110 °C",
        "throttled  by heat since the start: 214 times a core, 380 times a package",
        "power      package 0: 45 W long over 28 s, 90 W short over 2 ms, 215 W peak",
        "security   4 mitigated; 13 do not concern it",
        "microcode  0x24",
        "pages      transparent huge pages: madvise",
        "swap       1.20 GiB of 8 GiB used",
    ):
        assert line in lines, line
    assert any("btrfs (system) 402 GB free of 997 GB, vfat (boot)" in line for line in lines)
    assert not any(line.startswith("remark") for line in lines)


def test_modules_that_run_slower_than_they_can_are_remarked():
    (line,) = (line for line in page(workstation.make(), 160) if line.startswith("remark"))
    assert "6000 of 6400 MT/s" in line
    assert "EXPO" in line


def test_what_is_vulnerable_is_named_and_what_is_mixed_is_said():
    here = with_cpu(
        machine(),
        vulnerabilities={"mds": "Vulnerable", "srbds": "Unknown: no idea", "l1tf": "Not affected"},
        clock=Clock(boost="mixed"),
    )
    lines = page(here, 120)
    assert "security   vulnerable: mds; unknown: srbds; 1 do not concern it" in lines
    assert "clock      boost on for some cores" in lines


def test_swap_in_memory_huge_pages_and_wear_are_told():
    memory = msgspec.structs.replace(
        machine().memory,
        huge_pages=(HugePages(size_bytes=2 * 2**20, total=512, free=100),),
        swap_total_bytes=GIB,
        swap_used_bytes=0,
        swap_in_memory_bytes=GIB,
    )
    disk = Disk(name="mmcblk0", kind="card", wear_fraction=0.3)
    lines = page(msgspec.structs.replace(machine(), memory=memory, storage=(disk,)), 120)
    assert "pages      512 of 2 MiB set aside, 100 free" in lines
    assert "swap       0 B of 1 GiB used; 1 GiB of it compressed in memory (zram)" in lines
    assert "disk       mmcblk0: card, 30% worn at most" in lines
