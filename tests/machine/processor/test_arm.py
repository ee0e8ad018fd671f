from __future__ import annotations

import pytest

from machine.inspect import inspect
from machine.model import missing_of, source_of
from machine.processor.core_kinds import ONE_KIND

X925, A725, A520, V2 = 0x410FD850, 0x410FD870, 0x410FD800, 0x410FD4F0


def board(tree, *designs, speeds=(), file="cpu_capacity"):
    """Write a processor with a core of each MIDR, as 64-bit kernels show it."""
    tree.cpus(len(designs))
    blocks = []
    for n, midr in enumerate(designs):
        tree.cpu(f"cpu{n}/regs/identification/midr_el1", f"{midr:#018x}")
        part = f"{midr >> 4 & 0xFFF:#05x}"
        blocks.append(f"processor : {n}\nCPU implementer : {midr >> 24:#x}\nCPU part : {part}\n")
    tree.write("/proc/cpuinfo", "\n".join(blocks))
    for n, speed in enumerate(speeds):
        tree.cpu(f"cpu{n}/{file}", f"{speed}")
    return tree


def kinds(machine):
    return [thread.kind and thread.kind[0] for thread in machine.cpu.threads_list]


@pytest.mark.parametrize(
    ("file", "speeds"),
    [("cpu_capacity", (718, 1024, 718, 997)), ("cpufreq/cpuinfo_max_freq", (28, 39, 28, 38))],
)
def test_cores_of_two_designs_have_names_and_kinds_the_faster_first(tree, file, speeds):
    machine = inspect(board(tree, A725, X925, A725, X925, speeds=speeds, file=file).root)
    assert machine.cpu.model == "Cortex-X925 and Cortex-A725"
    assert kinds(machine) == ["e", "p", "e", "p"]
    assert "Cortex-X925, Cortex-A725" in source_of(machine, "cpu.threads_list[0].kind")
    assert "lscpu" in machine.sources["cpu.model"]


def test_cores_of_one_design_are_of_one_kind_whatever_their_clocks(tree):
    machine = inspect(board(tree, V2, V2, speeds=(1024, 800)).root)
    assert (machine.cpu.model, kinds(machine)) == ("Neoverse-V2", [None, None])
    assert missing_of(machine, "cpu.threads_list[0].kind").why == ONE_KIND


@pytest.mark.parametrize(
    ("designs", "why"), [((X925, A725), "Nothing tells"), ((X925, A725, A520), "3 designs")]
)
def test_kinds_that_nothing_tells_or_nobody_named_are_explained(tree, designs, why):
    machine = inspect(board(tree, *designs).root)
    assert set(kinds(machine)) == {None}
    assert why in missing_of(machine, "cpu.threads_list[0].kind").why
    assert machine.cpu.model.startswith("Cortex-X925")


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        (  # a Raspberry Pi 3 with a 32-bit system
            "processor\t: 0\nmodel name\t: ARMv7 Processor rev 4 (v7l)\n"
            "CPU implementer\t: 0x41\nCPU part\t: 0xd03\n\nModel\t: Raspberry Pi 3 Model B\n",
            "Cortex-A53",
        ),
        (  # an old kernel tells what all cores are once
            "Processor\t: ARMv7 Processor rev 0 (v7l)\nprocessor\t: 0\nBogoMIPS\t: 1\n\n"
            "Features\t: neon\nCPU implementer\t: 0x41\nCPU part\t: 0xc09\n",
            "Cortex-A9",
        ),
        ("processor : 0\nCPU implementer : 0x51\nCPU part : 0x001\n", "Qualcomm Oryon"),
        ("processor : 0\nCPU implementer : 0xc0\nCPU part : 0xac3\n", "Ampere-1"),
        ("processor : 0\nCPU implementer : 0x41\nCPU part : pear\n", None),
        (f"processor : {9 * '9' * 999}\nCPU implementer : 0x41\nCPU part : 0xd03\n", None),
    ],
)
def test_without_registers_the_numbers_in_cpuinfo_name_the_cores(tree, cpuinfo, model):
    tree.cpus(1)
    tree.write("/proc/cpuinfo", cpuinfo)
    assert inspect(tree.root).cpu.model == model


def test_a_design_without_a_name_is_told_by_its_numbers(tree):
    machine = inspect(board(tree, 0x4E0F0990, X925).root)
    assert machine.cpu.model == "implementer 0x4e part 0x099 and Cortex-X925"
