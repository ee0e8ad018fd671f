"""Theoretical peaks of memory, links and GPUs, each with its formula.

No measurement can exceed a peak, and few reach it: memory reaches 75 to 95 %, links 80 to 90 %.
Link rates are for one direction. FLOP/s are dense; data sheets often print twice as much, for
matrices that are half zeros. Each entry is a dict: the value (named by its unit), the formula with
its numbers, and the source of formula and constants.

Reliable data are missing for two kinds of peaks, so they are not computed. FLOP/s of processors
would need their number of units, and their clock under wide vectors. Peaks of AMD's, Intel's and
Apple's GPUs would need better data than AMD's driver has. Its clock and width give up to 1.7 times
too little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from machine.bus import pcie
from machine.devices import Gpu, GpuLink, PciDevice
from machine.facts import Notes, Reason
from machine.gpus.rates import NVIDIA_PAPERS, ORDINARY, flop_per_cycle
from machine.model import Cpu, Memory, MemoryModule
from machine.record import Record

_PCI_SIG = "PCI Express Base Specification; links from "
_LINKS_FROM = "/sys/bus/pci/devices"
_JEDEC = "JEDEC: one transfer moves the data width of the channel"
_MODULE_BITS = 64  # of every module since SDRAM, and of what the table of parts counts as a channel
_TWICE = 2  # double data rate: two transfers per cycle of NVML's memory clock
# Bytes a second of one link in one direction; of newer versions nothing is known here. Source:
# NVIDIA's white papers of P100, V100, A100, H100 and Blackwell, in November 2026; for NVLink 3 on
# GA102 (compute capability 8.6), that chip's.
_NVLINK_BYTES_PER_S = {"1": 20e9, "2": 25e9, "3": 25e9, "4": 25e9, "5": 50e9}
_NVLINK_GA102_BYTES_PER_S = 14.0625e9
NO_DRAM = "It takes the speed of the modules and the number of channels, and not both are known."
_LACKING = {
    "memory": NO_DRAM,
    "pcie": "No PCIe link tells what it could do.",
    "nvlink": "No NVLink with a known version joins two GPUs here.",
    "gpus": "No GPU tells what its ceilings follow from, or of its kind nothing reliable is known.",
    "cpu": "The FLOP/s of a processor follow from units and clocks that the system does not tell.",
}
_HOW = "Measure it, or look the model up in its maker's data sheet."


class Ceiling(Record):
    """A theoretical peak; `source` is that of the formula and its constants."""

    value: float
    unit: Literal["bytes_per_s", "flop_per_s", "op_per_s"] = "bytes_per_s"
    formula: str
    source: str

    def plain(self) -> dict[str, Any]:
        """Return it as a machine's JSON has it."""
        return {self.unit: self.value, "formula": self.formula, "source": self.source}


def read_peaks(
    memory: Memory,
    pci: tuple[PciDevice, ...],
    gpus: tuple[Gpu, ...],
    gpu_links: tuple[GpuLink, ...],
    notes: Notes,
    cpu: Cpu | None = None,
) -> dict[str, Any]:
    """Return the ceilings of all parts, by kind.

    Keys of `pcie` are the addresses of the devices at the lower end. Keys of `nvlink` are the pairs
    of GPUs ("0-1"), keys of `gpus` their indexes; each GPU has `memory` and its precisions.
    """
    dram_ceiling = dram(memory.modules, memory.channels, None if notes.is_virtual else cpu)
    found: dict[str, Any] = {
        "memory": dram_ceiling.plain() if dram_ceiling else {},
        "pcie": _pcie(pci, gpus, notes.sources.get("pci", _LINKS_FROM)),
        "nvlink": {
            f"{link.a}-{link.b}": ceiling.plain()
            for link in gpu_links
            if (ceiling := nvlink(link, _gpu(gpus, link.a)))
        },
        "gpus": {
            str(gpu.index): {name: ceiling.plain() for name, ceiling in ceilings.items()}
            for gpu in gpus
            if (ceilings := gpu_ceilings(gpu))
        },
    }
    for name, why in _LACKING.items():
        if not found.get(name):
            notes.lack(f"peaks.{name}", Reason(why, _HOW))
    kept = {name: ceilings for name, ceilings in found.items() if ceilings}
    if kept:
        notes.sources["peaks"] = "computed; each has its formula and its source"
    else:
        notes.lack("peaks", Reason("Nothing is known that a ceiling follows from.", _HOW))
    return kept


def dram(
    modules: tuple[MemoryModule, ...], channels: int | None, cpu: Cpu | None = None
) -> Ceiling | None:
    """Return channels × transfers a second × bytes a transfer; the slowest module decides.

    `channels` of them hold a module. Those that the processor has count, if they are known: a
    ceiling that sinks with every empty slot would hide what is missing. In a virtual machine `cpu`
    is None: its host shows a processor, and made up the modules.
    """
    filled = [module for module in modules if module.size_bytes != 0]
    speeds = [module.transfers_per_s for module in filled if module.transfers_per_s]
    width = _width_of(modules)
    if not speeds or len(speeds) < len(filled) or width is None:
        return None
    has, told = channels_of(cpu, modules)
    count, source = channels or 0, _JEDEC
    counted = "1 channel" if max(count, has) == 1 else f"{max(count, has)} channels"
    if has > count:
        source = f"{_JEDEC}; channels: {told}"
        counted += f" ({count} with a module)" if count else ""
    if not (count := max(count, has)):
        return None
    return Ceiling(
        value=count * min(speeds) * width / 8,
        formula=f"{counted} × {min(speeds) / 1e6:g}e6 transfers/s × {width} bits / 8",
        source=source,
    )


