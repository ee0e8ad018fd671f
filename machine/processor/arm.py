"""Cores of ARM processors: which design each thread is of, by its register MIDR_EL1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from machine.processor.arm_names import core_name
from machine.record import Record
from machine.system.linux import CPU, fields, read_hex, read_int

MIDR = "regs/identification/midr_el1"


class Design(Record, kw_only=False, order=True):
    """A design of cores: who made it (implementer), and its number there (part)."""

    implementer: int
    part: int

    @property
    def name(self) -> str | None:
        """Such as "Cortex-X925"."""
        return core_name(self.implementer, self.part)

    def __str__(self) -> str:
        return self.name or f"implementer {self.implementer:#04x} part {self.part:#05x}"


def read_designs(root: Path, threads: Sequence[int], cpuinfo: str) -> dict[int, Design]:
    """Return the design of each thread; empty on other architectures."""
    if "CPU implementer" not in cpuinfo:
        return {}
    registers = {n: read_hex(root / CPU / f"cpu{n}" / MIDR) for n in threads}
    found = {
        thread: Design(value >> 24 & 0xFF, value >> 4 & 0xFFF)
        for thread, value in registers.items()
        if value is not None
    }
    if found:
        return found
    blocks: dict[int, Design] = {}
    common: Design | None = None  # of all threads: old kernels tell it once, at the end
    for block in cpuinfo.split("\n\n"):
        told = fields(block)
        try:
            numbers = int(told["cpu implementer"], 16), int(told["cpu part"], 16)
            design = Design(numbers[0] & 0xFF, numbers[1] & 0xFFF)
            if told.get("processor", "").isdecimal():
                blocks[int(told["processor"])] = design
            else:
                common = design
        except (KeyError, ValueError):
            continue
    return {n: known for n in threads if (known := blocks.get(n, common))}


def by_speed(root: Path, designs: Mapping[int, Design]) -> dict[Design, int]:
    """Return the designs, fastest first, with the kernel's capacity or the highest clock of each.

    If a design lacks a capacity, all have their clock. If a design lacks a clock, too, all have 0.
    """
    most: dict[Design, int] = dict.fromkeys(designs.values(), 0)
    for file in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        for thread, design in designs.items():
            value = read_int(root / CPU / f"cpu{thread}" / file) or 0
            most[design] = max(most[design], value)
        if all(most.values()):
            break
        most = dict.fromkeys(most, 0)
    return dict(sorted(most.items(), key=lambda item: -item[1]))


def model(designs: Iterable[Design]) -> str | None:
    """Return "Cortex-X925 and Cortex-A725"; None if no name is known."""
    found = list(designs)
    names = list(dict.fromkeys(map(str, found)))
    if not any(design.name for design in found):
        return None
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
