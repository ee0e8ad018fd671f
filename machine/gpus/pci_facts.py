"""Facts of PCI and the kernel about any accelerator, and the machine around it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from machine.bus.pci import read_pci
from machine.devices import PciDevice
from machine.facts import Facts, Notes, Reason
from machine.record import Record
from machine.system.linux import PCI_DEVICES, link_name, numbered, read_text

_NOT_RECORDED = Reason(
    "It is not in the recording.", "Run coreopsis inspect on the machine itself."
)
_NO_DRIVER = Reason(
    "No driver of the kernel has taken the device, so no program can use it.", "coreopsis doctor"
)
_NOT_TOLD = Reason("This system does not tell it of a device.", "The system's own list of devices.")
_SHARED = Reason("It uses the machine's memory.", "There is nothing to look at.")
NO_WINDOW = Reason("The kernel and the driver do not tell it.", "sudo lspci -vv shows the regions.")
_WINDOWS, _LARGEST_WINDOW = 6, 2**50


class Host(Record):
    """The machine around its accelerators; `is_live` for the running one, not a recording."""

    root: Path
    pci: tuple[PciDevice, ...] = ()
    memory_bytes: int | None = None
    is_live: bool = False
    is_wsl: bool = False

    @property
    def is_elsewhere(self) -> bool:
        """Is it a running machine with another system than Linux?"""
        return self.is_live and sys.platform != "linux"

    def folder(self, address: str) -> Path:
        """Return the folder in which the kernel describes a PCI device."""
        return self.root / PCI_DEVICES / address


def live_host(root: Path) -> Host:
    """Return the running machine, for those who watch it."""
    is_wsl = "microsoft" in (read_text(root / "proc/version") or "").lower()
    return Host(root=root, pci=read_pci(root, (), Notes()), is_live=True, is_wsl=is_wsl)


def describe(host: Host, device: PciDevice) -> Facts:
    """Return the facts that exist for devices of every maker."""
    facts = Facts()
    if host.is_elsewhere:
        facts.keep("pci_address", device.address, "pci")
        for name in ("name", "numa_node"):
            facts.found(name, getattr(device, name), f"pci: {name}", _NOT_TOLD)
        for name in ("driver", "asleep"):
            facts.lack(name, _NOT_TOLD)
        return facts
    folder = host.folder(device.address)
    shown = f"/{PCI_DEVICES}/{device.address}"
    facts.keep("pci_address", device.address, f"/{PCI_DEVICES}")
    if device.name:
        facts.keep("name", device.name, "the list of PCI names, by vendor and device number")
    if device.numa_node is not None:
        facts.keep("numa_node", device.numa_node, f"{shown}/numa_node")
    no_driver = _NO_DRIVER if host.is_live else _NOT_RECORDED
    facts.found("driver", link_name(folder / "driver"), f"{shown}/driver", no_driver)
    if window := _largest_window(read_text(folder / "resource")):
        facts.keep("bar_bytes", window, f"{shown}/resource")
    power = read_text(folder / "power/runtime_status")
    if power is not None:
        source = f"{shown}/power/runtime_status"
        facts.keep("asleep", power in ("suspended", "suspending"), source)
    return facts


def add_bar(facts: Facts, untold: Reason = NO_WINDOW) -> None:
    """Add whether the processor reaches all of the memory; to be called after `memory_bytes`."""
    if facts.values.get("unified_memory"):
        facts.drop("resizable_bar", _SHARED)
    elif facts.knows("bar_bytes") and facts.knows("memory_bytes"):
        is_whole = facts.values["bar_bytes"] >= facts.values["memory_bytes"]
        facts.keep("resizable_bar", is_whole, "bar_bytes against memory_bytes")
    for name in ("bar_bytes", "resizable_bar"):
        facts.lack(name, facts.missing.get("memory_bytes", untold))


def _largest_window(resources: str | None) -> int | None:
    """Return the size of the largest of the six windows, by lines of "start end flags"."""
    sizes = [0]
    for line in (resources or "").splitlines()[:_WINDOWS]:
        with contextlib.suppress(ValueError):
            first, last = (int(number, 16) for number in line.split()[:2])
            sizes.append(last - first + 1 if last > first else 0)
    largest = max(sizes)
    return largest if 0 < largest <= _LARGEST_WINDOW else None


def is_asleep(host: Host, address: str) -> bool:
    """Has the kernel switched the device off to save power? Asking its driver would wake it."""
    return read_text(host.folder(address) / "power/runtime_status") in ("suspended", "suspending")


def hwmon(folder: Path) -> Path | None:
    """Return the folder of a device's sensors."""
    numbers = numbered(folder / "hwmon", "hwmon")
    return folder / f"hwmon/hwmon{numbers[0]}" if numbers else None
