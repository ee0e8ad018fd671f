"""Disks: their kind, size and connection.

Only devices are listed: no partitions, loop devices, RAM disks, or volumes made of other disks.
Disks of a virtual machine are of the kind "virtual", because their real kind is unknown.

Source: Documentation/ABI/stable/sysfs-block of the kernel.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from machine.bus import pcie
from machine.devices import Disk, PciDevice
from machine.facts import Facts, Notes, Reason, note
from machine.record import Record, names
from machine.storage.file_systems import mounts_by_disk, read_file_systems, read_wear
from machine.system.linux import device_path, entries, exists, pci_addresses, read_int, read_text

_FOLDER = "sys/class/block"
_SECTOR_BYTES = 512  # the unit of `size` for every disk
# Optical drives, floppies, boot areas of memory cards, and further paths to a listed disk.
_NO_DISK = re.compile(r"(sr|fd|nbd|mtdblock)\d+|mmcblk\d+(boot\d+|rpmb|gp\d+)|nvme\d+c\d+n\d+")
_HOSTS_OWN = ("/virtio", "/vbd-", "/VMBUS", "/vmbus")
_VIRTUAL_MAKERS = {"QEMU", "VMware", "VBOX", "Msft", "Google", "Nutanix", "BHYVE"}
_NVME_LINKS = {"pcie": "pcie", "tcp": "network", "rdma": "network", "fc": "network"}
# Serial ATA codes 8 bits as 10. Source: Serial ATA revision 3, 6 Gb/s are 600 MB/s.
_SATA_CODING = 8 / 10

_NONE = Reason("No disk is in sight below /sys.", "lsblk, on the machine itself.")
_USB_KIND = Reason(
    why="USB adapters seldom pass on whether what they carry turns.",
    how="lsblk --output NAME,MODEL,TRAN, then the maker's data sheet.",
)
_KIND = Reason(why="The kernel does not say whether it turns.", how="lsblk --output NAME,ROTA,TRAN")
_TRANSPORT = Reason(why="Its place in /sys names no known bus.", how="lsblk --output NAME,TRAN")
_MODEL = Reason(why="Its driver names no model.", how="lsblk --output NAME,MODEL")
_SIZE = Reason(why="The kernel says that it has no sectors.", how="lsblk --bytes")
_PCI = Reason(why="It does not hang on a PCI device.", how=f"ls -l /{_FOLDER}")
_PEAK = Reason(
    why="The kernel does not say what its link could carry.",
    how="Measure how fast a large file is read.",
)


class _Place(Record, kw_only=False):
    """A disk: its folder below the root, and the path of the controller it is on."""

    folder: Path
    path: str


def read_storage(
    root: Path, pci: tuple[PciDevice, ...], notes: Notes, *, is_live: bool = False
) -> tuple[Disk, ...]:
    """Return the disks, ordered by name."""
    found = [_facts(root, place, pci) for place in _disks(root)]
    mounts = mounts_by_disk(root)
    for facts in found:
        read_file_systems(facts, mounts.get(facts.values["name"], ()), is_live=is_live)
    note(found, "storage", (name for name in names(Disk) if name != "name"), notes)
    disks = tuple(Disk(**facts.values) for facts in found)
    reason = notes.because(_NONE, contained="which may hide them")
    return notes.found("storage", disks, f"/{_FOLDER}", reason)


def _disks(root: Path) -> list[_Place]:
    found = []
    for name in entries(root / _FOLDER):
        if _NO_DISK.fullmatch(name):
            continue
        folder = root / _FOLDER / name
        path = device_path(root, folder)
        if not path or exists(folder / "partition") or read_int(folder / "hidden"):
            continue

        if "/nvme-subsystem/" in path:  # several paths lead to this disk; take the first
            ways = Path(f"{os.path.realpath(root)}{os.path.dirname(path)}")
            first = next((way for way in entries(ways) if re.fullmatch(r"nvme\d+", way)), "")
            path = device_path(root, ways / first) if first else path
        elif "/devices/virtual/" in path:
            continue
        found.append(_Place(folder, path))
    return found


def _facts(root: Path, place: _Place, pci: tuple[PciDevice, ...]) -> Facts:
    facts, folder = Facts(), place.folder
    facts.values["name"] = folder.name
    source = f"/{_FOLDER}/*"
    model = read_text(folder / "device/model") or read_text(folder / "device/name")
    sectors = read_int(folder / "size")
    addresses = pci_addresses(place.path)
    transport = _transport(root, place)
    facts.found("model", model or None, f"{source}/device/model", _MODEL)
    facts.found(
        "size_bytes",
        sectors * _SECTOR_BYTES if sectors else None,
        f"{source}/size, in sectors of {_SECTOR_BYTES} bytes",
        _SIZE,
    )
    facts.found("transport", transport, f"the place of {source} in /sys/devices", _TRANSPORT)
    facts.found("pci_address", addresses[-1] if addresses else None, f"where {source} leads", _PCI)
    _kind(facts, place, transport)
    _peak(facts, root, place, pci)
    read_wear(facts, folder)
    return facts


def _transport(root: Path, place: _Place) -> str | None:
    """Return the disk's bus, read from the device's path."""
    path, name = place.path, place.folder.name
    if name.startswith("pmem"):
        return "memory"
    if any(sign in path for sign in _HOSTS_OWN):
        return "host"
    if name.startswith("nvme"):
        # Old kernels do not tell; then a disk on a PCI device is local.
        said = read_text(Path(f"{os.path.realpath(root)}{path}") / "transport") or read_text(
            place.folder / "device/transport"
        )
        return _NVME_LINKS.get(said or ("pcie" if pci_addresses(path) else ""))
    for sign, transport in (
        ("/usb", "usb"),
        ("/mmc", "mmc"),
        ("/ata", "sata"),
        ("/session", "network"),  # iSCSI
        ("/rport-", "network"),  # Fibre Channel
        ("/end_device-", "sas"),
    ):
        if sign in path:
            return transport
    return "sata" if read_text(place.folder / "device/vendor") == "ATA" else None


def _kind(facts: Facts, place: _Place, transport: str | None) -> None:
    rotates = read_int(place.folder / "queue/rotational")
    maker = read_text(place.folder / "device/vendor")
    if transport == "host" or maker in _VIRTUAL_MAKERS:
        facts.keep("kind", "virtual", "its driver, which is for virtual machines")
    elif transport == "memory":
        facts.keep("kind", "persistent memory", "its name")
    elif transport == "mmc":
        facts.keep("kind", "card", "the place in /sys/devices")
    elif place.folder.name.startswith("nvme"):
        facts.keep("kind", "nvme", "its name")
    elif rotates is None or (transport == "usb" and rotates):
        facts.lack("kind", _USB_KIND if transport == "usb" else _KIND)
    else:
        facts.keep("kind", "hdd" if rotates else "ssd", f"/{_FOLDER}/*/queue/rotational")


def _peak(facts: Facts, root: Path, place: _Place, pci: tuple[PciDevice, ...]) -> None:
    """Keep the peak of the slowest link between processor and disk."""
    peak: float | None = None
    source = ""
    match facts.values.get("transport"):
        case "pcie":
            hop = pcie.narrowest(pci, facts.values.get("pci_address"))
            if hop and hop.link:
                peak, source = hop.link.peak_bytes_per_s, f"the PCIe link of {hop.address}"
        case "sata":
            port = re.search(r"/ata(\d+)/", place.path)
            file = f"sys/class/ata_link/link{port[1]}/sata_spd" if port else ""
            rate = re.match(r"([\d.]+) Gbps", read_text(root / file) or "") if file else None
            if rate:
                peak = float(rate[1]) * 1e9 * _SATA_CODING / 8
                source = f"/{file} × 8/10 (line coding) / 8 bits"
    facts.found("peak_bytes_per_s", peak, source, _PEAK)
