"""Evidence about cards: those that could compute and the drivers that hold them.

PCI classes, from the PCI Code and ID Assignment Specification: 0x03 display controllers, 0x12
processing accelerators, 0x0680 other bridges (NVSwitches use it).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from machine.bus.names import PciNames
from machine.bus.pci import read_pci
from machine.doctor.evidence import AmdDevice, Card, Vendor
from machine.facts import Notes
from machine.gpus.amd import NO_ACCELERATORS, targets
from machine.gpus.makers import maker_of
from machine.record import record
from machine.system.linux import (
    PCI_ADDRESS,
    PCI_DEVICES,
    entries,
    read_bytes,
    read_hex,
    read_int,
    read_text,
)

_DISPLAY, _ACCELERATOR, _BRIDGE = 0x03, 0x12, 0x0680
_NVIDIA, _AMD, _INTEL, _MICROSOFT = 0x10DE, 0x1002, 0x8086, 0x1414
VENDORS = {_NVIDIA: Vendor.NVIDIA, _AMD: Vendor.AMD, _INTEL: Vendor.INTEL}


@record
class Bus:
    """The cards, displays and NVSwitches on the PCI bus."""

    cards: tuple[Card, ...]
    displays: tuple[str, ...]
    nvswitches: int


def read_bus(root: Path) -> Bus:
    """Return the cards of a machine. A sleeping card is not woken."""
    cards: list[Card] = []
    displays: list[str] = []
    nvswitches = 0
    names = PciNames(root)
    links = {device.address: device.link for device in read_pci(root, (), Notes())}
    for address in sorted(filter(PCI_ADDRESS.fullmatch, entries(root / PCI_DEVICES))):
        place = root / PCI_DEVICES / address
        class_id, vendor_id = read_hex(place / "class"), read_hex(place / "vendor")
        if class_id is None or vendor_id in (None, _MICROSOFT):
            continue
        nvswitches += vendor_id == _NVIDIA and class_id >> 8 == _BRIDGE
        device_id = read_hex(place / "device")
        name = names.name(vendor_id, device_id, class_id)
        vendor, maker = VENDORS.get(vendor_id or 0), maker_of(vendor_id, device_id, class_id)
        if maker is not None:  # PyTorch cannot use those without a package, such as NPUs
            product = maker.devices.get(device_id or 0)
            name = f"{maker.name} {product}" if product else name
            if maker.package:
                cards.append(_card(place, class_id, Vendor.OTHER, name, needs=maker.package))
        elif class_id >> 16 not in (_DISPLAY, _ACCELERATOR):
            continue
        elif vendor is not None and not (vendor is Vendor.AMD and device_id in NO_ACCELERATORS):
            cards.append(_card(place, class_id, vendor, name))
        else:
            displays.append(name or address)
    cards = [replace(card, link=links.get(card.address or "")) for card in cards]
    return Bus(cards=tuple(cards), displays=tuple(displays), nvswitches=nvswitches)


def _card(
    place: Path, class_id: int, vendor: Vendor, name: str, *, needs: str | None = None
) -> Card:
    status = read_text(place / "power/runtime_status")
    nodes = sorted(f"/dev/dri/{n.name}" for n in place.glob("drm/renderD*"))
    # Intel's integrated graphics are on the first bus.
    is_inside = vendor is Vendor.INTEL and place.name.startswith("0000:00:")
    return Card(
        vendor=vendor,
        name=name,
        address=place.name,
        class_id=class_id,
        driver=_driver(place),
        runtime_status=status,
        answers=None if status in ("suspended", "suspending") else _answers(place),
        only_draws=is_inside and not computes(name),
        render_node=nodes[0] if nodes else None,
        needs=needs,
    )


def computes(name: str) -> bool:
    """Does PyTorch compute on this card of Intel? It does on some integrated graphics too.

    Source: https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html
    """
    return "Arc" in name or "Data Center" in name


def _driver(place: Path) -> str:
    try:
        return os.path.basename(os.readlink(place / "driver"))
    except OSError:
        return ""


def _answers(place: Path) -> bool | None:
    """Return False if vendor and device, the first four bytes, are all ones: nothing answers.

    Source: PCI Local Bus Specification 3.0, section 6.1. Reading wakes a sleeping device.
    """
    start = read_bytes(place / "config", 4) or b""
    return None if len(start) < 4 else start != b"\xff\xff\xff\xff"


def read_amd(root: Path) -> tuple[AmdDevice, ...]:
    """Return the GPUs of AMD's compute driver (KFD)."""
    places = {root / PCI_DEVICES / address: target for address, target in targets(root).items()}
    return tuple(
        AmdDevice(
            target=target,
            total_bytes=read_int(place / "mem_info_vram_total"),
            used_bytes=read_int(place / "mem_info_vram_used"),
        )
        for place, target in places.items()
    )
