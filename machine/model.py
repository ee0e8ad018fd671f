"""Records of a machine, their JSON format (coreopsis.machine, version 1), and questions to them.

An unreadable value is None, and `missing` says why. A list that was not read is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import field
from msgspec.structs import replace

from machine.condition import Clock, HugePages, PowerLimit, System, Temperature, Throttling
from machine.convert import convert
from machine.devices import Disk, Gpu, GpuLink, NetworkInterface, PciDevice, Peaks
from machine.record import Record
from machine.system.linux import HIGHEST_NUMBER, HIGHEST_THREAD
from machine.text import plain
from machine.tidy import sound_peaks, tidy

FORMAT = "coreopsis.machine"
VERSION = 1

CoreKind = Literal["performance", "efficiency", "low-power"]
CacheKind = Literal["data", "instruction", "unified"]


class Missing(Record):
    """Why a value is unknown. `what` is its path; `[*]` stands for any element."""

    what: str
    why: str
    how: str


class OperatingSystem(Record):
    """`kind` is linux, windows or macos; `release` the kernel's."""

    kind: str | None = None
    release: str | None = None
    distribution: str | None = None
    architecture: str | None = None


class CpuCounts(Record):
    """Five answers to "how many CPUs".

    In the machine; switched on; in this process's affinity; in its control groups' cpuset; and the
    CPU time that the control groups grant, in CPUs.
    """

    present: int | None = None
    online: int | None = None
    affinity: int | None = None
    cpuset: int | None = None
    quota: float | None = None


class Thread(Record):
    """A hardware thread. `package`, `die`, `cluster`, `core` count over the whole machine."""

    id: int
    package: int | None = None
    die: int | None = None
    cluster: int | None = None
    core: int | None = None
    core_id: int | None = None  # the kernel's: repeats between packages
    numa_node: int | None = None  # the `id` of a NumaNode
    kind: CoreKind | None = None
    online: bool | None = None
    usable: bool | None = None


class Cache(Record):
    """One instance of a cache, and the threads it serves."""

    level: int | None = None
    kind: CacheKind | None = None
    size_bytes: int | None = None
    line_bytes: int | None = None
    ways: int | None = None
    threads: tuple[int, ...] = ()


class Cpu(Record):
    """`packages`, `cores`, `threads` count what is online; `usable_threads` what we may use."""

    model: str | None = None
    packages: int | None = None
    cores: int | None = None
    threads: int | None = None
    usable_threads: int | None = None
    counts: CpuCounts = field(default_factory=CpuCounts)
    threads_list: tuple[Thread, ...] = ()
    caches: tuple[Cache, ...] = ()
    features: tuple[str, ...] = ()
    clock: Clock = field(default_factory=Clock)
    temperatures: tuple[Temperature, ...] = ()
    throttling: Throttling = field(default_factory=Throttling)
    power_limits: tuple[PowerLimit, ...] = ()
    vulnerabilities: dict[str, str] = field(default_factory=dict)  # the kernel's words
    microcode: str | None = None


class SideCache(Record):
    """A cache before the memory of a NUMA node; level 1 is nearest the memory."""

    level: int | None = None
    size_bytes: int | None = None
    line_bytes: int | None = None
    is_direct_mapped: bool | None = None


class NumaNode(Record):
    """A NUMA node; `distances` are in the order of the nodes. It may lack threads or memory.

    `kind` "gpu": the memory of a GPU. `allowed`: this process may take memory of it.
    """

    id: int
    threads: tuple[int, ...] = ()
    memory_bytes: int | None = None
    distances: tuple[int, ...] = ()
    kind: Literal["host", "gpu"] | None = None
    allowed: bool | None = None
    side_caches: tuple[SideCache, ...] = ()


class MemoryModule(Record):
    """One memory module, or an empty slot (0 bytes). `data_bits` is its width without ECC.

    `transfers_per_s` is what the firmware set, `rated_transfers_per_s` what the module says it can
    do. That is the plate of the standard; a profile such as XMP or EXPO stands in `part_number`.
    """

    slot: str | None = None
    bank: str | None = None
    maker: str | None = None
    part_number: str | None = None
    kind: str | None = None
    size_bytes: int | None = None
    transfers_per_s: float | None = None
    rated_transfers_per_s: float | None = None
    data_bits: int | None = None


