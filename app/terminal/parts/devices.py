"""PCIe devices, disks and networks on the page of `coreopsis inspect`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.terminal.parts.condition import file_system_text
from experiments.core.units import show
from machine.bus import pcie
from machine.devices import Disk, Link, NetworkInterface, PciDevice
from machine.model import Machine, MemoryModule

_NVIDIA = 0x10DE
# What people look for among dozens of devices, by the first 8 or 16 bits of the class.
_WHOLE_CLASSES = {0x02, 0x03, 0x12}  # networks, displays, accelerators
_KINDS = {0x0108, 0x0502, 0x0B40, 0x0C06}  # NVMe, CXL memory, co-processors, InfiniBand
_NVSWITCH = 0x0680


def device_lines(machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line; equal devices share one."""
    cards = [device for device in machine.pci if matters(device)]
    for text, names in _alike((device.address, pci_line(machine, device)) for device in cards):
        yield "pcie", f"{_counted(names)}{text}, at {', '.join(names)}"
    shares = sum(device.is_virtual_function for device in machine.pci)
    if shares:
        yield "", f"and {shares} virtual function{'s' * (shares > 1)}: shares of these cards"
    yield from _shared_lines(machine, cards)
    for text, names in _alike((disk.name, disk_line(disk)) for disk in machine.storage):
        yield "disk", _with_names(names, text)
    for text, names in _alike((net.name, network_line(net)) for net in machine.network):
        yield "network", _with_names(names, text)


def matters(device: PciDevice) -> bool:
    """Is it a GPU, another accelerator, a disk or a network, and a card of its own?"""
    if device.class_id is None or device.is_virtual_function:
        return False
    kind = device.class_id >> 8
    is_nvswitch = kind == _NVSWITCH and device.vendor_id == _NVIDIA
    return kind >> 8 in _WHOLE_CLASSES or kind in _KINDS or is_nvswitch


def pci_line(machine: Machine, device: PciDevice) -> str:
    """Return name, link, and the narrowest hop on the way."""
    name = device.name or "unknown device"
    if device.link is None:
        of_driver = next((g.link for g in machine.gpus if g.pci_address == device.address), None)
        return f"{name}, {link_text(of_driver) if of_driver else 'link not known'}"
    parts = [name, link_text(device.link)]
    peak = pcie.peak_bytes_per_s(machine, device.address)
    if peak:
        parts.append(f"at most {show(peak, 'bytes/s')}")
    hop = pcie.limiting_hop(machine, device.address)
    if hop and hop.link and hop.link.peak_bytes_per_s != device.link.peak_bytes_per_s:
        able = lanes_text(*pcie.able(hop.link))
        parts.append(f"limited by {hop.name or 'a bridge'} at {hop.address} ({able})")
    return ", ".join(parts)


def _shared_lines(machine: Machine, cards: Iterable[PciDevice]) -> Iterator[tuple[str, str]]:
    """Yield each hop that several cards share, with their names."""
    told: set[str] = set()
    for card in cards:
        shared = pcie.shared_hop(machine, card.address)
        if shared and shared.hop.address not in told and shared.hop.link:
            hop = shared.hop
            told.add(hop.address)
            peak = hop.link.peak_bytes_per_s if hop.link else None
            rate = f", {show(peak, 'bytes/s')}" if peak else ""
            users = ", ".join(sorted((card.address, *shared.others)))
            yield "shared", f"{hop.name or 'a bridge'} at {hop.address}{rate}, by {users}"


def link_text(link: Link) -> str:
    """Return how the link runs now, and what card and slot could do."""
    able = pcie.able(link)
    now = lanes_text(link.generation, link.width)
    best = lanes_text(able[0] or link.generation, able[1] or link.width) if any(able) else now
    if now == best or not best:
        text = now
    elif not now:
        text = f"could be {best}"
    else:
        text = f"{now} now, could be {best} ({_why_less(link)})"
    card = lanes_text(link.card_generation, link.card_width)
    slot = lanes_text(link.slot_generation, link.slot_width)
    is_whole = link.card_width or link.card_generation != link.slot_generation
    if card and slot and card != slot and is_whole:
        text += f" (card {card}, slot {slot})"
    return text


def _why_less(link: Link) -> str:
    """Return why the link may run below the best, and what to do."""
    lanes = pcie.able(link)[1]
    if pcie.shortfall(link) == "lanes":
        return f"{link.width} of {lanes} lanes: reseat the card, or the slot shares lanes"
    if link.width and lanes and link.width < lanes:
        return f"{link.width} of {lanes} lanes: the slot may have no more"
    return "links slow down when idle"


def disk_line(disk: Disk) -> str:
    """Return model, kind, size, link rate and file systems, without the name."""
    size = show(disk.size_bytes, "bytes/s").removesuffix("/s") if disk.size_bytes else None
    peak = f"at most {show(disk.peak_bytes_per_s, 'bytes/s')}" if disk.peak_bytes_per_s else None
    worn = f"{disk.wear_fraction:.0%} worn at most" if disk.wear_fraction is not None else None
    systems = map(file_system_text, disk.file_systems)
    return ", ".join(text for text in (disk.model, disk.kind, size, peak, worn, *systems) if text)


def network_line(interface: NetworkInterface) -> str:
    """Return kind and how fast it runs, or that it is down."""
    peak = interface.peak_bytes_per_s
    state = "down" if interface.is_up is False else "up" if interface.is_up else None
    rate = f"at most {show(peak, 'bytes/s')}" if peak else None
    return ", ".join(text for text in (interface.kind, state, rate) if text)


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
    told = ", ".join(f"{count} × {text}" for text, count in kinds.items())
    filled = sum(kinds.values())
    return (
        f"{told} in {filled} of {len(modules)} slots" if 0 < filled < len(modules) else told or None
    )


def lanes_text(generation: int | None, width: int | None) -> str:
    """Return generation and width of a link, as far as they are known."""
    lanes = f"×{width}" if width else ""
    return " ".join(text for text in (f"Gen{generation}" if generation else "", lanes) if text)


def _alike(told: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each distinct text with all names that have it, in order of appearance."""
    names: dict[str, list[str]] = {}
    for name, text in told:
        names.setdefault(text, []).append(name)
    yield from names.items()


def _counted(names: Sequence[str]) -> str:
    return f"{len(names)} × " if len(names) > 1 else ""


def _with_names(names: Sequence[str], text: str) -> str:
    """Return the names, shortened to first and last, and their text."""
    shown = ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"
    return f"{shown}: {_counted(names)}{text}" if text else shown
