r"""PCI devices, disks and network cards, as the registry of devices on Windows lists them.

A device has a path such as PCI\VEN_10DE&DEV_2786&SUBSYS_...\4&1D81E16&0&0008, and its parent's path
leads up to the root complex. Properties give bus, number and link; the present speed of a link may
be lower, because idle links slow down.

Sources: Microsoft's documentation of PCI device identifiers, DEVPKEY_PciDevice_* (pciprop.h),
STORAGE_DEVICE_DESCRIPTOR, DEVICE_SEEK_PENALTY_DESCRIPTOR and DISK_GEOMETRY_EX.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from machine.bus import pcie
from machine.devices import Disk, Link, NetworkInterface, PciDevice
from machine.facts import Facts, Notes, Reason, lacking, note
from machine.model import NumaNode
from machine.record import names
from machine.windows.answers import Device, Drive

_REGISTRY = "Windows's registry of devices"
_HOW = "Device Manager, the device's properties, Details."
_HOW_PCI = "Get-PnpDevice -PresentOnly -InstanceId 'PCI*' in PowerShell."
_HOW_DISKS = "Get-PhysicalDisk in PowerShell."
_HOW_NETWORK = "Get-NetAdapter in PowerShell."
_NO_PCI = Reason("Windows lists no PCI devices.", _HOW_PCI)
_UNTOLD_PCI = {
    "parent": "Windows does not tell which device is above it.",
    "class_id": "Windows does not tell the device's class.",
    "name": "Windows has no name for the device.",
    "numa_node": "Windows does not tell which memory is near to it.",
}
_NO_LINK = Reason(
    "What is built into the processor or the chipset has no link of its own, a bridge has it "
    "below, or its driver does not tell it.",
    _HOW,
)
_NO_END = Reason("Windows does not tell what this end of the link could do.", _HOW)
_VIRTUAL_FUNCTION = "Windows lists a virtual function under its hypervisor, not here"

# STORAGE_BUS_TYPE of ntddstor.h, as this program names the bus.
_BUSES = {
    **{3: "sata", 6: "network", 7: "usb", 9: "network", 10: "sas", 11: "sata", 12: "mmc"},
    **{13: "mmc", 14: "host", 15: "host", 17: "pcie", 18: "memory"},
}
_NVME, _SCSI, _RAID = 17, 1, 8
_ASKED = "IOCTL_STORAGE_QUERY_PROPERTY"
_NO_DISKS = Reason("Windows showed no disk to this program.", _HOW_DISKS)
_KIND = Reason("Neither bus nor driver tells whether the disk turns.", _HOW_DISKS)
_TRANSPORT = Reason("Its driver names no bus that is known here.", _HOW_DISKS)
_MODEL = Reason("Its driver names no model.", _HOW_DISKS)
_SIZE = Reason("Its driver tells no size.", _HOW_DISKS)
_ON_NO_PCI = Reason("Nothing tells on which PCI device the disk is.", _HOW)
_NO_PEAK = Reason(
    "Windows does not tell what the link of this disk could carry.",
    "Measure how fast a large file is read.",
)
_NO_WEAR = Reason(
    "Only an administrator may ask a disk on Windows for its wear.",
    "Get-PhysicalDisk | Get-StorageReliabilityCounter in PowerShell, as administrator.",
)
_NO_FILE_SYSTEMS = Reason(
    "Which file systems are on which disk is not read on Windows.", "Get-Partition in PowerShell."
)
_NO_NETWORK = Reason("Windows lists no network card on PCI or USB.", _HOW_NETWORK)
_NOT_STATE = Reason("The registry of devices does not tell the state of a link.", _HOW_NETWORK)
_NOT_KIND = Reason("Its place in the registry does not tell what kind it is.", _HOW_NETWORK)
_ON_USB = Reason("It does not hang on PCI.", _HOW)
_NETWORK_KINDS = {0x0200: "ethernet", 0x0207: "infiniband", 0x0280: "wifi", 0x0D80: "wifi"}


def read_pci(
    devices: Sequence[Device], numa: Sequence[NumaNode], notes: Notes
) -> tuple[PciDevice, ...]:
    """Return the PCI devices that are present, ordered by address."""
    by_id = {each.id.upper(): each for each in devices}
    found = [
        replace(device, link=_link(each, by_id.get((each.parent or "").upper())))
        for each in devices
        if (device := _pci_device(each, by_id)) is not None
    ]
    found.sort(key=lambda device: device.address)
    if len(numa) == 1 and not any(device.numa_node for device in found):
        found = [replace(device, numa_node=numa[0].id) for device in found]
        notes.sources["pci[*].numa_node"] = "the only memory node there is"
    notes.found("pci", tuple(found), _REGISTRY, _NO_PCI)
    if found:
        notes.sources["pci[*].is_virtual_function"] = _VIRTUAL_FUNCTION
    notes.missing += lacking(
        "pci[*]", found, {name: Reason(why, _HOW) for name, why in _UNTOLD_PCI.items()}
    )
    links = [device.link for device in found if device.link]
    if len(links) < len(found):
        notes.lack("pci[*].link", _NO_LINK)
    notes.missing += lacking("pci[*].link", links, dict.fromkeys(names(Link), _NO_END))
    return tuple(found)


def _address(device: Device | None) -> str | None:
    if device is None or device.bus is None or device.address is None:
        return None
    number, function = device.address >> 16, device.address & 0xFFFF
    if number > 31 or function > 7:
        return None
    return f"{device.bus >> 8:04x}:{device.bus & 0xFF:02x}:{number:02x}.{function}"


def _pci_device(device: Device, by_id: Mapping[str, Device]) -> PciDevice | None:
    numbers = re.match(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", device.id, re.I)
    address = _address(device)
    if numbers is None or address is None:
        return None
    above = (device.parent or "").upper()
    parent = _address(by_id.get(above))
    if parent is None and above and not above.startswith("PCI\\"):
        parent = f"pci{address[:4]}:{address[5:7]}"
    return PciDevice(
        address=address,
        parent=parent,
        class_id=_class(device),
        vendor_id=int(numbers[1], 16),
        device_id=int(numbers[2], 16),
        name=_name(device),
        numa_node=device.numa_node,
    )


def _name(device: Device) -> str | None:
    return device.friendly_name or device.description


def _class(device: Device) -> int | None:
    r"""Return the class with its 24 bits from identifiers such as PCI\CC_030000."""
    for text in (*device.hardware_ids, *device.compatible_ids):
        if found := re.search(r"(?<=[\\&])CC_([0-9A-F]{6})$", text, re.I):
            return int(found[1], 16)
    return None


def _link(device: Device, bridge: Device | None) -> Link | None:
    """Return the link between the device and the bridge above it, which is the slot."""
    told = (device.link_generation, device.link_width, device.most_generation, device.most_width)
    if bridge is None or not any(told):
        return None
    link = Link(
        generation=device.link_generation or None,
        width=device.link_width or None,
        card_generation=device.most_generation or None,
        card_width=device.most_width or None,
        slot_generation=bridge.most_generation or None,
        slot_width=bridge.most_width or None,
    )
    return replace(link, peak_bytes_per_s=pcie.bytes_per_s(*pcie.able(link)))


def read_storage(
    drives: Sequence[Drive],
    disks: Sequence[Device],
    controllers: Sequence[Device],
    pci: tuple[PciDevice, ...],
    notes: Notes,
) -> tuple[Disk, ...]:
    """Return the disks by number; `disks` and `controllers` show on which PCI device each is."""
    by_id = {each.id.upper(): _address(each) for each in controllers}
    found = [_disk(drive, disks, by_id, pci) for drive in drives]
    note(found, "storage", (name for name in names(Disk) if name != "name"), notes)
    storage = tuple(Disk(**facts.values) for facts in found)
    return notes.found("storage", storage, r"\\.\PhysicalDrive*", _NO_DISKS)


def _disk(
    drive: Drive,
    disks: Sequence[Device],
    by_id: Mapping[str, str | None],
    pci: tuple[PciDevice, ...],
) -> Facts:
    facts = Facts()
    facts.values["name"] = f"PhysicalDrive{drive.number}"
    bus, model = _descriptor(drive.descriptor)
    size_bytes = _unpacked("<q", drive.geometry, 24)
    facts.found("model", model, _ASKED, _MODEL)
    facts.found("size_bytes", size_bytes or None, "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX", _SIZE)
    address = _controller(model, disks, by_id)
    is_nvme = bus == _NVME
    if bus in (_SCSI, _RAID):  # so drivers name a bus of their own, Intel's of NVMe too
        controller = next((device for device in pci if device.address == address), None)
        is_nvme = controller is not None and (controller.class_id or 0) >> 8 == 0x0108
    transport = "pcie" if is_nvme else _BUSES.get(bus or 0)
    facts.found("transport", transport, f"{_ASKED}: STORAGE_BUS_TYPE", _TRANSPORT)
    facts.found("pci_address", address, f"{_REGISTRY}: the controller above the disk", _ON_NO_PCI)
    turns = _unpacked("<?", drive.seek_penalty, 8)
    kind: str | None = None if turns is None or transport == "usb" else "hdd" if turns else "ssd"
    if is_nvme:
        kind = "nvme"
    elif transport in ("host", "mmc", "memory"):
        kind = {"host": "virtual", "mmc": "card", "memory": "persistent memory"}[transport]
    facts.found("kind", kind, f"{_ASKED}: STORAGE_BUS_TYPE, DEVICE_SEEK_PENALTY_DESCRIPTOR", _KIND)
    hop = pcie.narrowest(pci, address) if is_nvme else None
    peak = hop.link.peak_bytes_per_s if hop and hop.link else None
    source = f"the PCIe link of {hop.address}" if hop else ""
    facts.found("peak_bytes_per_s", peak, source, _NO_PEAK)
    facts.lack("wear_fraction", _NO_WEAR)
    facts.lack("file_systems", _NO_FILE_SYSTEMS)
    return facts


def _descriptor(data: bytes) -> tuple[int | None, str | None]:
    """Return bus and model of a STORAGE_DEVICE_DESCRIPTOR; it also holds a serial number."""
    told = [
        data[at:].partition(b"\0")[0].decode("latin-1").strip()
        for place in (12, 16)
        if (at := _unpacked("<I", data, place)) and at < len(data)
    ]
    return _unpacked("<I", data, 28), " ".join(filter(None, told)) or None


def _unpacked(form: str, data: bytes, place: int) -> Any:
    try:
        return struct.unpack_from(form, data, place)[0]
    except struct.error:
        return None


def _controller(
    model: str | None, disks: Sequence[Device], by_id: Mapping[str, str | None]
) -> str | None:
    """Return the PCI device above the disk of that model; None if there are two of them."""
    found = {
        disk.id: by_id.get((disk.parent or "").upper())
        for disk in disks
        if model and (disk.friendly_name or "").strip().endswith(model)
    }
    return next(iter(found.values())) if len(found) == 1 else None


def read_network(
    networks: Sequence[Device], pci: Sequence[Device], notes: Notes
) -> tuple[NetworkInterface, ...]:
    """Return the network cards on PCI and USB by name; adapters that are only software are not."""
    classes = {each.id.upper(): _class(each) for each in pci}
    found = []
    for each in sorted(networks, key=lambda device: (_name(device) or "", device.id)):
        if not each.id.upper().startswith(("PCI\\", "USB\\")):
            continue
        facts = Facts()
        facts.values["name"] = _name(each) or each.id.partition("&SUBSYS")[0]
        kind = _NETWORK_KINDS.get((classes.get(each.id.upper()) or 0) >> 8)
        facts.found("kind", kind, f"{_REGISTRY}: the class of its PCI device", _NOT_KIND)
        facts.found("pci_address", _address(each), _REGISTRY, _ON_USB)
        for name in ("is_up", "peak_bytes_per_s"):
            facts.lack(name, _NOT_STATE)
        found.append(facts)
    note(found, "network", (name for name in names(NetworkInterface) if name != "name"), notes)
    interfaces = tuple(NetworkInterface(**facts.values) for facts in found)
    return notes.found("network", interfaces, _REGISTRY, _NO_NETWORK)
