"""Odd machines that people reported in public: where sources contradict each other, who is right.

The trees are small and of our own. If a second source differs, the page says so. It names a cause
only if a source states it.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter

import pytest
from rich.console import Console

from app.terminal.inspect import show_machine
from machine.inspect import inspect
from machine.model import missing_of, remarks
from machine.processor.instructions import vector_instructions
from tests import ROOT
from tests.machine.trees import Tree

GIB = 2**30
NODES = "/sys/devices/system/node"
CASES = ROOT.parent / "shared/data/cases"


def bare(tree, flags="fpu sse2 avx2"):
    """Let the processor say that no host is below it."""
    tree.write("/proc/cpuinfo", f"processor : 0\nflags : {flags}\n")


def kinds(machine):
    """Return how many cores of each kind there are."""
    firsts = {thread.core: thread for thread in machine.cpu.threads_list}
    return dict(Counter(thread.kind for thread in firsts.values()))


def why(machine, what):
    return [entry.why for entry in machine.missing if entry.what == what]


def page(machine):
    console = Console(width=400, no_color=True)
    with console.capture() as caught:
        show_machine(console, machine)
    return [line.rstrip() for line in caught.get().splitlines()]


def remarked(machine):
    """Return the remarks of the page."""
    return [line.split(None, 1)[1] for line in page(machine) if line.startswith("remark")]


# --- kinds of cores -------------------------------------------------------------------------------


class Cores:
    """Writes a processor core by core; each group shares an L2 cache."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._count = tree, 0

    def add(self, cores, *, threads=1, l1="32K", l2_of=1, l3=""):
        """Add cores with `threads` threads; `l2_of` cores share an L2; `l3` are its threads."""
        first = self._count
        self._count += cores * threads
        for n in range(first, self._count):
            core = first + (n - first) // threads * threads
            shared = first + (n - first) // (threads * l2_of) * threads * l2_of
            self._tree.cpu(
                f"cpu{n}/topology/core_cpus_list",
                f"{core}-{core + threads - 1}",
            )
            self._tree.cpu(f"cpu{n}/topology/core_id", f"{core}")
            self._tree.cache(n, 0, 1, "Data", l1, f"{core}-{core + threads - 1}")
            self._tree.cache(n, 1, 2, "Unified", "2M", f"{shared}-{shared + threads * l2_of - 1}")
            if l3:
                self._tree.cache(n, 2, 3, "Unified", "12M", l3)
        self._tree.cpu("present", f"0-{self._count - 1}")
        self._tree.cpu("online", f"0-{self._count - 1}")
        return self

    def listed(self, **threads):
        """Let the kernel list these kinds by itself: cpu_core="0-3"."""
        for name, text in threads.items():
            self._tree.write(f"/sys/devices/{name}/cpus", f"{text}\n")


@pytest.mark.parametrize("has_lists", [True, False])
def test_meteor_lake_has_two_low_power_cores_with_the_kernels_lists_and_without(tree, has_lists):
    """Linux lists them among the efficiency cores; only the caches show that they have no L3."""
    cores = Cores(tree).add(6, threads=2, l1="48K", l3="0-19").add(8, l2_of=4, l3="0-19")
    cores.add(2, l2_of=2)
    if has_lists:
        cores.listed(cpu_core="0-11", cpu_atom="12-21")
    machine = inspect(tree.root)
    assert kinds(machine) == {"performance": 6, "efficiency": 8, "low-power": 2}
    assert why(machine, "cpu.threads_list") == []
    assert "cpu.caches" in machine.sources["cpu.threads_list[*].kind"]


@pytest.mark.parametrize("has_lists", [True, False])
def test_the_four_small_cores_of_lunar_lake_are_low_power(tree, has_lists):
    """Its large cores have one thread each; a larger L1 cache sets them apart from the small."""
    cores = Cores(tree).add(4, l1="48K", l3="0-3").add(4, l2_of=4)
    if has_lists:
        cores.listed(cpu_core="0-3", cpu_atom="4-7")
    assert kinds(inspect(tree.root)) == {"performance": 4, "low-power": 4}


def test_a_list_that_knows_the_low_power_cores_itself_is_left_as_it_is(tree):
    cores = Cores(tree).add(2, threads=2, l1="48K", l3="0-7").add(4, l2_of=4, l3="0-7")
    cores.add(2, l2_of=2).listed(cpu_core="0-3", cpu_atom="4-7", cpu_lowpower="8-9")
    assert kinds(inspect(tree.root)) == {"performance": 2, "efficiency": 4, "low-power": 2}


