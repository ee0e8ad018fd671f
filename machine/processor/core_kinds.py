"""Kinds of cores: performance, efficiency and low-power.

Clocks cannot tell them apart: favoured cores of one kind have higher clocks too. On ARM their
designs can. Caches can, on Intel's hybrid processors since Alder Lake: four efficiency cores share
an L2 cache and have one thread each; each performance core has its own L2 cache; low-power cores
are not connected to L3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from machine.facts import Notes
from machine.model import Cache, CoreKind
from machine.processor.arm import MIDR, Design, by_speed
from machine.system.linux import CPU, read_int, read_list

_KIND_FOLDERS: tuple[tuple[str, CoreKind], ...] = (
    ("cpu_core", "performance"),
    ("cpu_atom", "efficiency"),
    ("cpu_lowpower", "low-power"),
)
_WHAT, _HOW = "cpu.threads_list[*].kind", "Look the model up in the maker's data sheet."
ONE_KIND = "All cores have about the same capacity: they are of one kind."
_ALIKE = 0.9  # favoured cores of the same kind differ by some percent


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
    kinds: dict[int, CoreKind] = {}
    for name, kind in _KIND_FOLDERS:
        for thread in read_list(root / "sys/devices" / name / "cpus") or ():
            kinds[thread] = kind
    if kinds:
        notes.sources[_WHAT] = "/sys/devices/cpu_core/cpus, cpu_atom/cpus, cpu_lowpower/cpus"
        if not kinds.keys() >= set(ids):
            notes.lack(_WHAT, why="The kernel names the kind of some cores only.", how=_HOW)
        return kinds
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
    notes.lack(_WHAT, why=why, how=_HOW)
    return {}


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
    notes.lack(_WHAT, why=why, how=_HOW)
    return {}


def _kinds_by_caches(
    cores: Mapping[int, int | None], caches: tuple[Cache, ...]
) -> dict[int, CoreKind]:
    """Return the kinds if some cores share an L2 cache and all others have two threads."""
    kinds: dict[int, CoreKind] = {}
    threads_of = Counter(cores.values())
    for cache in caches:
        if cache.level == 2 and cache.kind == "unified":
            within = {cores.get(thread) for thread in cache.threads}
            kind: CoreKind = "performance" if len(within) == 1 else "efficiency"
            kinds |= dict.fromkeys(cache.threads, kind)
    has_both = {*kinds.values()} == {"performance", "efficiency"}
    fits = has_both and all(
        threads_of[core] == (2 if kinds.get(thread) == "performance" else 1)
        for thread, core in cores.items()
    )
    if not fits:
        return {}
    near = {thread for cache in caches if cache.level == 3 for thread in cache.threads}
    far = [thread for thread in kinds if near and thread not in near]
    return kinds | dict.fromkeys(far, "low-power")
