"""Kinds of cores: performance, efficiency and low-power.

Clocks cannot tell them apart: favoured cores of one kind have higher clocks too. On ARM their
designs can. Caches can, on Intel's hybrid processors since Alder Lake: four efficiency cores share
an L2 cache and have one thread each; each performance core has its own L2 cache; low-power cores
are not connected to L3.

Linux lists all of Intel's small cores as cpu_atom, those without L3 too (seen up to Linux 6.17). So
the caches refine its list, and are held against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from machine.facts import Notes, Reason
from machine.model import Cache, CoreKind
from machine.processor.arm import MIDR, Design, by_speed
from machine.system.linux import CPU, format_list, read_int, read_list

_KIND_FOLDERS: tuple[tuple[str, CoreKind], ...] = (
    ("cpu_core", "performance"),
    ("cpu_atom", "efficiency"),
    ("cpu_lowpower", "low-power"),
)
_WHAT, _HOW = "cpu.threads_list[*].kind", "Look the model up in the maker's data sheet."
ONE_KIND = "All cores have about the same capacity: they are of one kind."
_ALIKE = 0.9  # favoured cores of the same kind differ by some percent
_LISTED = "/sys/devices/cpu_core/cpus, cpu_atom/cpus, cpu_lowpower/cpus"
_REFINED = "those without L3, by cpu.caches, are the low-power ones"


def read_kinds(
    root: Path,
    cores: Mapping[int, int | None],
    caches: tuple[Cache, ...],
    designs: Mapping[int, Design],
    notes: Notes,
) -> dict[int, CoreKind]:
    """Return the kind of each thread in `cores`, from the first source that has them.

    The sources are the kernel's own list, the designs of ARM cores, the kernel's computed
    capacities, and the shared caches.
    """
    ids = sorted(cores)
    if listed := _listed(root):
        return _refined(listed, cores, caches, notes)
    if designs:
        return _kinds_by_designs(root, designs, notes)
    read = {n: read_int(root / CPU / f"cpu{n}/cpu_capacity") for n in ids}
    capacities = {n: capacity for n, capacity in read.items() if capacity}
    steps = [
        high for low, high in pairwise(sorted(set(capacities.values()))) if low < _ALIKE * high
    ]
    if len(steps) == 1:
        notes.sources[_WHAT] = f"/{CPU}/cpu*/cpu_capacity"
        return {
            n: "performance" if capacity >= steps[0] else "efficiency"
            for n, capacity in capacities.items()
        }
    if not steps and (found := _kinds_by_caches(cores, caches)):
        notes.sources[_WHAT] = "cpu.caches: cores that share their L2 cache are the small ones"
        return found
    if steps:
        why = f"There are cores of {len(steps) + 1} capacities, more than there are names for."
    elif capacities:
        why = ONE_KIND
    else:
        why = "The kernel does not tell kinds of cores apart here; most machines have only one."
    notes.lack(_WHAT, Reason(why, _HOW))
    return {}


def by_classes(
    classes: Mapping[int, int], caches: tuple[Cache, ...]
) -> tuple[dict[int, CoreKind], str]:
    """Return the kind of each thread by the class of its core, a higher one being faster.

    With two classes, the slower threads without L3 are low-power ones. The text says why there are
    no kinds.
    """
    steps = sorted(set(classes.values()), reverse=True)
    if len(steps) == 1:
        return {}, ONE_KIND
    if len(steps) > len(_KIND_FOLDERS):
        return {}, f"There are {len(steps)} classes of cores, more than there are names for."
    named = {step: kind for step, (_, kind) in zip(steps, _KIND_FOLDERS, strict=False)}
    kinds = {thread: named[each] for thread, each in classes.items()}
    small = [thread for thread, kind in kinds.items() if kind == "efficiency"]
    return kinds | dict.fromkeys(_far(caches, small), "low-power"), ""


def _kinds_by_designs(
    root: Path, designs: Mapping[int, Design], notes: Notes
) -> dict[int, CoreKind]:
    """Return the kinds if the cores are of two designs, and one is known to be faster."""
    speeds = by_speed(root, designs)
    names = ", ".join(map(str, speeds))
    if len(speeds) == 2 and len({*speeds.values()}) == 2:
        notes.sources[_WHAT] = f"/{CPU}/cpu*/{MIDR}, the faster design first: {names}"
        fast = next(iter(speeds))
        return {n: "performance" if each == fast else "efficiency" for n, each in designs.items()}
    if len(speeds) == 1:
        why = ONE_KIND
    elif len(speeds) == 2:
        why = f"Nothing tells which of the two designs of cores is the faster one: {names}."
    else:
        why = f"There are {len(speeds)} designs of cores, more than there are names for: {names}."
    notes.lack(_WHAT, Reason(why, _HOW))
    return {}


def _listed(root: Path) -> dict[int, CoreKind]:
    """Return the kinds that the kernel lists by itself."""
    kinds: dict[int, CoreKind] = {}
    for name, kind in _KIND_FOLDERS:
        for thread in read_list(root / "sys/devices" / name / "cpus") or ():
            kinds[thread] = kind
    return kinds


def _refined(
    listed: dict[int, CoreKind],
    cores: Mapping[int, int | None],
    caches: tuple[Cache, ...],
    notes: Notes,
) -> dict[int, CoreKind]:
    """Return the kernel's kinds; the caches add what it leaves out, and may contradict it."""
    told = _kinds_by_caches(cores, caches)
    kinds = {**told, **listed} if _agree(listed, told) else dict(listed)
    far = [thread for thread in _far(caches, listed) if listed[thread] == "efficiency"]
    kinds |= dict.fromkeys(far, "low-power")
    by_caches = [_REFINED] if far else []
    if added := cores.keys() & kinds.keys() - listed.keys():
        by_caches.append(f"{format_list(added)} by cpu.caches")
    notes.sources[_WHAT] = "; ".join((_LISTED, *by_caches))
    if not kinds.keys() >= cores.keys():
        notes.lack(_WHAT, Reason("The kernel names the kind of some cores only.", _HOW))
    if told and not _agree(listed, told):
        differ = format_list(n for n in listed if n in told and _is_large(listed[n], told[n]))
        why = "The kernel's list of performance cores and the shared caches contradict each other "
        why += f"for the threads {differ}; the list counts here."
        how = "lscpu --all --extended, and the maker's data sheet."
        notes.lack("cpu.threads_list", Reason(why, how))
    return kinds


