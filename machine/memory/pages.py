"""How the kernel pages memory: transparent huge pages, huge pages set aside, swap.

Source: Documentation/admin-guide/mm/{transhuge,hugetlbpage}.rst of the kernel.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from machine.condition import HugePages
from machine.facts import Notes
from machine.system.linux import entries, fields, kibibytes, read_int, read_text, to_int

_TRANSPARENT = "sys/kernel/mm/transparent_hugepage/enabled"
_HUGE = "sys/kernel/mm/hugepages"
_SWAPS = "proc/swaps"


def read_pages(root: Path, notes: Notes) -> dict[str, Any]:
    """Return these fields of Memory; what is used is what was used at the inspection."""
    mode = re.search(r"\[(\w+)\]", read_text(root / _TRANSPARENT) or "")
    info = fields(read_text(root / "proc/meminfo"))
    total, free = kibibytes(info.get("swaptotal")), kibibytes(info.get("swapfree"))
    no_swap = {"why": "/proc/meminfo does not tell of swap.", "how": "swapon --show"}
    told = "/proc/meminfo"
    return {
        "transparent_huge_pages": notes.keep(
            "memory.transparent_huge_pages",
            mode[1] if mode else None,
            f"/{_TRANSPARENT}",
            why="This kernel shows no setting of transparent huge pages.",
            how=f"cat /{_TRANSPARENT}",
        ),
        "huge_pages": notes.keep(
            "memory.huge_pages",
            _huge_pages(root / _HUGE, notes),
            f"/{_HUGE}",
            why="This kernel shows no huge pages.",
            how="grep Huge /proc/meminfo",
        ),
        "swap_total_bytes": notes.keep("memory.swap_total_bytes", total, told, **no_swap),
        "swap_used_bytes": notes.keep(
            "memory.swap_used_bytes",
            None if total is None or free is None else total - free,
            f"{told}, at the inspection",
            **no_swap,
        ),
        "swap_in_memory_bytes": notes.keep(
            "memory.swap_in_memory_bytes",
            _in_memory_bytes(read_text(root / _SWAPS)),
            f"/{_SWAPS}",
            why="There is no /proc/swaps.",
            how="swapon --show",
        ),
    }


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
    for name in ("total", "free"):
        if any(getattr(page, name) is None for page in pages):
            notes.lack(
                f"memory.huge_pages[*].{name}",
                why="The kernel does not say how many there are.",
                how="grep Huge /proc/meminfo",
            )
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
