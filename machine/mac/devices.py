"""Memory modules, PCI devices and disks of a Mac, as system_profiler lists them.

Sources: answers that people published, named in the recorded ones of the tests; Apple documents
neither keys nor values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from machine.bus import pcie
from machine.bus.names import PciNames
from machine.devices import Disk, Link, PciDevice
from machine.facts import Facts, Notes, Reason, Unanswered, lacking, note
from machine.model import MemoryModule
from machine.record import names
from machine.system.linux import to_int

_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_KINDS = re.compile(r"(LP)?DDR[1-9]?X?")
_PCI_SAID = "system_profiler SPPCIDataType"
_HOW_PCI = f"{_PCI_SAID}, or System Information, PCI."
_NO_ANSWER = Reason("system_profiler did not answer, or not in JSON.", "system_profiler -json")
_NO_PCI = Reason("macOS lists no PCI cards; what is built into the Mac it leaves out.", _HOW_PCI)
_UNTOLD_PCI = {
    "parent": "macOS does not tell which bridge the card is on.",
    "class_id": "macOS does not tell the number of the card's class.",
    "vendor_id": "macOS does not tell the number of the maker.",
    "device_id": "macOS does not tell the number of the device.",
    "name": "macOS has no name for the card.",
    "numa_node": "macOS names no memory nodes.",
}
_NO_LINK = Reason("macOS tells no link of it.", _HOW_PCI)
_NO_END = Reason("macOS tells how the link runs, not what its ends could do.", _HOW_PCI)
_HOW_DISKS = "System Information, Storage, or diskutil list"
_NO_DISKS = Reason("system_profiler lists no NVMe or SATA disk.", _HOW_DISKS)
_DISK_UNTOLD = {
    "kind": Reason("system_profiler does not tell whether the disk turns.", _HOW_DISKS),
    "model": Reason("system_profiler names no model.", _HOW_DISKS),
    "size_bytes": Reason("system_profiler tells no size.", _HOW_DISKS),
    "pci_address": Reason("macOS does not tell on which PCI device the disk is.", _HOW_DISKS),
    "peak_bytes_per_s": Reason(
        "macOS does not tell what the link of this disk could carry.",
        "Measure how fast a large file is read.",
    ),
    "wear_fraction": Reason(
        "macOS tells whether a disk is sound, not how worn it is.", "smartmontools, from Homebrew."
    ),
    "file_systems": Reason("Which volumes are on which disk is not read on macOS.", _HOW_DISKS),
}
_BUSES = {"SPNVMeDataType": ("nvme", "pcie"), "SPSerialATADataType": (None, "sata")}


def read_profile(text: str) -> Mapping[str, Any]:
    """Return the lists of entries by type. Raises Unanswered if it is no such answer."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise Unanswered(_NO_ANSWER) from None
    if not isinstance(told, dict):
        raise Unanswered(_NO_ANSWER)
    return told


