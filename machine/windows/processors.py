"""Threads, cores, packages, caches and memory nodes, as Windows describes them.

GetLogicalProcessorInformationEx fills a buffer with entries of different kinds and sizes. Threads
are numbered within groups of up to 64; here they are numbered on from group to group.

Source: Microsoft's documentation of SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX and its parts
(winnt.h), for processes of 64 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from machine.facts import Reason, Unanswered
from machine.model import Cache, CacheKind
from machine.processor.layout import Core, Layout, Threads

ASKED = "GetLogicalProcessorInformationEx"
_CORE, _NODE, _CACHE, _PACKAGE, _GROUP, _DIE, _NODES, _MODULE = range(8)
_HEAD = struct.Struct("<II")  # kind and size of an entry
_MASK = struct.Struct("<QH6x")  # threads of a group, and its number
_COUNT_AT = {_CACHE: 30}  # where the number of masks stands; the masks follow
_USUAL_COUNT_AT = 22
_GROUP_BYTES, _GROUPS_AT = 48, 24
_KINDS: dict[int, CacheKind] = {0: "unified", 1: "instruction", 2: "data"}
_FULLY = 0xFF  # every line may stand anywhere
_MOST_IN_GROUP = 64
_DAMAGED = Reason(
    "Windows's description of the processor is cut or of an unknown form.",
    "Coreinfo64.exe of Sysinternals.",
)
_SILENT = Reason(
    "Windows did not describe the processor.", "Coreinfo64.exe of Sysinternals, or Task Manager."
)


def read_layout(buffer: bytes) -> Layout:
    """Return what the buffer describes. Raises Unanswered where it is empty or damaged."""
    if not buffer:
        raise Unanswered(_SILENT)
    try:
        return _layout(list(_entries(buffer)))
    except (struct.error, IndexError):
        raise Unanswered(_DAMAGED) from None


def _entries(buffer: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind of each entry and what follows its head."""
    while buffer:
        kind, size = _HEAD.unpack_from(buffer)
        if not _HEAD.size < size <= len(buffer):
            raise struct.error
        yield kind, buffer[_HEAD.size : size]
        buffer = buffer[size:]


def _layout(entries: list[tuple[int, bytes]]) -> Layout:
    starts = _starts(entries)

    def threads(kind: int, data: bytes) -> Threads:
        at = _COUNT_AT.get(kind, _USUAL_COUNT_AT)
        (count,) = struct.unpack_from("<H", data, at)
        found: set[int] = set()
        for place in range(max(1, count)):  # before Windows 10 20H2 a node and a cache counted none
            mask, group = _MASK.unpack_from(data, at + 2 + place * _MASK.size)
            found.update(starts[group] + bit for bit in range(_MOST_IN_GROUP) if mask >> bit & 1)
        return frozenset(found)

    sets: dict[int, list[tuple[bytes, Threads]]] = {kind: [] for kind in range(8)}
    for kind, data in entries:
        if kind in sets and kind != _GROUP:
            sets[kind].append((data, threads(kind, data)))
    cores = tuple(Core(threads=each, efficiency=data[1]) for data, each in sets[_CORE] if each)
    if not cores:
        raise struct.error
    return Layout(
        cores=tuple(sorted(cores, key=lambda core: min(core.threads))),
        packages=_ordered(sets[_PACKAGE]),
        dies=_ordered(sets[_DIE]),
        clusters=_ordered(sets[_MODULE]),
        nodes={
            int.from_bytes(data[:4], "little"): each for data, each in (*sets[_NODE], *sets[_NODES])
        },
        caches=tuple(
            sorted(
                (_cache(data, each) for data, each in sets[_CACHE] if data[0] and each),
                key=lambda cache: (cache.level or 0, cache.kind or "", cache.threads),
            )
        ),
        groups=len(starts),
    )


def _starts(entries: list[tuple[int, bytes]]) -> list[int]:
    """Return the number of the first thread of each group."""
    starts = [0]
    for kind, data in entries:
        if kind == _GROUP:
            (active,) = struct.unpack_from("<H", data, 2)
            counts = [data[_GROUPS_AT + n * _GROUP_BYTES + 1] for n in range(active)]
            return [sum(counts[:n]) for n in range(active)]
    return starts


def _ordered(found: list[tuple[bytes, Threads]]) -> tuple[Threads, ...]:
    return tuple(sorted((each for _, each in found if each), key=min))


def _cache(data: bytes, threads: Threads) -> Cache:
    level, ways, line_bytes, size_bytes, kind = struct.unpack_from("<BBHII", data)
    return Cache(
        level=level,
        kind=_KINDS.get(kind),
        size_bytes=size_bytes or None,
        line_bytes=line_bytes or None,
        ways=ways if ways not in (0, _FULLY) else None,
        threads=tuple(sorted(threads)),
    )
