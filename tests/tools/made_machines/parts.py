"""The parts that a fake machine is put together from, and what completes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from machine.bus import pcie
from machine.condition import FileSystem, HugePages
from machine.devices import ClockReason, Link, PciDevice
from machine.facts import Notes, Reason
from machine.inspect import assemble
from machine.memory.host import NO_LIMIT
from machine.model import Cache, CacheKind, CpuCounts, Machine, Missing, Thread, to_json
from machine.peaks import read_peaks
from machine.processor.core_kinds import ONE_KIND
from machine.processor.cpu import NO_QUOTA
from tests.machine.unexplained import unexplained

KIB, MIB, GIB = 2**10, 2**20, 2**30
BRIDGE, NVME, ETHERNET, DISPLAY, COMPUTE = 0x060400, 0x010802, 0x020000, 0x030000, 0x030200
IDLE = (ClockReason(key="clock_reasons.idle", severity="information"),)
MADE = "synthetic: made for demonstration, after data sheets"
_WIDTH = 240  # of a line of JSON: one hardware thread, one cache, one link, one memory module
_WHY = "This machine is made up for demonstration, and nobody has filled it in."
_NOTHING = "There is nothing to look at."
_HOW = "coreopsis inspect, on a machine that exists."
# Reasons as the readers give them, where they hold for all of these machines.
_REASONS = {
    "cpu.counts.quota": NO_QUOTA,
    "memory.limit_bytes": NO_LIMIT,
    "cpu.threads_list[*].cluster": "The kernel names no clusters of cores here.",
    "cpu.threads_list[*].kind": ONE_KIND,
    "cpu.clock.base_hz": "The kernel has no base_frequency here: only some drivers know it.",
    "pci[*].link": "A part of the processor or of a bridge has no link of its own.",
    "cpu.temperatures[*].critical_celsius": "The driver of this sensor does not tell the limit.",
    "cpu.throttling.cores": "Only Intel's processors count it.",
    "cpu.throttling.packages": "Only Intel's processors count it.",
    "cpu.clock.energy_preference": "This driver takes no energy preference.",
    "cpu.clock.boost": "The driver does not say whether the processor may boost.",
    "cpu.microcode": "Only processors of Intel and AMD have one to tell.",
    "cpu.temperatures": "No sensor of the processor is in sight.",
    "cpu.power_limits": "The kernel shows no power limits (RAPL): AMD's drivers do not tell them.",
    "cpu.power_limits[*].window_s": "The processor does not tell it of this limit.",
    "storage[*].wear_fraction": "Only root may ask an NVMe disk for its wear.",
    "gpus[*].uuid": "It is the number of one very GPU, and stays out of files that are passed on.",
    "gpus[*].architecture": "The driver of this GPU does not name it.",
    "gpus[*].fabric": "The GPU is not part of a fabric of switches.",
    "gpus[*].c2c_bytes_per_s": "No NVLink-C2C joins the GPU to the processor.",
    "gpus[*].bar_bytes": "It uses the machine's memory.",
    "gpus[*].resizable_bar": "It uses the machine's memory.",
    "gpus[*].link": "It stands in pci, by the address, with both its ends.",
    "gpus[*].memory_numa_node": "The memory of the GPU is no memory node of the machine.",
    "gpu_links[*].nvlink_version": "No NVLink joins the two GPUs.",
}


# The kernel's words, of processors that were new in 2025.
_NOT_AFFECTED = (
    *("gather_data_sampling", "ghostwrite", "indirect_target_selection", "itlb_multihit", "l1tf"),
    *("mds", "meltdown", "mmio_stale_data", "reg_file_data_sampling", "retbleed"),
    *("spec_rstack_overflow", "srbds", "tsa", "tsx_async_abort"),
)
_MITIGATED = {
    "spec_store_bypass": "Mitigation: Speculative Store Bypass disabled via prctl",
    "spectre_v1": "Mitigation: usercopy/swapgs barriers and __user pointer sanitization",
    "spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling",
}


def vulnerabilities(**others: str) -> dict[str, str]:
    """Return what the kernel says of a new processor, and of `others`."""
    return dict(
        sorted({**dict.fromkeys(_NOT_AFFECTED, "Not affected"), **_MITIGATED, **others}.items())
    )


def huge_pages(*, total: int = 0) -> tuple[HugePages, ...]:
    """Return the two sizes of most processors; `total` of the smaller one are set aside."""
    return (
        HugePages(size_bytes=2 * MIB, total=total, free=total),
        HugePages(size_bytes=GIB, total=0, free=0),
    )


def file_system(kind: str, place: str, total_gb: float, free_gb: float) -> FileSystem:
    """Return a mounted file system."""
    return FileSystem(
        kind=kind, place=place, total_bytes=round(total_gb * 1e9), free_bytes=round(free_gb * 1e9)
    )


def link(
    generation: int, width: int, *, slot: tuple[int, int] | None = None, now: int | None = None
) -> Link:
    """Return the link of a card of that generation and width; `now` is its generation at rest."""
    slot_generation, slot_width = slot or (generation, width)
    able = min(generation, slot_generation), min(width, slot_width)
    return Link(
        generation=now or able[0],
        width=able[1],
        card_generation=generation,
        card_width=width,
        slot_generation=slot_generation,
        slot_width=slot_width,
        peak_bytes_per_s=pcie.bytes_per_s(*able),
    )


def card(
    address: str,
    parent: str,
    class_id: int,
    numbers: tuple[int, int],
    name: str,
    *,
    link: Link | None = None,
    node: int = 0,
) -> PciDevice:
    """Return a PCI device; `numbers` are its vendor's and its own."""
    return PciDevice(
        address=address,
        parent=parent,
        class_id=class_id,
        vendor_id=numbers[0],
        device_id=numbers[1],
        name=name,
        numa_node=node,
        link=link,
    )


