"""What PCI and the kernel tell about any accelerator, and the machine around it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from machine.devices import PciDevice
from machine.facts import Facts, Reason
from machine.system.linux import PCI_DEVICES, numbered, read_text

_NOT_RECORDED = Reason(
    "It is not in the recording.", "Run coreopsis inspect on the machine itself."
)
_NO_DRIVER = Reason(
    "No driver of the kernel has taken the device, so no program can use it.", "coreopsis doctor"
)


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine around its accelerators; `is_live` for the running one, not a recording."""

    root: Path
    pci: tuple[PciDevice, ...] = ()
    memory_bytes: int | None = None
    is_live: bool = False
    is_wsl: bool = False

    def folder(self, address: str) -> Path:
        """Return the folder in which the kernel describes a PCI device."""
        return self.root / PCI_DEVICES / address


def describe(host: Host, device: PciDevice) -> Facts:
    """Return the facts that exist for devices of every maker."""
    facts = Facts()
    folder = host.folder(device.address)
    shown = f"/{PCI_DEVICES}/{device.address}"
    facts.keep("pci_address", device.address, f"/{PCI_DEVICES}")
    if device.name:
        facts.keep("name", device.name, "the list of PCI names, by vendor and device number")
    if device.numa_node is not None:
        facts.keep("numa_node", device.numa_node, f"{shown}/numa_node")
    try:
        facts.keep("driver", os.path.basename(os.readlink(folder / "driver")), f"{shown}/driver")
    except OSError:
        facts.lack("driver", _NO_DRIVER if host.is_live else _NOT_RECORDED)
    power = read_text(folder / "power/runtime_status")
    if power is not None:
        source = f"{shown}/power/runtime_status"
        facts.keep("asleep", power in ("suspended", "suspending"), source)
    return facts


def is_asleep(host: Host, address: str) -> bool:
    """Has the kernel switched the device off to save power? Asking its driver would wake it."""
    return read_text(host.folder(address) / "power/runtime_status") in ("suspended", "suspending")


def hwmon(folder: Path) -> Path | None:
    """Return the folder of a device's sensors."""
    numbers = numbered(folder / "hwmon", "hwmon")
    return folder / f"hwmon/hwmon{numbers[0]}" if numbers else None
