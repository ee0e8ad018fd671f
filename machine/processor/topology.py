"""Hardware threads and their cores, clusters, dies and packages.

The kernel's sets of threads show what belongs together. Its ids do not: they repeat between
packages, and some virtual machines invent them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from pathlib import Path

from machine.facts import Notes, Reason
from machine.model import Cache, NumaNode, Thread
from machine.processor.arm import Design
from machine.processor.core_kinds import read_kinds
from machine.system.linux import (
    CPU,
    HIGHEST_THREAD,
    format_list,
    numbered,
    read_int,
    read_list,
    read_set,
    read_text,
)

_PACKAGE_SETS = ("package_cpus_list", "core_siblings_list", "package_cpus", "core_siblings")
_DIE_SETS = ("die_cpus_list", "die_cpus")
_CLUSTER_SETS = ("cluster_cpus_list", "cluster_cpus")
CORE_SETS = ("core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings")
NO_THREADS = "Neither /sys nor /proc/cpuinfo lists the threads of this machine."
_LIST = "lscpu --all --extended lists them; only a thread that is online is described."
_NO_ID = (None, -1, 65535)  # the kernel's values for "none"; then the set means nothing

_FIELDS = {  # source, and reason if it is missing
    "package": (
        f"/{CPU}/cpu*/topology/package_cpus_list",
        "The kernel does not say which threads share a package.",
    ),
    "die": (
        f"/{CPU}/cpu*/topology/die_cpus_list",
        "The kernel names no dies; Linux does since 5.2, and not on every architecture.",
    ),
    "cluster": (
        f"/{CPU}/cpu*/topology/cluster_cpus_list",
        "The kernel names no clusters of cores here.",
    ),
    "core": (
        f"/{CPU}/cpu*/topology/core_cpus_list",
        "The kernel does not say which threads share a core.",
    ),
    "core_id": (f"/{CPU}/cpu*/topology/core_id", "The kernel gives these cores no id."),
    "numa_node": (
        "/sys/devices/system/node/node*/cpulist",
        "The kernel does not say to which memory node the threads belong.",
    ),
}


def present_and_online(root: Path) -> tuple[frozenset[int], frozenset[int]]:
    """Return the threads that exist and those that are online; empty if unknown."""
    folder = root / CPU
    there = frozenset(number for number in numbered(folder, "cpu") if number < HIGHEST_THREAD)
    if not there:  # some sandboxes hide /sys
        found = listed(read_text(root / "proc/cpuinfo") or "")
        there = frozenset(number for number in found if number < HIGHEST_THREAD)
    online = read_list(folder / "online")
    if online is None:
        # The first thread often cannot be switched off and then lacks this file.
        online = frozenset(n for n in there if read_int(folder / f"cpu{n}/online") != 0)
    present = read_list(folder / "present")
    return (there if present is None else present) | online, online


def listed(cpuinfo: str) -> set[int]:
    """Return the threads that the text of /proc/cpuinfo lists."""
    return set(map(int, re.findall(r"^processor\s*:\s*(\d{1,9})$", cpuinfo, re.MULTILINE)))


def read_thread_list(
    root: Path,
    present: frozenset[int],
    online: frozenset[int],
    usable: frozenset[int],
    numa: tuple[NumaNode, ...],
    notes: Notes,
    caches: tuple[Cache, ...] = (),
    designs: Mapping[int, Design] | None = None,
) -> tuple[Thread, ...]:
    """Return all threads in order. The kernel keeps nothing about offline threads."""
    ids = sorted(online)
    folders = {n: root / CPU / f"cpu{n}/topology" for n in ids}
    packages = _number({n: read_set(folders[n], *_PACKAGE_SETS) for n in ids})
    dies = _number({n: _set_with_id(folders[n], "die_id", _DIE_SETS) for n in ids})
    clusters = _number({n: _set_with_id(folders[n], "cluster_id", _CLUSTER_SETS) for n in ids})
    core_ids = {n: read_int(folders[n] / "core_id") for n in ids}
    # AMD's Bulldozer lists both cores of a module as siblings; ids tell them apart.
    sets = {n: read_set(folders[n], *CORE_SETS) for n in ids}
    cores = _number({n: None if sets[n] is None else (sets[n], core_ids[n]) for n in ids})
    nodes = {n: node.id for node in numa for n in node.threads}
    kinds = read_kinds(root, cores, caches, designs or {}, notes)
    threads = tuple(
        Thread(
            id=n,
            package=packages.get(n),
            die=dies.get(n),
            cluster=clusters.get(n),
            core=cores.get(n),
            core_id=core_ids.get(n),
            numa_node=nodes.get(n) if n in online else None,
            kind=kinds.get(n),
            online=n in online,
            usable=n in usable,
        )
        for n in sorted(present)
    )
    _note_threads(threads, notes)
    return threads


def _set_with_id(folder: Path, id_name: str, names: tuple[str, ...]) -> frozenset[int] | None:
    return None if read_int(folder / id_name) in _NO_ID else read_set(folder, *names)


def _number(keys: Mapping[int, Hashable]) -> dict[int, int | None]:
    """Number the keys 0, 1, 2... by first appearance; None stays None."""
    numbers: dict[Hashable, int] = {}
    return {
        thread: None if key is None else numbers.setdefault(key, len(numbers))
        for thread, key in keys.items()
    }


def _note_threads(threads: tuple[Thread, ...], notes: Notes) -> None:
    notes.found("cpu.threads_list", threads, f"/{CPU}/present", Reason(NO_THREADS, "lscpu"))
    notes.sources["cpu.threads_list[*].online"] = f"/{CPU}/online"
    notes.sources["cpu.threads_list[*].usable"] = "online, and in its affinity and cpuset"
    offline = [thread.id for thread in threads if not thread.online]
    if offline:
        why = f"The kernel keeps nothing about threads that are offline: {format_list(offline)}."
        notes.lack("cpu.threads_list[*]", Reason(why, _LIST))
    for name, (source, why) in _FIELDS.items():
        what = f"cpu.threads_list[*].{name}"
        values = [getattr(thread, name) for thread in threads if thread.online]
        if any(value is not None for value in values):
            notes.sources[what] = source
        if None in values:
            notes.lack(what, Reason(why, "lstopo of hwloc may know other sources."))
