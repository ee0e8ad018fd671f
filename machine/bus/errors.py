"""Errors of PCIe links that the kernel has counted (AER), of each device.

Source: Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats of the kernel.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from machine.model import Missing
from machine.record import record
from machine.system.linux import PCI_ADDRESS, PCI_DEVICES, confined, entries, read_text, to_int

_SEVERITIES = ("correctable", "nonfatal", "fatal")
_COUNT = re.compile(r"^([A-Za-z_][\w -]{1,40}) (\d{1,18})$", re.MULTILINE)
_TOTAL = "TOTAL_ERR_"
_HOW = "sudo lspci -vv shows AER of each device; sudo dmesg | grep AER"
_NOT_COUNTED = (
    "The kernel counts no PCIe errors here: the firmware keeps them to itself, or this is a "
    "virtual machine."
)
_NO_BUS = "No PCI bus is in sight."
_ELSEWHERE = "This version of Coreopsis reads PCIe errors on Linux only."
_HOW_ELSEWHERE = {"win32": "Event Viewer, Windows Logs, System: WHEA-Logger."}


@record
class DeviceErrors:
    """Errors of one device since the boot. `kinds` has the count of each kind that occurred.

    The link has repeated what a correctable error hit: many of them cost speed, none costs data.
    """

    address: str
    correctable: int | None = None
    nonfatal: int | None = None
    fatal: int | None = None
    kinds: dict[str, int]


@record
class PcieErrors:
    """Every device whose errors are counted; totals of all, None where nothing is counted."""

    correctable: int | None = None
    nonfatal: int | None = None
    fatal: int | None = None
    devices: tuple[DeviceErrors, ...] = ()
    missing: tuple[Missing, ...] = ()


def read_pcie_errors(root: Path | None = None) -> PcieErrors:
    """Return the counts of this machine, or of the one recorded below `root`."""
    if root is None and sys.platform != "linux":
        return _unknown(_ELSEWHERE, _HOW_ELSEWHERE.get(sys.platform, "Nothing to do."))
    with confined(root):
        folder = (root or Path("/")) / PCI_DEVICES
        addresses = [name for name in entries(folder) if PCI_ADDRESS.fullmatch(name)]
        found = tuple(device for a in addresses if (device := _device(folder / a)))
    if not found:
        return _unknown(_NOT_COUNTED if addresses else _NO_BUS, _HOW)
    totals: dict[str, Any] = {}
    for severity in _SEVERITIES:
        known = [n for device in found if (n := getattr(device, severity)) is not None]
        totals[severity] = sum(known) if known else None
    return PcieErrors(**totals, devices=found)


def _unknown(why: str, how: str) -> PcieErrors:
    return PcieErrors(missing=(Missing(what="devices", why=why, how=how),))


def _device(folder: Path) -> DeviceErrors | None:
    totals: dict[str, Any] = {}
    kinds: dict[str, int] = {}
    for severity in _SEVERITIES:
        text = read_text(folder / f"aer_dev_{severity}")
        counts = {name: to_int(count) or 0 for name, count in _COUNT.findall(text or "")}
        known = {name: count for name, count in counts.items() if not name.startswith(_TOTAL)}
        total = next((count for name, count in counts.items() if name.startswith(_TOTAL)), None)
        totals[severity] = total if total is not None or not known else sum(known.values())
        for name, count in known.items():
            if count:
                kinds[name] = kinds.get(name, 0) + count
    if all(total is None for total in totals.values()):
        return None
    return DeviceErrors(address=folder.name, **totals, kinds=kinds)
