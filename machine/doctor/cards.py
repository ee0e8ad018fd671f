"""Evidence about cards: those that could compute and the drivers that hold them.

PCI classes, from the PCI Code and ID Assignment Specification: 0x03 display controllers, 0x12
processing accelerators, 0x0680 other bridges (NVSwitches use it).
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from machine.bus.names import PciNames
from machine.bus.pci import read_pci
from machine.doctor.evidence import AmdDevice, Card, Vendor
from machine.facts import Notes
from machine.gpus.amd import NO_ACCELERATORS, memory_bytes, shares_memory, targets
from machine.gpus.intel import is_supported
from machine.gpus.makers import maker_of
from machine.record import Record
from machine.system.linux import (
    PCI_ADDRESS,
    PCI_DEVICES,
    entries,
    exists,
    link_name,
    read_bytes,
    read_hex,
    read_text,
)

_DISPLAY, _ACCELERATOR, _BRIDGE = 0x03, 0x12, 0x0680
_NVIDIA, _AMD, _INTEL, _MICROSOFT = 0x10DE, 0x1002, 0x8086, 0x1414
VENDORS = {_NVIDIA: Vendor.NVIDIA, _AMD: Vendor.AMD, _INTEL: Vendor.INTEL}


class Bus(Record):
    """The cards, displays and NVSwitches on the PCI bus."""

    cards: tuple[Card, ...]
    displays: tuple[str, ...]
    nvswitches: int


def read_bus(root: Path) -> Bus:
    """Return the cards of a machine. A sleeping card is not woken."""
    cards: list[Card] = []
    displays: list[str] = []
    nvswitches = 0
    shares: Counter[str] = Counter()
    names = PciNames(root)
    links = {device.address: device.link for device in read_pci(root, (), Notes())}
    for address in sorted(filter(PCI_ADDRESS.fullmatch, entries(root / PCI_DEVICES))):
        place = root / PCI_DEVICES / address
        class_id, vendor_id = read_hex(place / "class"), read_hex(place / "vendor")
        if class_id is None or vendor_id in (None, _MICROSOFT):
            continue
        if exists(place / "physfn"):  # a share of a card that is counted itself
            shares[os.path.basename(os.path.realpath(place / "physfn"))] += 1
            continue
        nvswitches += vendor_id == _NVIDIA and class_id >> 8 == _BRIDGE
        device_id = read_hex(place / "device")
        name = names.name(vendor_id, device_id, class_id)
        vendor, maker = VENDORS.get(vendor_id or 0), maker_of(vendor_id, device_id, class_id)
        if maker is not None:  # PyTorch cannot use those without a package, such as NPUs
            product = maker.devices.get(device_id or 0)
            name = f"{maker.name} {product}" if product else name
            if maker.package:
                card = _card(place, class_id, Vendor.OTHER, name, device_id)
                cards.append(replace(card, needs=maker.package))
        elif class_id >> 16 not in (_DISPLAY, _ACCELERATOR):
            continue
        elif vendor is not None and not (vendor is Vendor.AMD and device_id in NO_ACCELERATORS):
            cards.append(_card(place, class_id, vendor, name, device_id))
        else:
            displays.append(name or address)
    cards = [
        replace(card, link=links.get(card.address or ""), shares=shares[card.address or ""])
        for card in cards
    ]
    return Bus(cards=tuple(cards), displays=tuple(displays), nvswitches=nvswitches)


def _card(place: Path, class_id: int, vendor: Vendor, name: str, device_id: int | None) -> Card:
    status = read_text(place / "power/runtime_status")
    nodes = sorted(f"/dev/dri/{n.name}" for n in place.glob("drm/renderD*"))
    # Intel's integrated graphics are on the first bus.
    is_inside = vendor is Vendor.INTEL and place.name.startswith("0000:00:")
    does = computes(name, device_id)
    return Card(
        vendor=vendor,
        name=name,
        address=place.name,
        class_id=class_id,
        device_id=device_id,
        driver=link_name(place / "driver") or "",
        runtime_status=status,
        answers=None if status in ("suspended", "suspending") else _answers(place),
        only_draws=is_inside and not does,
        is_unlisted=vendor is Vendor.INTEL and does is None,
        render_node=nodes[0] if nodes else None,
    )


def computes(name: str, device_id: int | None) -> bool | None:
    """Does PyTorch compute on this card of Intel? It does on some integrated graphics too.

    None for what is newer than known here. A name of the PCI list may lack, so the number counts
    too. Source: https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html
    """
    if "Arc" in name or "Data Center" in name:
        return True
    return False if device_id is None else is_supported(device_id)


def _answers(place: Path) -> bool | None:
    """Return False if vendor and device, the first four bytes, are all ones: nothing answers.

    Source: PCI Local Bus Specification 3.0, section 6.1. Reading wakes a sleeping device.
    """
    start = read_bytes(place / "config", 4) or b""
    return None if len(start) < 4 else start != b"\xff\xff\xff\xff"


def read_amd(root: Path) -> tuple[AmdDevice, ...]:
    """Return the GPUs of AMD's compute driver (KFD)."""
    told = {
        address: memory_bytes(root / PCI_DEVICES / address, is_shared=shares_memory(root, address))
        for address in targets(root)
    }
    return tuple(
        AmdDevice(target=target, total_bytes=told[address][0], used_bytes=told[address][1])
        for address, target in targets(root).items()
    )