def test_caches_tell_the_kinds_that_the_kernels_list_leaves_out(tree):
    """Many recordings of hybrid processors lack cpu_atom."""
    Cores(tree).add(2, threads=2, l1="48K").add(4, l2_of=4).listed(cpu_core="0-3")
    machine = inspect(tree.root)
    assert kinds(machine) == {"performance": 2, "efficiency": 4}
    assert why(machine, "cpu.threads_list[*].kind") == []
    assert "4-7 by cpu.caches" in machine.sources["cpu.threads_list[*].kind"]


def test_a_list_that_the_caches_contradict_is_remarked_on(tree):
    Cores(tree).add(2, threads=2, l1="48K").add(4, l2_of=4).listed(cpu_core="0-5", cpu_atom="6-7")
    machine = inspect(tree.root)
    (clash,) = remarked(machine)
    assert "contradict each other for the threads 4-5" in clash
    assert machine.cpu.threads_list[4].kind == "performance"


def test_equal_cores_of_which_some_share_a_cache_are_of_one_kind(tree):
    """A core whose neighbour is switched off has its cache to itself."""
    Cores(tree).add(4, l2_of=2).add(1)
    assert kinds(inspect(tree.root)) == {None: 5}


# --- memory nodes ---------------------------------------------------------------------------------


def node(tree, number, threads, distances, mib):
    folder = f"{NODES}/node{number}"
    tree.write(f"{folder}/cpulist", f"{threads}\n")
    tree.write(f"{folder}/distance", f"{distances}\n")
    tree.write(f"{folder}/meminfo", f"Node {number} MemTotal: {mib * 1024} kB\n")


@pytest.mark.parametrize("asked", ["numa=fake=8", ""])
def test_nodes_that_the_kernels_command_line_asked_for_are_said_to_be(tree, asked):
    """A Raspberry Pi 5: interleaving over eight made-up nodes makes it faster."""
    tree.cpus(4)
    tree.write("/proc/cmdline", f"root=/dev/sda1 {asked} quiet\n")
    for number in range(8):
        node(tree, number, "0-3", "10 10 10 10 10 10 10 10", 506)
    (text,) = remarked(inspect(tree.root))
    assert text.startswith("Several memory nodes have the same threads")
    assert ("command line asked for them: numa=fake=8" in text) is bool(asked)
    assert "firmware" not in text


def test_nodes_without_memory_are_memory_controllers_without_memory(tree):
    """A Threadripper with four modules on two of its four quarters."""
    tree.cpus(8)
    bare(tree)
    for number, mib in enumerate((0, 64_000, 64_000, 0)):
        node(tree, number, f"{2 * number}-{2 * number + 1}", "10 12 12 12", mib)
    machine = inspect(tree.root)
    lines = page(machine)
    assert remarked(machine) == [
        "2 of 4 memory controllers have no memory: nodes 0,3 have threads only."
    ]
    assert any(line.startswith("node 0     no memory, closest to threads 0-1") for line in lines)


def test_behind_a_host_a_node_without_memory_is_no_controller(tree):
    tree.cpus(2)
    bare(tree, flags="fpu hypervisor")
    node(tree, 0, "0", "10 20", 1024)
    node(tree, 1, "1", "20 10", 0)
    assert remarked(inspect(tree.root)) == ["Memory node 1 has threads and no memory."]


def test_memory_without_threads_is_no_node_without_memory(tree):
    tree.cpus(2)
    bare(tree)
    node(tree, 0, "0-1", "10 20", 1024)
    node(tree, 1, "", "20 10", 4096)  # CXL or HBM
    assert remarks(inspect(tree.root)) == []


# --- modules --------------------------------------------------------------------------------------


def modules(tree, *slots, gib=32, mega=4800):
    told = {
        f"{n}_{name}": value
        for n, slot in enumerate(slots)
        for name, value in {
            "BANK_LOCATOR": slot,
            "LOCATOR": f"DIMM{n}",
            "TYPE": "DDR5",
            "SIZE": gib * GIB,
            "SPEED_MTS": mega,
            "DATA_WIDTH": 64,
        }.items()
    }
    text = "".join(f"E:MEMORY_DEVICE_{name}={value}\n" for name, value in told.items())
    tree.write("/run/udev/data/+dmi:id", text)


def watched(tree, *channels):
    for n, channel in enumerate(channels):
        folder = f"/sys/devices/system/edac/mc/mc0/dimm{n}"
        tree.write(f"{folder}/size", "32768\n")
        tree.write(f"{folder}/dimm_location", f"channel {channel} slot 0\n")