def listed(told: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a type, and those within them."""
    unseen = [told.get(kind)]
    while unseen:
        entry = unseen.pop(0)
        if isinstance(entry, list):
            unseen = [*entry, *unseen]
        elif isinstance(entry, dict):
            yield entry
            unseen = [entry.get("_items"), *unseen]


def text(entry: Mapping[str, Any], key: str) -> str:
    """Return a value that is text, "" if there is none."""
    value = entry.get(key)
    return value.strip() if isinstance(value, str) else ""


def read_modules(told: Mapping[str, Any]) -> tuple[MemoryModule, ...]:
    """Return the modules of a Mac that has slots; memory on the chip is one module without slot."""
    found = []
    for entry in listed(told, "SPMemoryDataType"):
        size = text(entry, "dimm_size") or text(entry, "SPMemoryDataType")
        if not size:
            continue
        is_empty = size.lower() == "empty"
        kind = re.sub(r"[ _]", "", text(entry, "dimm_type")).upper()
        speed = re.match(r"(\d+) (?:MHz|MT/s)", text(entry, "dimm_speed"))
        maker = text(entry, "dimm_manufacturer")
        part = text(entry, "dimm_part_number")
        found.append(
            MemoryModule(
                slot=text(entry, "_name") or None,
                maker=None if maker.startswith("0x") or is_empty else maker or None,
                part_number=_decoded(part) or None,
                kind=kind if _KINDS.fullmatch(kind) else None,
                size_bytes=0 if is_empty else size_bytes(size),
                # What macOS calls MHz of a module are transfers: 2667 MHz for DDR4-2667.
                transfers_per_s=(to_int(speed[1]) or 0) * 1e6 or None if speed else None,
            )
        )
    return tuple(found)


def _decoded(part: str) -> str:
    """Return a part number, which macOS writes as letters or as their codes: 0x4D3431..."""
    if not re.fullmatch(r"0x(?:[0-9A-Fa-f]{2})+", part):
        return "" if part == "-" else part
    letters = bytes.fromhex(part[2:]).decode("latin-1").strip(" \0")
    return letters if letters.isprintable() else ""


def size_bytes(said: str) -> int | None:
    """Return the bytes of "8 GB", counted in powers of two, as memory is."""
    size = re.fullmatch(r"(\d{1,6}) (KB|MB|GB|TB)", said)
    return (to_int(size[1]) or 0) * _UNITS[size[2]] if size else None


def read_pci(
    told: Mapping[str, Any] | Reason, pci_names: PciNames, notes: Notes
) -> tuple[PciDevice, ...]:
    """Return the cards, ordered by address; macOS leaves out what is built in."""
    if isinstance(told, Reason):
        return notes.found("pci", (), "", told)
    found = {}
    for entry in listed(told, "SPPCIDataType"):
        device = _pci_device(entry, pci_names)
        if device is not None:
            found[device.address] = device
    devices = tuple(device for _, device in sorted(found.items()))
    notes.found("pci", devices, _PCI_SAID, _NO_PCI)
    if devices:
        notes.sources["pci[*].name"] = f"{_PCI_SAID}; {pci_names.source}"
    notes.missing += lacking(
        "pci[*]", devices, {name: Reason(why, _HOW_PCI) for name, why in _UNTOLD_PCI.items()}
    )
    links = [device.link for device in devices if device.link]
    if len(links) < len(devices):
        notes.lack("pci[*].link", _NO_LINK)
    notes.missing += lacking("pci[*].link", links, dict.fromkeys(names(Link), _NO_END))
    return devices


def _pci_device(entry: Mapping[str, Any], pci_names: PciNames) -> PciDevice | None:
    place = re.search(r"@(\d{1,3}),(\d{1,2}),([0-7])", text(entry, "sppci_slot_name"))
    if place is None:
        return None
    bus, number, function = (int(digits) for digits in place.groups())
    if bus > 0xFF or number > 31:
        return None
    vendor_id, device_id = (_hex(text(entry, f"sppci_{what}-id")) for what in ("vendor", "device"))
    named = text(entry, "sppci_model") or pci_names.name(vendor_id, device_id, None)
    own = text(entry, "_name")
    if not named and not own.startswith("pci"):  # "pci144d,a808" only repeats the numbers
        named = own
    link = Link(
        generation=pcie.generation(text(entry, "sppci_link-speed")),
        width=pcie.width(text(entry, "sppci_link-width").removeprefix("x")),
    )
    has_link = link.generation is not None or link.width is not None
    return PciDevice(
        address=f"0000:{bus:02x}:{number:02x}.{function}",
        vendor_id=vendor_id,
        device_id=device_id,
        name=named or None,
        link=link if has_link else None,
    )


def _hex(said: str) -> int | None:
    return int(said, 16) if re.fullmatch(r"0x[0-9a-fA-F]{4}", said) else None


def read_storage(told: Mapping[str, Any] | Reason, notes: Notes) -> tuple[Disk, ...]:
    """Return the disks at NVMe and SATA controllers, in the order of system_profiler."""
    if isinstance(told, Reason):
        return notes.found("storage", (), "", told)
    found = [
        _disk(entry, kind) for kind in _BUSES for entry in listed(told, kind) if _is_disk(entry)
    ]
    note(found, "storage", (name for name in names(Disk) if name != "name"), notes)
    disks = tuple(Disk(**facts.values) for facts in found)
    source = "system_profiler SPNVMeDataType SPSerialATADataType"
    return notes.found("storage", disks, source, _NO_DISKS)


def _is_disk(entry: Mapping[str, Any]) -> bool:
    return bool(
        text(entry, "bsd_name") and (text(entry, "device_model") or "size_in_bytes" in entry)
    )


def _disk(entry: Mapping[str, Any], where: str) -> Facts:
    facts, source = Facts(), f"system_profiler {where}"
    kind, transport = _BUSES[where]
    facts.values["name"] = text(entry, "bsd_name")
    size = entry.get("size_in_bytes")
    medium = text(entry, "spsata_medium_type").lower()
    if kind is None and medium:
        kind = "ssd" if "solid" in medium or "ssd" in medium else "hdd"
    facts.keep("transport", transport, source)
    for name, value in (
        ("kind", kind),
        ("model", " ".join(text(entry, "device_model").split()) or None),
        ("size_bytes", size if isinstance(size, int) and size > 0 else None),
    ):
        facts.found(name, value, source, _DISK_UNTOLD[name])
    for name, reason in _DISK_UNTOLD.items():
        facts.lack(name, reason)
    return facts
