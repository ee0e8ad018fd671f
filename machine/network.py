"""Network interfaces: their kind, state and present speed.

Only physical devices are listed: no loopback, bridge, VLAN, tunnel or container interface, and no
virtual function, which is a share of a listed card. InfiniBand adapters count even without IP.

Sources: Documentation/ABI/testing/sysfs-class-net and stable/sysfs-class-infiniband of the kernel.
"""

from __future__ import annotations

import re
from pathlib import Path

from machine.devices import NetworkInterface
from machine.facts import Facts, Notes, Reason, note
from machine.record import names
from machine.system.linux import (
    device_path,
    entries,
    exists,
    pci_addresses,
    read_int,
    read_text,
    to_int,
)

_FOLDER = "sys/class/net"
_ADAPTERS = "sys/class/infiniband"
_KINDS = {1: "ethernet", 32: "infiniband"}  # ARPHRD_ETHER, ARPHRD_INFINIBAND of if_arp.h
# Drivers' values for "unknown", -1 also unsigned.
_NOT_TOLD = (-1, 0, 2**16 - 1, 2**32 - 1)
# Data rate of a lane after coding, in Gb/s. The kernel's "rate" is the signal rate up to QDR (8 of
# 10 bits are data), the rounded signal rate for FDR (64 of 66), and the data rate from EDR on.
# Source: InfiniBand Architecture Specification; drivers/infiniband/core/sysfs.c of Linux 6.17.
_LANE_GBIT_PER_S = {
    "SDR": 2.5 * 8 / 10,
    "DDR": 5 * 8 / 10,
    "QDR": 10 * 8 / 10,
    "FDR10": 10.3125 * 64 / 66,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}

_NONE = Reason(
    "No network interface with a device of its own is in sight below /sys.",
    "ip -details link, on the machine itself.",
)
_KIND = Reason(why="Its type is neither Ethernet, InfiniBand nor Wi-Fi.", how="ip -details link")
_UP = Reason(why="The kernel does not say whether it is up.", how="ip link")
_DOWN = Reason(why="It is down: only a link that is up has a speed.", how="ethtool INTERFACE")
_SPEED = Reason(
    why="Its driver tells no speed.",
    how="ethtool INTERFACE, or for Wi-Fi iw dev INTERFACE link",
)
_NEWER = Reason(
    why="The kernel names a speed of the lanes that is newer than the list here.",
    how="ibstat",
)
_PCI = Reason(why="It does not hang on a PCI device.", how=f"ls -l /{_FOLDER}")


def read_network(root: Path, notes: Notes) -> tuple[NetworkInterface, ...]:
    """Return the interfaces by name."""
    found = []
    for name in entries(root / _FOLDER):
        path = device_path(root, root / _FOLDER / name)
        folder = root / _FOLDER / name
        is_device = exists(folder / "device") and "/devices/virtual/" not in path
        if is_device and not exists(folder / "device/physfn"):
            found.append(_facts(root, folder, path))
    known = {facts.values.get("pci_address") for facts in found}
    found += [facts for facts in _adapters(root) if facts.values.get("pci_address") not in known]
    note(found, "network", (name for name in names(NetworkInterface) if name != "name"), notes)
    interfaces = tuple(NetworkInterface(**facts.values) for facts in found)
    reason = notes.because(_NONE, contained="which gets virtual interfaces")
    return notes.found("network", interfaces, f"/{_FOLDER}", reason)


def _facts(root: Path, folder: Path, path: str) -> Facts:
    facts, source = Facts(), f"/{_FOLDER}/*"
    facts.values["name"] = folder.name
    is_wireless = exists(folder / "wireless") or exists(folder / "phy80211")
    kind = "wifi" if is_wireless else _KINDS.get(read_int(folder / "type") or 0)
    state = read_text(folder / "operstate")
    # Some drivers never say "up"; then the carrier decides.
    is_up = {"up": True, "down": False}.get(state or "", read_int(folder / "carrier") == 1)
    addresses = pci_addresses(path)
    address = addresses[-1] if addresses else None
    facts.found("kind", kind, f"{source}/type", _KIND)
    facts.found("is_up", is_up if state else None, f"{source}/operstate", _UP)
    facts.found("pci_address", address, f"where {source} leads", _PCI)
    adapter = _adapter_of(root, address) if kind == "infiniband" else None
    megabits = read_int(folder / "speed")
    if not is_up:
        facts.lack("peak_bytes_per_s", _DOWN)
    elif adapter:
        _port_rate(facts, adapter)
    elif megabits is None or megabits in _NOT_TOLD:
        facts.lack("peak_bytes_per_s", _SPEED)
    else:
        facts.keep("peak_bytes_per_s", megabits * 1e6 / 8, f"{source}/speed in Mb/s, / 8 bits")
    return facts


def _adapters(root: Path) -> list[Facts]:
    """Return the InfiniBand adapters, with or without IP."""
    found = []
    for name in entries(root / _ADAPTERS):
        folder = root / _ADAPTERS / name
        addresses = pci_addresses(device_path(root, folder))
        is_ethernet = read_text(folder / "ports/1/link_layer") == "Ethernet"
        if is_ethernet or not addresses or exists(folder / "device/physfn"):
            continue
        facts = Facts()
        facts.values["name"] = name
        is_up = "ACTIVE" in (read_text(folder / "ports/1/state") or "")
        facts.keep("kind", "infiniband", f"/{_ADAPTERS}/*/ports/1/link_layer")
        facts.keep("is_up", is_up, f"/{_ADAPTERS}/*/ports/1/state")
        facts.keep("pci_address", addresses[-1], f"where /{_ADAPTERS}/* leads")
        if is_up:
            _port_rate(facts, folder)
        else:
            facts.lack("peak_bytes_per_s", _DOWN)
        found.append(facts)
    return found


def _adapter_of(root: Path, address: str | None) -> Path | None:
    for name in entries(root / _ADAPTERS):
        folder = root / _ADAPTERS / name
        if address and pci_addresses(device_path(root, folder))[-1:] == [address]:
            return folder
    return None


def _port_rate(facts: Facts, adapter: Path) -> None:
    """Keep the bandwidth of the first port, from a rate such as "56 Gb/sec (4X FDR)"."""
    rate = re.search(r"\((\d+)X ?(\w*)\)", read_text(adapter / "ports/1/rate") or "")
    lane = _LANE_GBIT_PER_S.get(rate[2] or "SDR") if rate else None
    if rate and lane is None:
        facts.lack("peak_bytes_per_s", _NEWER)
    facts.found(
        "peak_bytes_per_s",
        (to_int(rate[1]) or 0) * lane * 1e9 / 8 or None if rate and lane else None,
        f"/{_ADAPTERS}/*/ports/1/rate: lanes × data rate of a lane / 8 bits",
        _SPEED,
    )
