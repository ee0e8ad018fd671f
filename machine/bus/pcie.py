"""Peak bandwidth of PCIe links, and the narrowest hop on the way to a device.

A hop is the link between a card and the port above it. Its peak is the best that both ends can do
in one direction, after line coding. Packet headers take another 5 to 16 %; larger maximum payloads
take less. The narrowest hop limits the way. Hops are compared by bandwidth, because a narrow fast
link may carry more than a wide slow one.

Source, as of November 2026: PCI Express Base Specification, revisions 1.0 (8b/10b), 3.0 (128b/130b)
and 6.0. FLITs of 6.0 have 256 bytes: 8 are checksum, and 6 correct errors. A speed that is newer
(128 GT/s, of revision 7.0) is of no generation here: its bandwidth is unknown.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec.structs import replace

from machine.devices import Gpu, Link, PciDevice
from machine.model import Machine
from machine.record import Record
from machine.system.linux import to_int

# 1e9 transfers a second, then data bits of coded bits.
_GENERATIONS = {
    1: (2.5, 8, 10),
    2: (5.0, 8, 10),
    3: (8.0, 128, 130),
    4: (16.0, 128, 130),
    5: (32.0, 128, 130),
    6: (64.0, 242, 256),
}
_WIDTHS = frozenset({1, 2, 4, 8, 12, 16, 32})  # the kernel writes 0 or 255 for "unknown"
_BRIDGE = 0x0604
# Broadcom's switches appear as one switch below another of the same kind, but all their ports have
# the full bandwidth. Source: NVIDIA's NCCL, ncclTopoFlattenBcmSwitches.
_SPLIT_SWITCHES = frozenset({(0x1000, 0xC010), (0x1000, 0xC030)})


# So NVIDIA's driver and pci.ids name the GPUs of laptops, whose links nobody can choose.
_BUILT_IN = re.compile(r"Laptop GPU|/ Mobile|Max-Q Design")
_ALIKE = 0.99  # of a rate: less is a different rate

Shortfall = Literal["lanes", "speed"]
Narrow = Literal["lanes", "slot", "unsure", "way"]


class SharedHop(Record):
    """A hop that several cards share; `others` are the cards beside the asked card."""

    hop: PciDevice
    others: tuple[str, ...]


def generation(text: str | None) -> int | None:
    """Return the generation for a speed from /sys: "16.0 GT/s PCIe", "8 GT/s", "Unknown"."""
    match = re.match(r"(\d+(?:\.\d+)?) GT/s", text or "")
    speeds = {speed: number for number, (speed, _, _) in _GENERATIONS.items()}
    return speeds.get(float(match[1])) if match else None


def is_newer(text: str | None) -> bool:
    """Is it a speed from /sys that is above those of all known generations?"""
    match = re.match(r"(\d+(?:\.\d+)?) GT/s", text or "")
    return bool(match and float(match[1]) > max(speed for speed, _, _ in _GENERATIONS.values()))


def width(text: str | None) -> int | None:
    """Return the number of lanes, None if the number stands for "unknown"."""
    lanes = to_int(text)
    return lanes if lanes in _WIDTHS else None


def bytes_per_s(number: int | None, lanes: int | None) -> float | None:
    """Return the peak bandwidth of a link in one direction."""
    if number not in _GENERATIONS or not lanes:
        return None
    speed, data, coded = _GENERATIONS[number]
    return speed * 1e9 * lanes * data / coded / 8


def formula(number: int, lanes: int) -> str:
    """Return the formula that `bytes_per_s` computes."""
    speed, data, coded = _GENERATIONS[number]
    counted = "1 lane" if lanes == 1 else f"{lanes} lanes"
    return f"{speed:g}e9 transfers/s × {counted} × {data}/{coded} (line coding) / 8 bits"


def able(link: Link) -> tuple[int | None, int | None]:
    """Return the best generation and width that both ends of a link support, if known."""
    generations = [g for g in (link.card_generation, link.slot_generation) if g]
    widths = [w for w in (link.card_width, link.slot_width) if w]
    return min(generations, default=None), min(widths, default=None)


def knows_lanes(link: Link) -> bool:
    """Is it known how many lanes the link uses, and how many the slot has, alone or with the card?

    NVML reports only what both ends can do together, which stands in `slot_width`.
    """
    return None not in (link.width, link.slot_width)


def shortfall(link: Link) -> Shortfall | None:
    """Return what a link lacks of what both its ends can do; None if nothing, or not known.

    Both ends agree on lanes once, when the card starts, so that idling takes none away: a contact
    is bad, or the slot shares its lanes. Only the speed is lowered to save power.
    """
    generation, width = able(link)
    if knows_lanes(link) and (link.width or 0) < (width or 0):
        return "lanes"
    if None in (link.generation, link.card_generation, link.slot_generation):
        return None
    return "speed" if (link.generation or 0) < (generation or 0) else None


def card_lanes(link: Link) -> int:
    """Return the lanes of the card; if they are unknown, those of its slot; 0 if both are."""
    return link.card_width or link.slot_width or 0


def is_narrow(link: Link | None) -> bool:
    """Does a card use fewer lanes than it has? Idle cards lower their generation, no lanes."""
    return bool(link and link.width and link.width < card_lanes(link))


def narrowed(machine: Machine, address: str | None, link: Link | None) -> Narrow | None:
    """Return why a card uses fewer lanes than it has; None if that is as it should be.

    Card and slot could do more ("lanes"), the slot has no more ("slot"), or it is unknown
    ("unsure"). The GPU of a laptop has the lanes that were laid to it.
    """
    if link is None or not is_narrow(link):
        return None
    if shortfall(link) == "lanes":
        return "lanes"
    if link.slot_width is None or link.slot_width >= card_lanes(link):
        return "unsure"
    names = (gpu.name or "" for gpu in machine.gpus if gpu.pci_address == address)
    return None if any(map(_BUILT_IN.search, names)) else "slot"


def narrower_way(machine: Machine, address: str, link: Link | None) -> float | None:
    """Return the bandwidth of the path to a card if it is less than that of its own link."""
    way, ceiling = peak_bytes_per_s(machine, address), link.peak_bytes_per_s if link else None
    return way if way and ceiling and way < _ALIKE * ceiling else None


def link_of(machine: Machine, gpu: Gpu) -> Link | None:
    """Return the link of a GPU; the kernel knows more of both ends than the driver."""
    seats = (device.link for device in machine.pci if device.address == gpu.pci_address)
    return next(filter(None, seats), gpu.link)


def narrowed_gpu(machine: Machine, gpu: Gpu, lanes: int | None = None) -> Narrow | None:
    """Return why the link of a GPU, or its path, is narrower than the GPU; `lanes` are seen now."""
    if gpu.c2c_bytes_per_s or gpu.unified_memory or gpu.pci_address is None:
        return None
    link = link_of(machine, gpu)
    seen = link if link is None or lanes is None else replace(link, width=lanes)
    found = narrowed(machine, gpu.pci_address, seen)
    return found or ("way" if narrower_way(machine, gpu.pci_address, link) else None)


def is_bridge(device: PciDevice) -> bool:
    """Is it a bridge to further PCI devices: a root port, or a port of a switch?"""
    return device.class_id is not None and device.class_id >> 8 == _BRIDGE


def way(pci: tuple[PciDevice, ...], address: str | None) -> list[PciDevice]:
    """Return the device and the bridges above it, up to the root complex."""
    known = {device.address: device for device in pci}
    found: list[PciDevice] = []
    while address and (device := known.pop(address, None)):
        found.append(device)
        address = device.parent
    return found


def hops(pci: tuple[PciDevice, ...], address: str | None) -> list[PciDevice]:
    """Return the devices on the way whose link is known and real, nearest first."""
    all_of_it = way(pci, address)
    found = []
    for place, device in enumerate(all_of_it):
        above = all_of_it[place + 1] if place + 1 < len(all_of_it) else None
        kind = device.vendor_id, device.device_id
        is_split = (
            above is not None
            and kind in _SPLIT_SWITCHES
            and kind == (above.vendor_id, above.device_id)
        )
        if device.link and device.link.peak_bytes_per_s and not is_split:
            found.append(device)
    return found


def narrowest(pci: tuple[PciDevice, ...], address: str | None) -> PciDevice | None:
    """Return the device on the way with the slowest link; among equals the nearest one."""
    return min(
        hops(pci, address),
        key=lambda device: (device.link and device.link.peak_bytes_per_s) or 0.0,
        default=None,
    )


def limiting_hop(machine: Machine, address: str) -> PciDevice | None:
    """Return the device whose link limits the way to `address`; None if no link is known."""
    return narrowest(machine.pci, address)


def peak_bytes_per_s(machine: Machine, address: str | None) -> float | None:
    """Return the peak bandwidth from the processor to `address`, in one direction."""
    hop = narrowest(machine.pci, address)
    return hop.link.peak_bytes_per_s if hop and hop.link else None


def shared_hop(machine: Machine, address: str) -> SharedHop | None:
    """Return the first hop on the way that other cards share.

    Functions of the same card always share its link and do not count.
    """
    pci = machine.pci
    on_cards = [d for d in pci if d.link and not is_bridge(d) and not d.is_virtual_function]
    for hop in hops(pci, address):
        others = tuple(
            device.address
            for device in on_cards
            if _card(device.address) != _card(address)
            and hop.address in {d.address for d in way(pci, device.address)}
        )
        if others:
            return SharedHop(hop=hop, others=others)
    return None


def gpu_path(pci: tuple[PciDevice, ...], a: str | None, b: str | None) -> str | None:
    """Return PIX, PXB, PHB, NODE or SYS for two addresses, None if the tree does not show it.

    For GPUs whose driver cannot be asked. Source: the legend of `nvidia-smi topo --matrix`.
    """
    first, second = way(pci, a), way(pci, b)
    if not first or not second or None in (roots := (first[-1].parent, second[-1].parent)):
        return None
    above, others = _off_card(first), _off_card(second)
    common = {bridge.address for bridge in above} & {bridge.address for bridge in others}
    if common:
        # A switch is one port towards the processor, and ports towards the devices below it.
        below = max(sum(d.address not in common for d in bridges) for bridges in (above, others))
        return "PIX" if below <= 1 else "PXB"
    if roots[0] == roots[1]:
        return "PHB"
    nodes = first[0].numa_node, second[0].numa_node
    if None in nodes:
        return None
    return "NODE" if nodes[0] == nodes[1] else "SYS"


def _off_card(devices: list[PciDevice]) -> list[PciDevice]:
    """Return the bridges above the card: some cards of AMD and Intel carry their own switch."""
    maker, above = devices[0].vendor_id, devices[1:]
    while len(above) > 1 and above[0].vendor_id == maker is not None:
        above = above[1:]
    return above


def _card(address: str) -> str:
    return address.rpartition(".")[0]
