"""Reads how the kernel pages memory: transparent huge pages, huge pages set aside, swap.

Source: Documentation/admin-guide/mm/{transhuge,hugetlbpage}.rst of the kernel.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from machine.condition import HugePages
from machine.facts import Notes, Reason, lacking
from machine.system.linux import entries, fields, kibibytes, read_int, read_text, to_int

_TRANSPARENT = "sys/kernel/mm/transparent_hugepage/enabled"
_HUGE = "sys/kernel/mm/hugepages"
_SWAPS = "proc/swaps"
_NO_MODE = Reason("This kernel shows no setting of transparent huge pages.", f"cat /{_TRANSPARENT}")
_NO_HUGE = Reason("This kernel shows no huge pages.", "grep Huge /proc/meminfo")
_UNCOUNTED = Reason("The kernel does not say how many there are.", "grep Huge /proc/meminfo")
_NO_SWAP = Reason("/proc/meminfo does not tell of swap.", "swapon --show")
_NO_SWAPS = Reason("There is no /proc/swaps.", "swapon --show")


def read_pages(root: Path, notes: Notes) -> dict[str, Any]:
    """Return these fields of Memory; what is used is what was used at the inspection."""
    mode = re.search(r"\[(\w+)\]", read_text(root / _TRANSPARENT) or "")
    info = fields(read_text(root / "proc/meminfo"))
    total, free = kibibytes(info.get("swaptotal")), kibibytes(info.get("swapfree"))
    used = None if total is None or free is None else total - free
    in_memory = _in_memory_bytes(read_text(root / _SWAPS))
    told = "/proc/meminfo"
    found = {  # with source, and reason if it is missing
        "transparent_huge_pages": (mode and mode[1], f"/{_TRANSPARENT}", _NO_MODE),
        "huge_pages": (_huge_pages(root / _HUGE, notes), f"/{_HUGE}", _NO_HUGE),
        "swap_total_bytes": (total, told, _NO_SWAP),
        "swap_used_bytes": (used, f"{told}, at the inspection", _NO_SWAP),
        "swap_in_memory_bytes": (in_memory, f"/{_SWAPS}", _NO_SWAPS),
    }
    return {name: notes.found(f"memory.{name}", *value) for name, value in found.items()}


def _huge_pages(folder: Path, notes: Notes) -> tuple[HugePages, ...]:
    found = sorted(
        (int(match[1]) * 1024, folder / name)
        for name in entries(folder)
        if (match := re.fullmatch(r"hugepages-(\d{1,12})kB", name))
    )
    pages = tuple(
        HugePages(
            size_bytes=size,
            total=read_int(place / "nr_hugepages"),
            free=read_int(place / "free_hugepages"),
        )
        for size, place in found
    )
    of_each = dict.fromkeys(("total", "free"), _UNCOUNTED)
    notes.missing += lacking("memory.huge_pages[*]", pages, of_each)
    return pages


def _in_memory_bytes(swaps: str | None) -> int | None:
    """Return the size of the swap on zram, from lines of name, kind, KiB, used, priority."""
    if swaps is None:
        return None
    lines = (line.split() for line in swaps.splitlines()[1:])
    return sum(
        (to_int(line[2]) or 0) * 1024
        for line in lines
        if len(line) > 2 and line[0].startswith("/dev/zram")
    )