class Memory(Record):
    """The main memory. `total_bytes` is what the kernel has, slightly less than installed.

    `limit_bytes` is what the control groups leave to this process and its neighbours, if less.
    """

    total_bytes: int | None = None
    limit_bytes: int | None = None
    modules: tuple[MemoryModule, ...] = ()
    channels: int | None = None
    peak_bytes_per_s: float | None = None
    transparent_huge_pages: str | None = None  # always, madvise, never
    huge_pages: tuple[HugePages, ...] = ()
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_in_memory_bytes: int | None = None  # of the total: compressed in memory (zram)


class Machine(Record):
    """All that is known, where it was read (`sources`), and why the rest is unknown (`missing`)."""

    format: str = FORMAT
    version: int = VERSION
    fingerprint: str | None = None
    os: OperatingSystem = field(default_factory=OperatingSystem)
    system: System = field(default_factory=System)
    virtualization: str | None = None
    container: str | None = None
    cpu: Cpu = field(default_factory=Cpu)
    numa: tuple[NumaNode, ...] = ()
    memory: Memory = field(default_factory=Memory)
    pci: tuple[PciDevice, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    gpu_links: tuple[GpuLink, ...] = ()
    nvswitch: bool | None = None
    storage: tuple[Disk, ...] = ()
    network: tuple[NetworkInterface, ...] = ()
    peaks: Peaks = field(default_factory=Peaks)
    sources: dict[str, str] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()


class BadMachine(ValueError):
    """The data is no machine of this version; the text says why in one sentence."""


def to_json(machine: Machine) -> dict[str, Any]:
    """Return the machine as dicts, lists, numbers and strings, as a JSON parser would."""
    told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(machine))
    return told


def from_json(data: object) -> Machine:
    """Return the machine in `data`, as parsed from JSON. Raises BadMachine."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise BadMachine(f'This is not a machine file: it has no "format": "{FORMAT}".')
    version = data.get("version")
    if not isinstance(version, int) or not 1 <= version < HIGHEST_NUMBER:
        raise BadMachine("This machine file does not say which version it has.")
    if version > VERSION:
        raise BadMachine(
            f"This machine file has version {version}, newer than this program, "
            f"which reads version {VERSION}: update Coreopsis to open it."
        )
    try:
        machine = tidy(convert(data, Machine))
    except msgspec.ValidationError as error:
        expected, _, path = str(error).partition(" - at ")
        where = path.strip("`").removeprefix("$.") or "the top"
        raise BadMachine(f"This machine file is damaged at {where}: {plain(expected)}.") from None
    except UnicodeError:
        raise BadMachine("This machine file is damaged: it holds half of a letter.") from None
    for where, ids in _ids(machine):
        if len(ids) > HIGHEST_THREAD:
            raise BadMachine(f"This machine file is damaged at {where}: no machine has as many.")
        if not all(isinstance(each, int) and 0 <= each < HIGHEST_THREAD for each in ids):
            raise BadMachine(f"This machine file is damaged at {where}: no part has such a number.")
    return replace(machine, peaks=sound_peaks(machine.peaks))


def _ids(machine: Machine) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield the numbers of the parts of each list, which others refer to."""
    yield "cpu.threads_list", [thread.id for thread in machine.cpu.threads_list]
    yield "cpu.caches", range(len(machine.cpu.caches))
    yield "numa", [node.id for node in machine.numa]
    yield "pci", range(len(machine.pci))
    yield "gpus", [gpu.index for gpu in machine.gpus]
    yield "gpus[*].nvlinks", [link.number for gpu in machine.gpus for link in gpu.nvlinks]
    yield "gpu_links", [number for link in machine.gpu_links for number in (link.a, link.b)]


def is_virtual(machine: Machine) -> bool:
    """Is it known to be a virtual machine? "none" means known to be bare metal."""
    return machine.virtualization not in (None, "none")


