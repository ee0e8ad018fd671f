"""The processor: its model and counts, and the threads that this process may use.

"How many CPUs" has five answers (see CpuCounts). They differ in containers and batch jobs, where
/sys still shows the whole host, so all five are kept.
"""

from __future__ import annotations

import os
from pathlib import Path

from machine.facts import Notes, Reason
from machine.model import Cache, Cpu, CpuCounts, NumaNode, Thread
from machine.processor import arm
from machine.processor.caches import read_caches
from machine.processor.clock import read_clock
from machine.processor.heat import read_power_limits, read_temperatures, read_throttling
from machine.processor.instructions import of_power, of_risc_v, tidy_name
from machine.processor.protection import read_microcode, read_vulnerabilities
from machine.processor.topology import (
    NO_THREADS,
    listed,
    present_and_online,
    read_thread_list,
)
from machine.system import cgroups
from machine.system.linux import CPU, fields, format_list, parse_list, read_list, read_text

NO_QUOTA = "No control group limits the processor time of this process."
_CPUINFO = "/proc/cpuinfo"
_WITHIN_PACKAGE = 3  # an L4 cache of a mainframe serves several
_ISOLATED = f"{CPU}/isolated"
_UNLISTED = Reason(NO_THREADS, "nproc --all")
_NO_FEATURES = Reason(
    "The kernel lists no instruction set extensions for this processor.",
    "Look the model up in the maker's data sheet.",
)
_NO_AFFINITY = Reason(
    "It was not recorded to which threads the process was pinned.",
    "grep Cpus_allowed_list /proc/self/status",
)
_NO_CPUSET = Reason(
    "No control group says which threads it leaves to this process.",
    "cat /proc/self/cgroup, then cpuset.cpus.effective of that group.",
)
_NO_QUOTA = Reason(
    NO_QUOTA, "cat /proc/self/cgroup, then cpu.max of that group and of those above it."
)
_COUNTED = "counted from the hardware threads that the kernel lists"
# "uarch" on RISC-V, "cpu" on POWER, "processor" on 32-bit ARM (a number on other architectures).
_MODEL_NAMES = ("model name", "cpu model", "uarch", "cpu", "processor")
_NUMBERS = (*("cpu implementer", "cpu part"), *("mvendorid", "marchid", "mimpid"))


def read_cpu(root: Path, numa: tuple[NumaNode, ...], notes: Notes, *, is_live: bool) -> Cpu:
    """Return the processor of the machine below `root`; `is_live` for the running one."""
    text = read_text(root / _CPUINFO[1:]) or ""
    info = fields(text)
    present, online = present_and_online(root)
    counts, usable = _read_counts(root, present, online, notes, is_live=is_live)
    _note_isolated(root, online, usable, notes)
    _note_listed(len(listed(text)), len(online), notes)
    caches = read_caches(root, online, notes)
    designs = arm.read_designs(root, sorted(online), text)
    threads = read_thread_list(root, present, online, usable, numa, notes, caches, designs)
    _note_shared(threads, caches, notes)
    return Cpu(
        model=_model(root, info, designs, notes),
        packages=_distinct(threads, "package", notes),
        cores=_distinct(threads, "core", notes),
        threads=_count("cpu.threads", online, _COUNTED, notes),
        usable_threads=_count("cpu.usable_threads", usable, _COUNTED, notes),
        counts=counts,
        threads_list=threads,
        caches=caches,
        features=_features(info, notes),
        clock=read_clock(root, notes),
        temperatures=read_temperatures(root, notes),
        throttling=read_throttling(root, threads, notes),
        power_limits=read_power_limits(root, notes),
        vulnerabilities=read_vulnerabilities(root, notes),
        microcode=read_microcode(root, info, notes),
    )


def _model(
    root: Path, info: dict[str, str], designs: dict[int, arm.Design], notes: Notes
) -> str | None:
    # What the kernel calls an ARM processor is its architecture: "ARMv7 Processor rev 4 (v7l)".
    if cores := arm.model(arm.by_speed(root, designs)):
        source = "the numbers of maker and part in /proc/cpuinfo, by the tables of Linux and lscpu"
        notes.sources["cpu.model"] = source
        return cores
    named = (info.get(name, "") for name in _MODEL_NAMES)
    model = next((name for name in named if name and not name.isdecimal()), None)
    part = ", ".join(f"{n} {info[n]}" for n in _NUMBERS if n in info)
    why = f"The kernel gives this processor no name{f', only numbers: {part}' if part else ''}."
    reason = Reason(why, "lscpu knows the names of many such numbers.")
    return notes.found("cpu.model", tidy_name(model) if model else None, _CPUINFO, reason)