def cache(
    level: int, size_bytes: int, threads: Iterable[int], ways: int, kind: CacheKind = "unified"
) -> Cache:
    """Return one cache with lines of 64 bytes."""
    return Cache(
        level=level,
        kind=kind,
        size_bytes=size_bytes,
        line_bytes=64,
        ways=ways,
        threads=tuple(sorted(threads)),
    )


def own_caches(
    core: Iterable[int], *, data: tuple[int, int], instruction: tuple[int, int]
) -> Iterator[Cache]:
    """Yield the first level of a core; a pair is size and ways."""
    threads = tuple(core)
    yield cache(1, data[0], threads, data[1], "data")
    yield cache(1, instruction[0], threads, instruction[1], "instruction")


def counts(threads: int) -> CpuCounts:
    """Return the counts of a machine without limits."""
    return CpuCounts(present=threads, online=threads, affinity=threads, cpuset=threads)


def thread(number: int, **places: Any) -> Thread:
    """Return a hardware thread that is online and usable."""
    return Thread(id=number, online=True, usable=True, **places)


def finished(machine: Machine, *reasons: Missing) -> Machine:
    """Return the machine with ceilings, sources, and a reason for everything that it lacks."""
    notes = Notes()
    for reason in reasons:
        notes.lack(reason.what, Reason(reason.why, reason.how))
    parts = (machine.memory, machine.pci, machine.gpus, machine.gpu_links)
    peaks = read_peaks(*parts, notes, machine.cpu)
    plain = to_json(machine)
    for name in plain.keys() - {"format", "version", "fingerprint", "peaks", "sources", "missing"}:
        notes.sources[name] = MADE
    fields = {name: getattr(machine, name) for name in plain}
    fields |= {"peaks": peaks, "sources": dict(sorted(notes.sources.items()))}
    told = Machine(**fields | {"missing": tuple(notes.missing)})
    for what in dict.fromkeys(re.sub(r"\[\d+\]", "[*]", path) for path in unexplained(told)):
        how = _NOTHING if what in _REASONS else _HOW
        notes.lack(what, Reason(_REASONS.get(what, _WHY), how))
    return assemble(fields | {"missing": tuple(notes.missing)})


def text(machine: Machine) -> str:
    """Return the machine as JSON, one line for each of its smaller parts."""
    return _laid_out(to_json(machine), "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    has_parts = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(part, dict | list) for part in value)
    )
    if not has_parts or (indent and len(flat) <= _WIDTH):
        return flat
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{deeper}{json.dumps(k)}: {_laid_out(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    lines = [deeper + _laid_out(part, deeper) for part in value]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]"