def test_the_twelve_channels_of_an_epyc_are_twelve(tree):
    """Channel 10 and 11 begin as channel 1 does."""
    modules(tree, *(f"P0_Node0_Channel{n}_Dimm0" for n in range(12)))
    memory = inspect(tree.root).memory
    assert (memory.channels, memory.peak_bytes_per_s) == (12, 460.8e9)


def test_channels_that_drivers_and_slots_count_differently_are_remarked_on(tree):
    modules(tree, *(f"P0_Node0_Channel{n}_Dimm0" for n in range(4)))
    watched(tree, 0, 0, 1, 1)
    machine = inspect(tree.root)
    assert machine.memory.channels == 2
    (text,) = remarked(machine)
    assert "count 2 channels, the names of the slots tell 4" in text


@pytest.mark.parametrize(
    ("kib", "command_line", "said"),
    [
        (126_000_000, "", None),
        (31_000_000, "", "The modules add up to 128 GiB, and the kernel has 29.6 GiB of them."),
        (31_000_000, "quiet mem=32G", "Its command line says mem=32G."),
        (260_000_000, "", "has 248 GiB of memory, and the firmware lists modules of 128 GiB only."),
    ],
)
def test_a_kernel_and_a_firmware_that_differ_about_the_memory_are_remarked_on(
    tree, kib, command_line, said
):
    bare(tree)
    modules(tree, *(f"P0_Node0_Channel{n}_Dimm0" for n in range(4)))
    tree.write("/proc/meminfo", f"MemTotal: {kib} kB\n")
    tree.write("/proc/cmdline", command_line)
    told = remarked(inspect(tree.root))
    assert len(told) == (said is not None)
    assert (said or "") in "".join(told)


def test_a_virtual_machine_is_not_held_against_the_table_that_its_host_made_up(tree):
    bare(tree, flags="fpu hypervisor")
    modules(tree, "Channel0")
    tree.write("/proc/meminfo", "MemTotal: 1000000 kB\n")
    assert remarks(inspect(tree.root)) == []


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("allowed", "is_said"), [("0-13", True), ("14", False), ("0-15", False)])
def test_threads_that_the_kernel_isolates_are_not_said_to_be_pinned_away(tree, allowed, is_said):
    tree.cpus(16, threads_per_core=2)
    tree.write("/sys/devices/system/cpu/isolated", "14-15\n")
    tree.pinned(allowed)
    machine = inspect(tree.root)
    told = [text for text in remarked(machine) if "isolates the threads 14-15" in text]
    assert bool(told) is is_said
    assert not any("taskset" in line for line in page(machine))


def test_threads_that_cpuinfo_hides_are_remarked_on(tree):
    """In a container with lxcfs, /proc/cpuinfo shows its part and /sys the whole host."""
    tree.cpus(8)
    tree.write("/proc/cpuinfo", "".join(f"processor : {n}\n\n" for n in (0, 1)))
    tree.write("/proc/mounts", "lxcfs /proc/cpuinfo fuse.lxcfs rw 0 0\n")
    tree.pinned("0-1")
    (text,) = remarked(inspect(tree.root))
    assert "/proc/cpuinfo lists 2 threads and /sys/devices/system/cpu 8" in text
    assert "This is a container, which may write the former anew." in text


def test_a_cache_across_packages_is_remarked_on(tree):
    """Some hypervisors make a package of each thread, and pass the caches on as they are."""
    tree.cpus(4, packages=4)
    for n in range(4):
        tree.cache(n, 0, 3, "Unified", "32M", "0-3")
    (text,) = remarked(inspect(tree.root))
    assert "An L3 cache serves threads of 4 packages" in text


@pytest.mark.parametrize(("kib", "is_said"), [(2_000_000, True), (131_000_000, False)])
def test_nodes_that_add_up_to_another_memory_are_remarked_on(tree, kib, is_said):
    tree.cpus(4)
    node(tree, 0, "0-1", "10 20", 64_000)
    node(tree, 1, "2-3", "20 10", 64_000)
    tree.write("/proc/meminfo", f"MemTotal: {kib} kB\n")
    told = [text for text in remarked(inspect(tree.root)) if "add up to 125 GiB" in text]
    assert bool(told) is is_said


# --- names and vector units -----------------------------------------------------------------------

RISC_V = "processor : 0\nhart : 0\nisa : {isa}\nmmu : sv39\n{more}"


