"""Caches: their sizes, and the threads that share each.

Every thread lists its caches. Entries with the same level, kind and sharing threads are one cache;
ids are no help, because many machines lack or repeat them.
"""

from __future__ import annotations

import re
from pathlib import Path

from machine.facts import Notes, Reason, lacking
from machine.model import Cache, CacheKind
from machine.processor.topology import CORE_SETS
from machine.system.linux import CPU, numbered, read_int, read_set, read_text, to_int

_KINDS: dict[str | None, CacheKind] = {
    "Data": "data",
    "Instruction": "instruction",
    "Unified": "unified",
}
_NO_CACHES = Reason(
    "The kernel describes no caches here.",
    "Look the model up in the maker's data sheet, or measure the memory latency.",
)
_LEFT_OUT = Reason(
    "The kernel leaves this out for some caches of this processor.",
    "Look the model up in the maker's data sheet.",
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def read_caches(root: Path, online: frozenset[int], notes: Notes) -> tuple[Cache, ...]:
    """Return one entry per instance, sorted by level, kind and threads."""
    found: dict[tuple[int, CacheKind, tuple[int, ...]], Cache] = {}
    for thread in sorted(online):
        folder = f"{root}/{CPU}/cpu{thread}/cache"
        for index in numbered(folder, "index"):
            cache = f"{folder}/index{index}"
            level, kind = read_int(f"{cache}/level"), _KINDS.get(read_text(f"{cache}/type"))
            if level is None or kind is None:
                continue
            # If the two differ, as on AMD's Bulldozer, the list is incomplete.
            shared = read_set(cache, "shared_cpu_map") or read_set(cache, "shared_cpu_list")
            # Some firmware leaves both empty: then the cache is the core's own, as hwloc has it.
            shared = shared or read_set(f"{root}/{CPU}/cpu{thread}/topology", *CORE_SETS)
            key = level, kind, tuple(sorted((shared or frozenset((thread,))) & online))
            if key not in found:
                found[key] = Cache(
                    level=level,
                    kind=kind,
                    size_bytes=_size_bytes(read_text(f"{cache}/size")),
                    line_bytes=read_int(f"{cache}/coherency_line_size") or None,
                    ways=read_int(f"{cache}/ways_of_associativity") or None,
                    threads=key[2],
                )
    caches = tuple(found[key] for key in sorted(found))
    reason = notes.because(_NO_CACHES, "whose host may hide them", "which may hide them")
    notes.found("cpu.caches", caches, f"/{CPU}/cpu*/cache/index*", reason)
    of_each = dict.fromkeys(("size_bytes", "line_bytes", "ways"), _LEFT_OUT)
    notes.missing += lacking("cpu.caches[*]", caches, of_each)
    return caches


def _size_bytes(text: str | None) -> int | None:
    match = re.fullmatch(r"(\d+)([KMG]?)", text or "")
    return (to_int(match[1]) or 0) * _UNITS[match[2]] or None if match else None
