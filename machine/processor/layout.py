"""Groups threads as Windows and macOS report them, all at once; Linux has files for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import field

from machine.facts import Notes, Reason, lacking
from machine.model import Cache, CpuCounts, Thread
from machine.processor import core_kinds
from machine.record import Record
from machine.system import basics
from machine.system.basics import Basics

Threads = frozenset[int]
_COUNTED = "counted from the threads that the system lists"
_OF_THREADS = ("package", "die", "cluster", "core", "core_id", "numa_node", "kind")


class Core(Record):
    """The threads of a core. Cores of a higher `efficiency` class are faster."""

    threads: Threads
    efficiency: int = 0


class Layout(Record):
    """Sets of threads that belong together; `clusters` are of cores, `nodes` by their number."""

    cores: tuple[Core, ...]
    packages: tuple[Threads, ...] = ()
    dies: tuple[Threads, ...] = ()
    clusters: tuple[Threads, ...] = ()
    nodes: dict[int, Threads] = field(default_factory=dict)
    caches: tuple[Cache, ...] = ()
    groups: int = 1  # of threads, in which Windows numbers them


class Words(Record):
    """The source of a layout on one system, and its reasons for what it lacks."""

    asked: str
    kinds: str
    gaps: Mapping[str, Reason]  # of a thread's fields, of a cache's as cache.ways, and caches
    no_affinity: Reason
    no_groups: Reason


def tell(layout: Layout | Reason, known: Basics, words: Words, notes: Notes) -> dict[str, Any]:
    """Return what of a Cpu follows from the layout; without one, threads are only counted."""
    pinned = known.usable
    if isinstance(layout, Layout) and layout.groups > 1:
        pinned = None  # what psutil tells is of one group only
    if isinstance(layout, Reason):
        threads = _plain(known, layout, notes)
        caches: tuple[Cache, ...] = notes.found("cpu.caches", (), "", layout)
        packages, cores, source = None, known.cores, "psutil.cpu_count(logical=False)"
        silent = layout
    else:
        threads, caches = _threads(layout, words, notes), layout.caches
        notes.found("cpu.caches", caches, words.asked, words.gaps["caches"])
        of_each = {
            name: words.gaps[f"cache.{name}"] for name in ("size_bytes", "line_bytes", "ways")
        }
        notes.missing += lacking("cpu.caches[*]", caches, of_each)
        packages, cores, source = len(layout.packages) or None, len(layout.cores), words.asked
        silent = words.gaps["package"]
    count = len(threads) or None
    usable = {thread.id for thread in threads} & set(pinned) if pinned is not None else None
    threads = tuple(
        Thread(**{**_fields(each), "usable": usable is None or each.id in usable})
        for each in threads
    )
    notes.sources["cpu.threads_list[*].usable"] = "online, and in its affinity if there is one"
    for name in ("threads", "usable_threads", "counts.present", "counts.online"):
        notes.found(f"cpu.{name}", count, _COUNTED, silent)
    affinity = None if usable is None else len(usable)
    notes.found("cpu.counts.affinity", affinity, basics.PINNED, words.no_affinity)
    for name in ("cpuset", "quota"):
        notes.lack(f"cpu.counts.{name}", words.no_groups)
    return {
        "packages": notes.found("cpu.packages", packages, words.asked, silent),
        "cores": notes.found("cpu.cores", cores, source, silent),
        "threads": count,
        "usable_threads": count if affinity is None else affinity,
        "counts": CpuCounts(present=count, online=count, affinity=affinity),
        "threads_list": threads,
        "caches": caches,
    }


def _fields(thread: Thread) -> dict[str, Any]:
    return {name: getattr(thread, name) for name in Thread.__struct_fields__}


def _plain(known: Basics, reason: Reason, notes: Notes) -> tuple[Thread, ...]:
    threads = tuple(Thread(id=n, online=True) for n in range(known.threads or 0))
    notes.found("cpu.threads_list", threads, basics.ASKED, reason)
    for name in _OF_THREADS:
        notes.lack(f"cpu.threads_list[*].{name}", reason)
    return threads


def _threads(layout: Layout, words: Words, notes: Notes) -> tuple[Thread, ...]:
    ids = sorted(thread for core in layout.cores for thread in core.threads)
    classes = {thread: core.efficiency for core in layout.cores for thread in core.threads}
    kinds, why = core_kinds.by_classes(classes, layout.caches)
    packages, dies, clusters, cores = map(
        _numbered,
        (layout.packages, layout.dies, layout.clusters, [core.threads for core in layout.cores]),
    )
    nodes = {thread: number for number, each in layout.nodes.items() for thread in each}
    threads = tuple(
        Thread(
            id=n,
            package=packages.get(n),
            die=dies.get(n),
            cluster=clusters.get(n),
            core=cores.get(n),
            numa_node=nodes.get(n),
            kind=kinds.get(n),
            online=True,
        )
        for n in ids
    )
    notes.sources["cpu.threads_list"] = words.asked
    if kinds:
        notes.sources["cpu.threads_list[*].kind"] = words.kinds
    gaps = {**words.gaps, "kind": Reason(why, words.gaps["kind"].how)}
    notes.missing += lacking(
        "cpu.threads_list[*]", threads, {name: gaps[name] for name in _OF_THREADS}
    )
    return threads


def _numbered(sets: Sequence[Threads]) -> dict[int, int]:
    return {thread: number for number, each in enumerate(sets) for thread in each}