def _agree(listed: Mapping[int, CoreKind], told: Mapping[int, CoreKind]) -> bool:
    return not any(_is_large(listed[n], told[n]) for n in listed if n in told)


def _is_large(one: CoreKind, other: CoreKind) -> bool:
    """Is exactly one of two kinds that of the large cores? A list may not know the smallest."""
    return (one == "performance") != (other == "performance")


def _far(caches: tuple[Cache, ...], threads: Iterable[int]) -> list[int]:
    """Return the threads that have no L3 where others of this processor have one."""
    near = {thread for cache in caches if cache.level == 3 for thread in cache.threads}
    cached = {thread for cache in caches for thread in cache.threads}
    return [thread for thread in threads if near and thread in cached - near]


def _kinds_by_caches(
    cores: Mapping[int, int | None], caches: tuple[Cache, ...]
) -> dict[int, CoreKind]:
    """Return the kinds if some cores share an L2 cache, and all others are visibly larger.

    They have two threads, or, since Lunar Lake, one thread and a larger L1 cache.
    """
    kinds: dict[int, CoreKind] = {}
    threads_of = Counter(cores.values())
    for cache in caches:
        if cache.level == 2 and cache.kind == "unified":
            within = {cores.get(thread) for thread in cache.threads}
            kind: CoreKind = "performance" if len(within) == 1 else "efficiency"
            kinds |= dict.fromkeys(cache.threads, kind)
    large = {thread for thread in cores if kinds.get(thread) == "performance"}
    small = {thread for thread in cores if kinds.get(thread) == "efficiency"}
    if not (large and small) or {threads_of[cores[thread]] for thread in small} != {1}:
        return {}
    of_large = {threads_of[cores[thread]] for thread in large}
    if len(large) + len(small) < len(cores) or len(of_large) > 1:
        return {}
    if of_large == {1} and not _l1_bytes(caches, large) > _l1_bytes(caches, small):
        return {}
    return kinds | dict.fromkeys(_far(caches, small), "low-power")


def _l1_bytes(caches: tuple[Cache, ...], threads: set[int]) -> int:
    """Return the size of the data caches of these cores; 0 if they have several, or none."""
    sizes = {
        cache.size_bytes
        for cache in caches
        if (cache.level, cache.kind) == (1, "data") and threads.intersection(cache.threads)
    }
    return (sizes.pop() or 0) if len(sizes) == 1 else 0
