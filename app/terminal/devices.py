"""How are devices told on the page of `coreopsis inspect`: PCIe, disks, networks, ceilings?"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.units import show
from machine import pcie
from machine.devices import Disk, Link, NetworkInterface, PciDevice
from machine.model import Machine, MemoryModule

_NVIDIA = 0x10DE
# What people look for among dozens of devices, by the first 8 or 16 bits of the class.
_WHOLE_CLASSES = {0x02, 0x03, 0x12}  # networks, displays, accelerators
_KINDS = {0x0108, 0x0B40, 0x0C06}  # NVMe, co-processors, InfiniBand
_NVSWITCH = 0x0680


def device_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line."""
    for device in machine.pci:
        if matters(device):
            yield "pcie", pci_line(machine, device)
    shares = sum(device.is_virtual_function for device in machine.pci)
    if shares:
        yield "", f"and {shares} virtual function{'s' * (shares > 1)}: shares of these cards"
    for disk in machine.storage:
        yield "disk", disk_line(disk)
    for interface in machine.network:
        yield "network", network_line(interface)
    yield from ceiling_lines(machine)


def matters(device: PciDevice) -> bool:
    """Is it a GPU, another accelerator, a disk or a network, and a card of its own?"""
    if device.class_id is None or device.is_virtual_function:
        return False
    kind = device.class_id >> 8
    is_nvswitch = kind == _NVSWITCH and device.vendor_id == _NVIDIA
    return kind >> 8 in _WHOLE_CLASSES or kind in _KINDS or is_nvswitch


def pci_line(machine: Machine, device: PciDevice) -> str:
    """Return name, address, link, and what of the way to it is narrower or shared."""
    parts = [f"{device.name or 'unknown device'} at {device.address}"]
    if device.link is None:
        return f"{parts[0]}, link not known"
    parts.append(link_text(device.link))
    peak = pcie.peak_bytes_per_s(machine, device.address)
    if peak:
        parts.append(f"at most {show(peak, 'bytes/s')}")
    hop = pcie.limiting_hop(machine, device.address)
    if hop and hop.link and hop.link.peak_bytes_per_s != device.link.peak_bytes_per_s:
        able = _lanes(*pcie.able(hop.link))
        parts.append(f"limited by {hop.name or 'a bridge'} at {hop.address} ({able})")
    shared = pcie.shared_hop(machine, device.address)
    if shared:
        parts.append(f"sharing the link of {shared.hop.address} with {', '.join(shared.others)}")
    return ", ".join(parts)


def link_text(link: Link) -> str:
    """Return how the link runs now, and what card and slot could do."""
    generation, width = pcie.able(link)
    now, able = _lanes(link.generation, link.width), _lanes(generation, width)
    if not able or (link.generation, link.width) == (generation, width):
        text = now if not able or not width else f"{now} of ×{width}"
    elif not now:
        text = f"could be {able}"
    else:
        text = f"{now} now, could be {able} (links slow down when idle)"
    card = _lanes(link.card_generation, link.card_width)
    slot = _lanes(link.slot_generation, link.slot_width)
    if card and slot and card != slot:
        text += f" (card {card}, slot {slot})"
    return text


def disk_line(disk: Disk) -> str:
    """Return model, kind, size and what its link carries."""
    size = show(disk.size_bytes, "bytes/s").removesuffix("/s") if disk.size_bytes else None
    peak = f"at most {show(disk.peak_bytes_per_s, 'bytes/s')}" if disk.peak_bytes_per_s else None
    name = f"{disk.name}: {disk.model}" if disk.model else disk.name
    return ", ".join(text for text in (name, disk.kind, size, peak) if text)


def network_line(interface: NetworkInterface) -> str:
    """Return name, kind and how fast it runs, or that it is down."""
    peak = interface.peak_bytes_per_s
    state = "down" if interface.is_up is False else "up" if interface.is_up else None
    rate = f"at most {show(peak, 'bytes/s')}" if peak else None
    return ", ".join(text for text in (interface.name, interface.kind, state, rate) if text)


def modules_text(modules: tuple[MemoryModule, ...]) -> str | None:
    """Return the sticks of memory, those of a kind counted together."""
    kinds: dict[str, int] = {}
    for module in modules:
        if module.size_bytes:
            rate = module.transfers_per_s
            words = (
                show(module.size_bytes, "bytes"),
                module.kind,
                f"at {rate / 1e6:g} MT/s" if rate else None,
            )
            text = " ".join(word for word in words if word)
            kinds[text] = kinds.get(text, 0) + 1
    return ", ".join(f"{count} × {text}" for text, count in kinds.items()) or None


def ceiling_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield what GPUs and the links between them could do at best."""
    units = {"bytes_per_s": "bytes/s", "flop_per_s": "flop/s", "op_per_s": "per_s"}
    for index, ceilings in machine.peaks.get("gpus", {}).items():
        told = [
            f"{name.replace('_data_sheet', ' by its data sheet')} {show(entry[key], unit)}"
            for name, entry in ceilings.items()
            for key, unit in units.items()
            if key in entry
        ]
        yield "at best", f"gpu {index}: {', '.join(told)}"
    for pair, entry in machine.peaks.get("nvlink", {}).items():
        yield "at best", f"NVLink {pair}: {show(entry['bytes_per_s'], 'bytes/s')} each way"


def _lanes(generation: int | None, width: int | None) -> str:
    lanes = f"×{width}" if width else ""
    return " ".join(text for text in (f"Gen{generation}" if generation else "", lanes) if text)