def channels_of(cpu: Cpu | None, modules: Sequence[MemoryModule]) -> tuple[int, str]:
    """Return how many channels of such modules the processors have, and the source of that.

    No more than slots: the board may lead out fewer than the processor has. 0 if unknown.
    """
    from machine.parts import processor_facts

    facts = processor_facts(cpu.model) if cpu else None
    if cpu is None or facts is None or facts.channels is None:
        return 0, ""
    bits = facts.channels * (cpu.packages or 1) * _MODULE_BITS
    return min(bits // (_width_of(modules) or _MODULE_BITS), len(modules)), facts.sources[
        "channels"
    ]


def _width_of(modules: Sequence[MemoryModule]) -> int | None:
    """Return the bits that each module moves at once; None if they differ."""
    told = {module.data_bits or _MODULE_BITS for module in modules if module.size_bytes != 0}
    return told.pop() if len(told) == 1 else None


def _pcie(pci: tuple[PciDevice, ...], gpus: tuple[Gpu, ...], links_from: str) -> dict[str, Any]:
    """Return the ceilings of each device's link; a GPU's driver may know what the kernel hides."""
    found = {device.address: way(pci, device, links_from) for device in pci if _has_peak(device)}
    for gpu in gpus:
        if gpu.pci_address and gpu.link and gpu.pci_address not in found:
            own = way(pci, PciDevice(address=gpu.pci_address, link=gpu.link), links_from)
            if own:
                found[gpu.pci_address] = own
    return found


def way(
    pci: tuple[PciDevice, ...], device: PciDevice, links_from: str = _LINKS_FROM
) -> dict[str, Any]:
    """Return the ceilings of the device's own link and of the way from the processor."""
    link = device.link
    generation, width = pcie.able(link) if link else (None, None)
    if link is None or link.peak_bytes_per_s is None or generation is None or width is None:
        return {}
    own = Ceiling(
        value=link.peak_bytes_per_s,
        formula=pcie.formula(generation, width),
        source=f"{_PCI_SIG}{links_from}",
    )
    hop = pcie.narrowest(pci, device.address)
    peak = hop.link.peak_bytes_per_s if hop and hop.link else None
    if hop is None or peak is None or own.value <= peak:
        hop, peak = device, own.value
    return {**own.plain(), "way_bytes_per_s": peak, "limiting_hop": hop.address}


def nvlink(pair: GpuLink, gpu: Gpu | None) -> Ceiling | None:
    """Return the peak of all NVLinks between two GPUs, in one direction.

    Not from NVML: it reports the signal rate, up to 6 % above the white papers.
    """
    version = (pair.nvlink_version or "").partition(".")[0]
    each = _NVLINK_BYTES_PER_S.get(version)
    if version == "3" and gpu and gpu.compute_capability == "8.6":
        each = _NVLINK_GA102_BYTES_PER_S
    if each is None or not pair.nvlinks:
        return None
    return Ceiling(
        value=pair.nvlinks * each,
        formula=f"{pair.nvlinks} links × {each / 1e9:g}e9 bytes/s",
        source=NVIDIA_PAPERS,
    )


def gpu_ceilings(gpu: Gpu) -> dict[str, Ceiling]:
    """Return the ceilings of the GPU's memory and of its arithmetic, by precision.

    Empty with MIG: the driver does not report the share of memory and units of a slice.
    """
    return {} if gpu.mig else dict(_gpu_ceilings(gpu))


def _gpu_ceilings(gpu: Gpu) -> Iterator[tuple[str, Ceiling]]:
    from machine.parts import gpu_facts

    hertz, bits = gpu.memory_clock_hz, gpu.memory_bus_bits
    if gpu.vendor == "NVIDIA" and hertz and bits and not gpu.unified_memory:
        yield (
            "memory",
            Ceiling(
                value=_TWICE * hertz * bits / 8,
                formula=f"2 × {hertz / 1e6:g}e6 Hz × {bits} bits / 8",
                source="double data rate; clock and width from NVIDIA's driver",
            ),
        )
    facts = gpu_facts(gpu.name)
    for precision, per_cycle in flop_per_cycle(gpu.compute_capability, gpu.name).items():
        if gpu.sms and gpu.sm_clock_hz:
            highest = "the highest clock the driver allows"
            yield precision, _arithmetic(precision, per_cycle, gpu.sms, gpu.sm_clock_hz, highest)
        rated_hz = facts.data_sheet_hz if facts else None
        if gpu.sms and rated_hz and precision not in ORDINARY:
            yield (
                f"{precision}_data_sheet",
                _arithmetic(precision, per_cycle, gpu.sms, rated_hz, "the clock of the data sheet"),
            )


def _arithmetic(precision: str, per_cycle: int, sms: int, hertz: float, which: str) -> Ceiling:
    return Ceiling(
        value=sms * per_cycle * hertz,
        unit="op_per_s" if precision == "int8" else "flop_per_s",
        formula=f"{sms} SMs × {per_cycle} a cycle × {hertz / 1e6:g}e6 Hz ({which})",
        source=NVIDIA_PAPERS,
    )


def _has_peak(device: PciDevice) -> bool:
    is_card = not device.is_virtual_function  # it shares the card's link
    return is_card and bool(device.link and device.link.peak_bytes_per_s)


def _gpu(gpus: tuple[Gpu, ...], index: int) -> Gpu | None:
    return next((gpu for gpu in gpus if gpu.index == index), None)
