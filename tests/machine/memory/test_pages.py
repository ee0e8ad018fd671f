from __future__ import annotations

import pytest

from machine.condition import HugePages
from machine.inspect import inspect
from machine.model import missing_of, source_of
from tests.machine.conditioned import huge


def test_pages_and_swap_are_told(tree):
    tree.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
    huge(tree, 1048576, total=0, free=0)
    huge(tree, 2048, total=512, free=100)
    tree.write("/proc/meminfo", "MemTotal: 8000000 kB\nSwapTotal: 3000 kB\nSwapFree: 1000 kB\n")
    tree.write(
        "/proc/swaps",
        "Filename\tType\tSize\tUsed\tPriority\n"
        "/dev/nvme0n1p3 partition\t2000\t2000\t-2\n/dev/zram0 partition 1000 0 100\n",
    )
    machine = inspect(tree.root)
    memory = machine.memory
    assert memory.transparent_huge_pages == "madvise"
    assert memory.huge_pages == (
        HugePages(size_bytes=2 * 2**20, total=512, free=100),
        HugePages(size_bytes=2**30, total=0, free=0),
    )
    assert (memory.swap_total_bytes, memory.swap_used_bytes) == (3000 * 1024, 2000 * 1024)
    assert memory.swap_in_memory_bytes == 1000 * 1024
    assert "at the inspection" in source_of(machine, "memory.swap_used_bytes")


def test_a_machine_without_swap_has_none_of_it(tree):
    tree.write("/proc/meminfo", "MemTotal: 8000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n")
    tree.write("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
    memory = inspect(tree.root).memory
    assert (memory.swap_total_bytes, memory.swap_used_bytes) == (0, 0)
    assert memory.swap_in_memory_bytes == 0


@pytest.mark.parametrize(
    "path",
    ["transparent_huge_pages", "huge_pages", "swap_total_bytes", "swap_in_memory_bytes"],
)
def test_what_is_hidden_has_a_reason(tree, path):
    assert missing_of(inspect(tree.root), f"memory.{path}") is not None
