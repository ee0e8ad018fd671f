"""The PCI tree: devices, the bridges they are on, and the speed and width of their links.

The link /sys/bus/pci/devices/ADDRESS leads to a path that names every bridge on the way. Bridges
alternate. A root port or a switch's downstream port has its link below; an upstream port has its
link above. So a device has its own link if the bridge above it leads down. Devices built into the
processor, the chipset or a switch have none.

Both ends describe a link: the card's files say what the card can do, the bridge's files what the
slot can do. The present speed may be lower, because idle links slow down; that is no fault. No
sleeping device is woken: files whose reading would wake it are not read.

Source: Documentation/ABI/testing/sysfs-bus-pci of the kernel.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec.structs import replace

from machine.bus import pcie
from machine.bus.names import PciNames
from machine.devices import Link, PciDevice
from machine.facts import Notes, Reason, lacking
from machine.memory.nodes import host_nodes
from machine.model import NumaNode
from machine.system.linux import (
    PCI_ADDRESS,
    PCI_DEVICES,
    device_path,
    entries,
    exists,
    pci_addresses,
    read_hex,
    read_set,
    read_text,
    to_int,
)

# Cards of these makers may carry a switch; then the GPU's own link says nothing about the slot.
_SWITCH_ON_CARD = frozenset({0x1002, 0x10DE, 0x8086})
_UNTOLD = {
    "parent": "It was not recorded on which bridge the device is.",
    "class_id": "It was not recorded what kind of device it is.",
    "vendor_id": "It was not recorded who made the device.",
    "device_id": "It was not recorded which device it is.",
    "name": "Its numbers are in no list of names here.",
    "numa_node": "The firmware does not say which memory is near to it (its node is -1).",
}
_NO_BUS = Reason("No PCI bus is in sight below /sys.", "lspci -tv, on the machine itself.")
_HOW_LINK = "sudo lspci -vv, on the machine itself."
_NO_LINK = Reason(
    "What is built into the processor, the chipset or a switch has no link of its own, and a "
    "bridge has it below.",
    _HOW_LINK,
)
_ASLEEP = "The device is asleep, and asking for its link would wake it."
_NO_LINKS = Reason("The kernel tells of no PCIe links; Linux does since 4.13.", _HOW_LINK)
_HOW_ENDS = "sudo lspci -vv shows LnkCap and LnkSta."
_DOWN = Reason("Its link is down, or the device does not tell how it runs.", _HOW_ENDS)
_NO_CARD = Reason(
    "The card does not tell what it could do, or the kernel is too old to ask it.", _HOW_ENDS
)
_NO_SLOT = Reason("No port above the card tells what it could do.", _HOW_ENDS)
_NEWER = Reason(
    "The kernel tells of a speed of the link that is newer than the generations known here.",
    _HOW_ENDS,
)
_NO_PEAK = Reason("Neither card nor slot tells what it could do.", _HOW_ENDS)


def read_pci(root: Path, numa: tuple[NumaNode, ...], notes: Notes) -> tuple[PciDevice, ...]:
    """Return all devices and bridges, ordered by address."""
    folder = root / PCI_DEVICES
    addresses = [name for name in entries(folder) if PCI_ADDRESS.fullmatch(name)]
    names = PciNames(root) if addresses else None
    devices = [
        _read_device(root, folder / address, names)
        for address in sorted(addresses, key=lambda address: (len(address), address))
    ]
    devices = [
        replace(device, numa_node=_numa_node(folder / device.address, index, numa, notes))
        for index, device in enumerate(devices)
    ]
    links = _Links(folder, devices)
    devices = links.read(notes)
    reason = notes.because(_NO_BUS, "which need not have one", "which may hide it")
    notes.found("pci", tuple(devices), f"/{PCI_DEVICES}", reason)
    if names is not None:
        notes.sources["pci[*].name"] = names.source
    _note(devices, notes, has_newer=links.has_newer)
    return tuple(devices)


def _read_device(root: Path, folder: Path, names: PciNames | None) -> PciDevice:
    vendor_id, device_id = read_hex(f"{folder}/vendor"), read_hex(f"{folder}/device")
    class_id = read_hex(f"{folder}/class")
    return PciDevice(
        address=folder.name,
        parent=_parent(device_path(root, folder)),
        class_id=class_id,
        vendor_id=vendor_id,
        device_id=device_id,
        name=(names.name(vendor_id, device_id, class_id) if names else "") or None,
        is_virtual_function=exists(f"{folder}/physfn"),
    )


def _parent(path: str) -> str | None:
    """Return the bridge in /sys/devices/pci0000:00/BRIDGE/DEVICE, or the root complex."""
    above = os.path.dirname(path)
    bridges = pci_addresses(above) or re.findall(r"pci[0-9a-f]{4,}:[0-9a-f]{2}", above)
    return bridges[-1] if bridges else None


def _numa_node(folder: Path, index: int, numa: tuple[NumaNode, ...], notes: Notes) -> int | None:
    """Return the NUMA node; if the firmware names none (-1), the node with the nearby threads."""
    text = read_text(folder / "numa_node") or ""
    if text.isdecimal():
        return to_int(text)
    near = read_set(folder, "local_cpulist", "local_cpus") or frozenset()
    found = [node.id for node in numa if near and near <= {*node.threads}]
    source = f"/{PCI_DEVICES}/{folder.name}/local_cpulist, the threads of that node"
    if len(host := host_nodes(numa)) == 1:
        found, source = [host[0].id], "the only memory node there is"
    if len(found) != 1:
        return None
    notes.sources[f"pci[{index}].numa_node"] = source
    return found[0]


class _Links:
    """The links of the devices below `folder`."""

    def __init__(self, folder: Path, devices: list[PciDevice]) -> None:
        self._folder, self._devices = folder, devices
        self._known = {device.address: device for device in devices}
        self.has_newer = False  # speeds than the generations that are known here

    def read(self, notes: Notes) -> list[PciDevice]:
        """Return the devices with their links."""
        found: list[PciDevice] = []
        for index, device in enumerate(self._devices):
            card = self._edge(self._physical(device))
            bridge = self._known.get(card.parent or "")
            if self._has_link(card, bridge):
                ends = [end.address for end in (card, bridge) if end]
                states = [read_text(f"{self._folder}/{e}/power/runtime_status") for e in ends]
                if "suspended" in states:
                    file = f"/{PCI_DEVICES}/{card.address}/current_link_speed"
                    notes.lack(
                        f"pci[{index}].link", Reason(_ASLEEP, f"cat {file}, which wakes it.")
                    )
                else:
                    link = self._link(*ends)
                    device = replace(device, link=link)
                    if link and card.address != device.address:
                        notes.sources[f"pci[{index}].link"] = (
                            f"/{PCI_DEVICES}/{card.address}, where the card meets the slot"
                        )
            found.append(device)
        return found

    def _physical(self, device: PciDevice) -> PciDevice:
        """Return the physical device of a virtual function; both share one link."""
        if not device.is_virtual_function:
            return device
        owner = os.path.basename(os.path.realpath(self._folder / device.address / "physfn"))
        return self._known.get(owner, device)

    def _edge(self, device: PciDevice) -> PciDevice:
        """Return the outermost device of the card: the upstream port of its own switch, if any."""
        while device.vendor_id in _SWITCH_ON_CARD:
            down = self._known.get(device.parent or "")
            up = self._known.get(down.parent or "") if down else None
            if down is None or up is None or not self._leads_down(down):
                break
            if not pcie.is_bridge(up) or {down.vendor_id, up.vendor_id} != {device.vendor_id}:
                break
            device = up
        return device

    def _leads_down(self, bridge: PciDevice) -> bool:
        """Is the link of this bridge below it? True for root ports and every second bridge."""
        above = self._known.get(bridge.parent or "")
        return above is None or not pcie.is_bridge(above) or not self._leads_down(above)

    def _has_link(self, card: PciDevice, bridge: PciDevice | None) -> bool:
        if bridge is not None and pcie.is_bridge(bridge):
            return self._leads_down(bridge)
        return not pcie.is_bridge(card)

    def _link(self, card: str, slot: str | None = None) -> Link | None:
        """Return the link as both ends describe it; None if the card reports nothing."""
        generation, width = self._ability(card, "current")
        card_generation, card_width = self._ability(card, "max")
        if not (generation or width or card_generation or card_width):
            return None
        slot_generation, slot_width = self._ability(slot, "max") if slot else (None, None)
        link = Link(
            generation=generation,
            width=width,
            card_generation=card_generation,
            card_width=card_width,
            slot_generation=slot_generation,
            slot_width=slot_width,
        )
        return replace(link, peak_bytes_per_s=pcie.bytes_per_s(*pcie.able(link)))

    def _ability(self, address: str, which: str) -> tuple[int | None, int | None]:
        ability = f"{self._folder}/{address}/{which}_link"
        speed = read_text(f"{ability}_speed")
        self.has_newer |= pcie.is_newer(speed)
        return pcie.generation(speed), pcie.width(read_text(f"{ability}_width"))


def _note(devices: list[PciDevice], notes: Notes, *, has_newer: bool) -> None:
    """Note once what several devices lack."""
    how = f"ls -l /{PCI_DEVICES}, lspci -nn -vv"
    untold = {name: Reason(why, how) for name, why in _UNTOLD.items()}
    notes.missing += lacking("pci[*]", devices, untold)
    links = [device.link for device in devices if device.link]
    if len(links) < len(devices):
        no_links = notes.because(_NO_LINKS, "which mostly has none to show")
        notes.lack("pci[*].link", _NO_LINK if links else no_links)
    less = dict.fromkeys(("generation", "width"), _DOWN)
    less |= dict.fromkeys(("card_generation", "card_width"), _NO_CARD)
    no_slot = notes.because(_NO_SLOT, "which mostly hides it")
    less |= dict.fromkeys(("slot_generation", "slot_width"), no_slot)
    less["peak_bytes_per_s"] = _NO_PEAK
    if has_newer:
        less |= {name: _NEWER for name in less if not name.endswith("width")}
    notes.missing += lacking("pci[*].link", links, less)