def is_hidden(machine: Machine, path: str) -> bool:
    """Is the value at `path` unknown because this is a virtual machine? Its reason says so."""
    missing = missing_of(machine, path)
    return is_virtual(machine) and missing is not None and "virtual" in missing.why.lower()


def usable_threads(machine: Machine) -> list[Thread]:
    """Return the threads that this process may run on."""
    return [thread for thread in machine.cpu.threads_list if thread.usable]


def siblings(machine: Machine, thread_id: int) -> list[Thread]:
    """Return the usable threads on the core of `thread_id`, including that thread."""
    cores = {thread.id: thread.core for thread in machine.cpu.threads_list}
    core = cores.get(thread_id)
    return [
        thread
        for thread in usable_threads(machine)
        if thread.id == thread_id or (core is not None and thread.core == core)
    ]


def tells_temperature(machine: Machine) -> bool:
    """Can a temperature of its processor or of a GPU be read?"""
    told = [each.now_celsius for each in machine.cpu.temperatures]
    told += [gpu.temperature_celsius for gpu in machine.gpus]
    return any(each is not None for each in told)


def physical_cores(machine: Machine) -> int | None:
    """Return the number of cores with usable threads."""
    cores = {thread.core for thread in usable_threads(machine)}
    return len(cores) if cores and None not in cores else None


def caches_of(machine: Machine, thread_id: int) -> list[Cache]:
    """Return the data caches of this thread, nearest first."""
    return sorted(
        (c for c in machine.cpu.caches if thread_id in c.threads and c.kind != "instruction"),
        key=lambda cache: cache.level or 0,
    )


def last_level_cache_bytes(machine: Machine) -> int | None:
    """Return the size of the largest last-level cache that a usable thread has."""
    last: dict[int, Cache] = {}  # of each thread, in one pass: a machine may have 512 of both
    for cache in machine.cpu.caches:
        if cache.kind != "instruction":
            for thread_id in cache.threads:
                if (cache.level or 0) >= (last.get(thread_id, cache).level or 0):
                    last[thread_id] = cache
    found = [last[each.id] for each in usable_threads(machine) if each.id in last]
    sizes = [(cache.level or 0, cache.size_bytes or 0) for cache in found]
    return max(sizes, default=(0, 0))[1] or None


def is_guest(machine: Machine) -> bool:
    """Does it run on a host, which may grant less cache than the system reports?"""
    return machine.container not in (None, "none") or is_virtual(machine)


def cache_sizes(machine: Machine) -> dict[str, int]:
    """Return the bytes of the caches of the last usable thread, "l1" to "l3", nearest first."""
    usable = usable_threads(machine)
    if not usable:
        return {}
    return {
        f"l{cache.level}": cache.size_bytes
        for cache in caches_of(machine, usable[-1].id)
        if cache.size_bytes and cache.level in (1, 2, 3)
    }


# What is remarked on where it is known; where it is a gap, it has no source.
_REMARKED = (
    *("cpu.threads_list", "cpu.usable_threads", "cpu.counts.online", "cpu.packages"),
    *("memory.channels", "memory.total_bytes"),
    *("numa[*].distances", "numa[*].threads"),
)


def remarks(machine: Machine) -> list[Missing]:
    """Return what is said of values that are known, mostly that another source contradicts them."""
    return [
        entry
        for entry in machine.missing
        if entry.what in _REMARKED and source_of(machine, entry.what) is not None
    ]


def source_of(machine: Machine, path: str) -> str | None:
    """Return where the value at `path` was read."""
    return next((machine.sources[p] for p in _ways_to_say(path) if p in machine.sources), None)


def missing_of(machine: Machine, path: str) -> Missing | None:
    """Return why there is no value at `path`."""
    missing = {entry.what: entry for entry in machine.missing}
    return next((missing[p] for p in _ways_to_say(path) if p in missing), None)


def _ways_to_say(path: str) -> Iterator[str]:
    """Yield `path`, then its parents: a[1].b, a[*].b, a[1], a[*], a."""
    while path:
        yield path
        if (general := re.sub(r"\[\d+\]", "[*]", path)) != path:
            yield general
        path = re.sub(r"(^|\.)[^.\[]*$|\[[^\]]*\]$", "", path)