def _features(info: dict[str, str], notes: Notes) -> tuple[str, ...]:
    named = (info.get("flags") or info.get("features") or "").split()
    others = (*of_risc_v(info.get("isa", "")), *of_power(info.get("cpu", "")))
    found = tuple(sorted({*named, *others, *info.get("ases implemented", "").split()}))
    return notes.found("cpu.features", found, _CPUINFO, _NO_FEATURES)


def _read_counts(
    root: Path, present: frozenset[int], online: frozenset[int], notes: Notes, *, is_live: bool
) -> tuple[CpuCounts, frozenset[int]]:
    """Return the five counts, and the online threads that we may use."""
    # Both may name threads that are offline or do not exist.
    affinity = _online(_affinity(root, is_live=is_live), online)
    cpuset_all, cpuset_file = cgroups.cpuset(root) or (None, "")
    cpuset = _online(cpuset_all, online)

    quota, quota_file = cgroups.quota(root) or (None, "")
    counts = CpuCounts(
        present=_count("cpu.counts.present", present, f"/{CPU}/present", notes),
        online=_count("cpu.counts.online", online, f"/{CPU}/online", notes),
        affinity=notes.found(
            "cpu.counts.affinity", len(affinity or ()) or None, "/proc/self/status", _NO_AFFINITY
        ),
        cpuset=notes.found("cpu.counts.cpuset", len(cpuset or ()) or None, cpuset_file, _NO_CPUSET),
        quota=notes.found("cpu.counts.quota", quota, quota_file, _NO_QUOTA),
    )
    allowed = [threads for threads in (affinity, cpuset) if threads is not None]
    return counts, online.intersection(*allowed)


def _note_listed(listed: int, online: int, notes: Notes) -> None:
    """Note where /proc/cpuinfo lists fewer threads than /sys: lxcfs writes the former anew."""
    if 1 < listed < online:  # of one thread, the text may be cut short
        why = f"{_CPUINFO} lists {listed} threads and /{CPU} {online}; which of them this process "
        reason = Reason(f"{why}may use, its affinity tells.", "nproc, and nproc --all")
        contained = "which may write the former anew"
        notes.lack("cpu.counts.online", notes.because(reason, contained=contained))


def _note_shared(threads: tuple[Thread, ...], caches: tuple[Cache, ...], notes: Notes) -> None:
    """Note where a cache serves several packages, as some virtual machines have it."""
    packages = {thread.id: thread.package for thread in threads}
    for cache in caches:
        within = {packages.get(thread) for thread in cache.threads} - {None}
        if len(within) > 1 and (cache.level or 0) <= _WITHIN_PACKAGE:
            why = f"An L{cache.level} cache serves threads of {len(within)} packages, so caches "
            why += "and packages cannot both be as they are told."
            how = "lscpu --extended; behind a host, only its own tools know."
            notes.lack("cpu.packages", Reason(why, how))
            return


def _note_isolated(
    root: Path, online: frozenset[int], usable: frozenset[int], notes: Notes
) -> None:
    """Note the threads that only programs get which ask for them."""
    isolated = (read_list(root / _ISOLATED) or frozenset()) & online
    if isolated and not isolated & usable:
        why = f"The kernel isolates the threads {format_list(isolated)} (isolcpus): only programs "
        why += "that ask for them run there."
        notes.lack("cpu.usable_threads", Reason(why, f"cat /{_ISOLATED}"))


def _online(threads: frozenset[int] | None, online: frozenset[int]) -> frozenset[int] | None:
    return None if threads is None else threads & online


def _affinity(root: Path, *, is_live: bool) -> frozenset[int] | None:
    status = fields(read_text(root / "proc/self/status"))
    try:
        return parse_list(status["cpus_allowed_list"])
    except (KeyError, ValueError):
        if is_live and hasattr(os, "sched_getaffinity"):  # some sandboxes leave the line out
            return frozenset(os.sched_getaffinity(0))
        return None


def _count(what: str, threads: frozenset[int], source: str, notes: Notes) -> int | None:
    return notes.found(what, len(threads) or None, source, _UNLISTED)


def _distinct(threads: tuple[Thread, ...], part: str, notes: Notes) -> int | None:
    numbers = {getattr(thread, part) for thread in threads if thread.online}
    count = None if None in numbers else len(numbers) or None
    why = f"The kernel does not say for every thread to which {part} it belongs."
    reason = Reason(why, "lscpu may know other sources.")
    return notes.found(f"cpu.{part}s", count, _COUNTED, reason)
