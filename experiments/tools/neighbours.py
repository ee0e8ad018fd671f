"""Finds hardware threads that lie near each other: their order, and what two of them share."""

from __future__ import annotations

from machine.model import Machine, Thread, caches_of, usable_threads

SAME_CORE, SAME_CACHE, SAME_PACKAGE, FAR, UNKNOWN = RELATIONS = (
    "same_core",
    "same_cache",
    "same_package",
    "other_package",
    "unknown",
)  # nearest first; "same_cache" means the last-level cache


def by_topology(machine: Machine, *, one_per_core: bool = True) -> list[Thread]:
    """Return the usable threads with neighbours side by side; only the first of each core."""
    groups = {t.id: _last_cache(machine, t.id) for t in usable_threads(machine)}

    def place(thread: Thread) -> tuple[int, ...]:
        parts = (thread.package, thread.numa_node, thread.die, min(groups[thread.id], default=None))
        return *(-1 if part is None else part for part in (*parts, thread.core)), thread.id

    ordered = sorted(usable_threads(machine), key=place)
    if not one_per_core:
        return ordered
    first: dict[object, Thread] = {}
    for thread in ordered:
        first.setdefault(f"thread {thread.id}" if thread.core is None else thread.core, thread)
    return list(first.values())


def relation(machine: Machine, one: Thread, other: Thread) -> str:
    """Return what two threads share, as far as the system shows."""
    if one.core is not None and one.core == other.core:
        return SAME_CORE
    if other.id in _last_cache(machine, one.id):
        return SAME_CACHE
    if one.package is None or other.package is None:
        return UNKNOWN
    return SAME_PACKAGE if one.package == other.package else FAR


def pairs(machine: Machine) -> dict[str, tuple[Thread, Thread]]:
    """Return a pair of threads for each relation that this machine has, the nearest first."""
    threads = by_topology(machine, one_per_core=False)
    found: dict[str, tuple[Thread, Thread]] = {}
    for one in reversed(threads):  # interrupts and desktops prefer the first
        for other in threads:
            if other.id != one.id:
                found.setdefault(relation(machine, one, other), (other, one))
        if len(found) == len(RELATIONS) - 1:
            break
    return {name: found[name] for name in RELATIONS if name in found}


def _last_cache(machine: Machine, thread_id: int) -> tuple[int, ...]:
    """Return the threads that share one thread's last-level cache, itself included."""
    caches = caches_of(machine, thread_id)
    return caches[-1].threads if caches else ()