@pytest.mark.parametrize(
    ("cpuinfo", "model", "vectors"),
    [
        (
            RISC_V.format(isa="rv64imafdc_zicsr_zba_zbb", more="uarch : sifive,u74-mc\n"),
            "SiFive U74-MC",
            (),
        ),
        (
            RISC_V.format(isa="rv64imafdcv_zve32x_zve64d_zvfh", more="model name : Spacemit X60\n"),
            "Spacemit X60",
            ("RVV", "RVV FP16"),
        ),
        (RISC_V.format(isa="rv64imac_zve32x", more="uarch : own\n"), "own", ("RVV embedded",)),
        (
            RISC_V.format(isa="rv64imafdc_xtheadvector", more="uarch : thead,c920\n"),
            "T-Head C920",
            ("RVV 0.7",),
        ),
        (
            "system type : generic-loongson-machine\n\n"
            "processor : 0\nModel Name : Loongson-3B6000\n"
            "Features : cpucfg lam ual fpu lsx lasx crc32\n",
            "Loongson-3B6000",
            ("LSX", "LASX"),
        ),
        ("processor : 0\ncpu : POWER9, altivec supported\n", "POWER9", ("AltiVec",)),
        (
            "system type : loongson3\nprocessor : 0\ncpu model : Loongson-3 V0.9\n"
            "ASEs implemented : vz msa\n",
            "Loongson-3 V0.9",
            ("MSA",),
        ),
    ],
)
def test_other_architectures_have_names_and_vector_units(tree, cpuinfo, model, vectors):
    tree.cpus(1)
    tree.write("/proc/cpuinfo", cpuinfo)
    cpu = inspect(tree.root).cpu
    assert (cpu.model, vector_instructions(cpu.features)) == (model, vectors)


def test_a_risc_v_processor_without_a_name_is_told_by_its_numbers(tree):
    numbers = "mvendorid : 0x489\nmarchid : 0x8000000000000007\n"
    tree.write("/proc/cpuinfo", RISC_V.format(isa="rv64imac", more=numbers))
    assert "mvendorid 0x489, marchid" in missing_of(inspect(tree.root), "cpu.model").why


# --- causes ---------------------------------------------------------------------------------------

CAUSES = ("virtual machine", "container", "sandbox", "hides", "hide ", "not recorded that")


def test_no_cause_is_named_that_nobody_found(tree):
    """A machine of its own, which reports next to nothing: nothing hides it."""
    bare(tree)
    tree.pci("pci0000:00/0000:00:05.0")
    empty = Tree(tree.root.parent / "empty")
    bare(empty)
    for root in (tree.root, empty.root):
        told = [entry.why for entry in inspect(root).missing if entry.what != "container"]
        assert len(told) > 20
        assert [text for text in told if any(cause in text for cause in CAUSES)] == []


def test_a_cause_that_was_found_is_named(tree):
    bare(tree, flags="fpu hypervisor")
    tree.write("/proc/self/cgroup", "0::/docker/4b1f\n")
    machine = inspect(tree.root)
    for what in ("cpu.temperatures", "cpu.clock.max_hz", "memory.modules", "pci", "cpu.caches"):
        assert "This is a virtual machine" in missing_of(machine, what).why
    for what in ("pci", "network", "storage"):
        assert "This is a container" in missing_of(machine, what).why


# --- the cases of the collection, where it is here ------------------------------------------------

RIGHT = {
    "01-meteor-lake-155h": "cores      6 performance, 8 efficiency, 2 low-power",
    "01b-meteor-lake-without-kinds": "cores      6 performance, 8 efficiency, 2 low-power",
    "01c-lunar-lake-268v": "cores      4 performance, 4 low-power",
    "03-strix-halo-gtt": "gpu 0      AMD display controller, 100 GiB shared with the processor,",
    "05-pi5-fake-numa": "asked for them: numa=fake=8",
    "06-riscv-mars": "SiFive U74-MC",
    "06b-loongson-3b6000": "vectors    LSX, LASX",
    "06c-spacemit-k1-66": "vectors    RVV, RVV FP16",
    "08-isolcpus": "The kernel isolates the threads 14-15 (isolcpus)",
    "11-sriov-igpu": "gpu 0      Intel VGA controller",
    "14-threadripper-empty-nodes": "2 of 4 memory controllers have no memory: nodes 0,3",
    "16-epyc-12-channels": "12 channels, at most 461 GB/s",
}


@pytest.mark.skipif(not CASES.is_dir(), reason="the collection of cases is not here")
@pytest.mark.parametrize("name", RIGHT)
def test_the_reported_machine_is_told_right(tmp_path, monkeypatch, name):
    monkeypatch.syspath_prepend(str(CASES))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # others' folder
    plant = importlib.import_module("plant")
    plant.plant(CASES / f"{name}.case", tmp_path / "root")
    assert any(RIGHT[name] in line for line in page(inspect(tmp_path / "root")))
