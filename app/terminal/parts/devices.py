"""PCIe devices, disks and networks on the page of `coreopsis inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from app.terminal.parts.listed import listed
from experiments.core.units import decimal_bytes, show
from experiments.presentation.grouped import grouped
from machine.bus import pcie
from machine.condition import FileSystem
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
    for text, names in grouped((pci_line(machine, card), card.address) for card in cards).items():
        yield "pcie", f"{_times(names)}{text}, at {', '.join(names)}"
    shares = sum(device.is_virtual_function for device in machine.pci)
    if shares:
        yield "", f"and {shares} virtual function{'s' * (shares > 1)}: shares of these cards"
    yield from _shared_lines(machine, cards)
    disks = grouped((disk_line(disk), disk.name) for disk in machine.storage)
    networks = grouped((network_line(net), net.name) for net in machine.network)
    for label, lines in (("disk", disks), ("network", networks)):
        for text, names in lines.items():
            shown = ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"
            yield label, f"{shown}: {_times(names)}{text}" if text else shown


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
    return listed(
        disk.model,
        disk.kind,
        disk.size_bytes and decimal_bytes(disk.size_bytes),
        disk.peak_bytes_per_s and f"at most {show(disk.peak_bytes_per_s, 'bytes/s')}",
        disk.wear_fraction is not None and f"{disk.wear_fraction:.0%} worn at most",
        *map(_file_system_text, disk.file_systems),
    )


def _file_system_text(system: FileSystem) -> str:
    """Return kind, place and space of a file system."""
    name = " ".join(text for text in (system.kind, f"({system.place})") if text)
    if system.total_bytes is None or system.free_bytes is None:
        return name
    free, total = map(decimal_bytes, (system.free_bytes, system.total_bytes))
    return f"{name} {free} free of {total}"


def network_line(interface: NetworkInterface) -> str:
    """Return kind and how fast it runs, or that it is down."""
    peak = interface.peak_bytes_per_s
    state = {None: None, True: "up", False: "down"}[interface.is_up]
    return listed(interface.kind, state, peak and f"at most {show(peak, 'bytes/s')}")


def modules_text(modules: tuple[MemoryModule, ...]) -> str | None:
    """Return the sticks of memory, those of a kind counted together."""
    kinds: Counter[str] = Counter()
    for module in modules:
        if module.size_bytes:
            size, rate = show(module.size_bytes, "bytes"), module.transfers_per_s
            kinds[listed(size, module.kind, rate and f"at {rate / 1e6:g} MT/s", by=" ")] += 1
    told = ", ".join(f"{count} × {text}" for text, count in kinds.items())
    filled = kinds.total()
    some = f"{told} in {filled} of {len(modules)} slots"
    return some if 0 < filled < len(modules) else told or None


def lanes_text(generation: int | None, width: int | None) -> str:
    """Return generation and width of a link, as far as they are known."""
    return listed(generation and f"Gen{generation}", width and f"×{width}", by=" ")


def _times(names: Sequence[str]) -> str:
    return f"{len(names)} × " if len(names) > 1 else ""
