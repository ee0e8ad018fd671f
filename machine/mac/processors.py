"""Cores and caches, as macOS counts them by level of performance (sysctl hw.perflevelN).

macOS pins no process to a thread and gives no program the numbers of threads. So they are numbered
here by level, the slower levels first, as on Apple's chips. Level 0 is the fastest one.

Source: sysctl.h of macOS 12.1, quoted in https://github.com/open-mpi/hwloc/issues/507. On Macs
without levels, hw.cacheconfig says how many threads share the memory and each level of cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from machine.facts import Reason, Unanswered
from machine.model import Cache, CacheKind
from machine.processor.layout import Core, Layout
from machine.record import Record
from machine.system.linux import HIGHEST_THREAD, to_int

ASKED = "sysctl hw"
_L1: tuple[tuple[str, CacheKind], ...] = (("l1dcachesize", "data"), ("l1icachesize", "instruction"))
_SILENT = Reason("sysctl did not tell how many cores there are.", "sysctl hw machdep.cpu")


class _Level(Record):
    """The threads of one kind of core, and where their keys begin."""

    prefix: str
    first: int
    threads: int
    cores: int
    speed: int


def values(text: str) -> dict[str, str]:
    """Return the values of lines such as "hw.ncpu: 8"."""
    split = (line.partition(": ") for line in text.splitlines())
    return {key.strip(): value.strip() for key, found, value in split if found}


def number(told: Mapping[str, str], key: str) -> int | None:
    """Return the positive number at a key; None if there is none."""
    text = told.get(key, "")
    return to_int(text) or None if text.isdecimal() else None


def read_layout(told: Mapping[str, str]) -> Layout:
    """Return cores and caches. Raises Unanswered where sysctl does not count the cores."""
    levels = list(_levels(told))
    count = sum(level.threads for level in levels)
    packages = number(told, "hw.packages") or 1
    if not levels or count >= HIGHEST_THREAD or count % packages:
        raise Unanswered(_SILENT)
    each = count // packages
    return Layout(
        cores=tuple(core for level in levels for core in _cores(level)),
        packages=tuple(frozenset(range(n * each, (n + 1) * each)) for n in range(packages)),
        clusters=tuple(
            frozenset(cache.threads)
            for level in levels
            for cache in _caches(told, level)
            if cache.level == 2 and len(cache.threads) > level.threads // level.cores
        ),
        caches=tuple(
            sorted(
                (cache for level in levels for cache in _caches(told, level)),
                key=lambda cache: (cache.level or 0, cache.kind or "", cache.threads),
            )
        ),
    )


def _levels(told: Mapping[str, str]) -> Iterator[_Level]:
    count, first = number(told, "hw.nperflevels") or 0, 0
    if not count and "hw.perflevel0.physicalcpu" in told:
        count = 1
    names = [f"hw.perflevel{n}." for n in range(min(count, HIGHEST_THREAD))] or ["hw."]
    for prefix in reversed(names):
        threads, cores = (number(told, f"{prefix}{kind}cpu") for kind in ("logical", "physical"))
        if not threads or not cores or threads % cores:
            raise Unanswered(_SILENT)
        speed = len(names) - names.index(prefix)
        yield _Level(prefix=prefix, first=first, threads=threads, cores=cores, speed=speed)
        first += threads


def _cores(level: _Level) -> Iterator[Core]:
    each = level.threads // level.cores
    for start in range(level.first, level.first + level.threads, each):
        yield Core(threads=frozenset(range(start, start + each)), efficiency=level.speed)


def _caches(told: Mapping[str, str], level: _Level) -> Iterator[Cache]:
    """Yield the caches of a level; their size is that of each, their sharing that of neighbours."""
    of_core = level.threads // level.cores
    shared = [to_int(word) or 0 for word in told.get("hw.cacheconfig", "").split()]
    for key, kind in _L1:
        yield from _shared(told, level, key, 1, kind, of_core)
    for number_, key in ((2, "l2cachesize"), (3, "l3cachesize")):
        # Of neighbours in a list that counts for all levels at once, only a single level is sure.
        listed = shared[number_] if len(shared) > number_ and level.threads == shared[0] else 0
        sharing = number(told, f"{level.prefix}cpusperl{number_}") or listed
        yield from _shared(told, level, key, number_, "unified", sharing)


def _shared(
    told: Mapping[str, str], level: _Level, key: str, number_: int, kind: CacheKind, sharing: int
) -> Iterator[Cache]:
    size = number(told, level.prefix + key)
    if not size or not sharing:
        return
    last = level.first + level.threads
    for start in range(level.first, last, sharing):
        yield Cache(
            level=number_,
            kind=kind,
            size_bytes=size,
            line_bytes=number(told, "hw.cachelinesize"),
            threads=tuple(range(start, min(start + sharing, last))),
        )
