"""AMD's GPUs, as the kernel's driver (amdgpu) describes them below /sys.

There are two sources: the files of the PCI device, and the topology for ROCm (KFD). KFD has the
compute units, the caches and xGMI. Neither needs ROCm or root. Files that would wake a sleeping GPU
are not read.

LIMIT: follows the kernel's documentation (gpu/amdgpu) and uapi/linux/kfd_sysfs.h; tested on made-up
trees, not yet on a real machine.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from machine.facts import Facts, Reason
from machine.gpus.pci_facts import Host, describe, hwmon
from machine.system.linux import PCI_DEVICES, is_folder, numbered, read_int, read_text, to_int

VENDOR_ID = 0x1002
# Targets of graphics inside the processor, which use the machine's memory; a newer one is not taken
# for one. Source: LLVM's User Guide for the AMDGPU Backend, "Processors", in November 2026.
_INSIDE = frozenset(
    f"gfx{number}"
    for number in (
        *("700", "703", "705", "801", "810", "902", "909", "90c"),
        *("1013", "1033", "1035", "1036", "1037", "1103", "1150", "1151", "1152", "1153"),
        *("1170", "1171", "1172"),
    )
)
_OWN, _BORROWED = "mem_info_vram", "mem_info_gtt"  # the carve-out, and what is mapped as needed
# 2D chips for servers' consoles: Rage XL, ES1000.
NO_ACCELERATORS = frozenset({0x4752, 0x515E, 0x5969})
_KFD = "sys/class/kfd/kfd/topology/nodes"
_XGMI = 11  # HSA_IOLINK_TYPE_XGMI
_OWN_MEMORY = ("1", "2")  # HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, _PRIVATE
_SENSORS = {  # file, and how many of its units make one of ours
    "power_limit_watts": ("power1_cap", 1e6),
    "power_default_watts": ("power1_cap_default", 1e6),
    "power_max_watts": ("power1_cap_max", 1e6),
    "power_min_watts": ("power1_cap_min", 1e6),
    "temperature_celsius": ("temp1_input", 1e3),
    "temperature_slowdown_celsius": ("temp1_crit", 1e3),
    "temperature_shutdown_celsius": ("temp1_emergency", 1e3),
}
_HIDING = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
_NO_KFD = Reason(
    "The kernel shows no compute topology (/sys/class/kfd) here.", "rocminfo, or coreopsis doctor"
)
_ASLEEP = Reason(
    "The GPU is asleep, and asking would wake it.", "Use it, and look again meanwhile."
)
_XGMI_UNTOLD = Reason("The kernel does not tell whether they may.", "rocm-smi --showtopoaccess")


def read(host: Host) -> list[Facts]:
    """Return the GPUs, ordered by PCI address."""
    nodes = _nodes(host.root)
    gpus = []
    for device in host.pci:
        is_display = (device.class_id or 0) >> 16 in (0x03, 0x12)
        if device.vendor_id != VENDOR_ID or not is_display or device.is_virtual_function:
            continue
        if device.device_id in NO_ACCELERATORS:
            continue
        gpu = describe(host, device)
        gpu.keep("vendor", "AMD", "PCI's number of the vendor")
        gpu.keep("torch_backend", "rocm", "the vendor")
        _add_files(gpu, host, device.address)
        _add_node(gpu, host, nodes.get(device.address))
        _add_visible(gpu, host)
        gpus.append(gpu)
    return gpus


def _add_files(gpu: Facts, host: Host, address: str) -> None:
    folder, shown = host.folder(address), f"/{PCI_DEVICES}/{address}"
    if name := read_text(folder / "product_name"):
        gpu.keep("name", name, f"{shown}/product_name")
    own_bytes, borrowed_bytes = (read_int(folder / f"{n}_total") for n in (_OWN, _BORROWED))
    if shares_memory(host.root, address):
        gpu.keep("unified_memory", True, "the target, which is that of graphics in a processor")
        if own_bytes and borrowed_bytes:
            source = f"{shown}/{_OWN}_total and {_BORROWED}_total: what is set aside, and what it"
            gpu.keep("memory_bytes", own_bytes + borrowed_bytes, f"{source} may borrow")
    if own_bytes and not gpu.knows("memory_bytes"):
        gpu.keep("memory_bytes", own_bytes, f"{shown}/{_OWN}_total")
    sensors = hwmon(folder)
    for name in _SENSORS:
        if gpu.values.get("asleep"):
            gpu.lack(name, _ASLEEP)
    if sensors is None or gpu.values.get("asleep"):
        return
    for name, (file, units) in _SENSORS.items():
        count = read_int(sensors / file)
        if count is not None and (count > 0 or file == "power1_cap_min"):
            gpu.keep(name, count / units, f"{shown}/hwmon/*/{file}")


def shares_memory(root: Path, address: str) -> bool:
    """Is it graphics inside a processor, by KFD's or the driver's word on the target?"""
    if told := targets(root).get(address):
        return told in _INSIDE
    place = root / PCI_DEVICES / address / "ip_discovery/die/0/GC/0"
    numbers = [read_int(place / name) for name in ("major", "minor", "revision")]
    major, minor, step = (number or 0 for number in numbers)
    return f"gfx{major}{minor:x}{step:x}" in _INSIDE


def memory_bytes(folder: Path, *, is_shared: bool) -> tuple[int | None, int | None]:
    """Return how much memory the GPU may use, and how much of it is in use.

    Graphics in a processor have a small part of the memory set aside, which is normally full. They
    borrow the rest from the machine's memory.
    """
    both = (_OWN, _BORROWED) if is_shared else (_OWN,)
    total, used = (
        [count for name in both if (count := read_int(folder / f"{name}_{what}")) is not None]
        for what in ("total", "used")
    )
    return sum(total) if total else None, sum(used) if len(used) == len(total) > 0 else None


def _add_node(gpu: Facts, host: Host, node: int | None) -> None:
    if node is None:
        for name in ("sms", "l2_bytes", "architecture", "sm_clock_hz", "memory_bus_bits"):
            gpu.lack(name, _NO_KFD)
        return
    folder, shown = host.root / _KFD / str(node), f"/{_KFD}/{node}"
    facts = _properties(folder)
    in_unit = facts.get("simd_per_cu")
    if in_unit and (units := facts.get("simd_count", 0) // in_unit):
        gpu.keep("sms", units, f"{shown}/properties: simd_count / simd_per_cu")
    if version := facts.get("gfx_target_version"):
        gpu.keep("architecture", _gfx(version), f"{shown}/properties: gfx_target_version")
    if megahertz := facts.get("max_engine_clk_fcompute"):
        gpu.keep("sm_clock_hz", megahertz * 1_000_000, f"{shown}/properties")
    if facts.get("cpu_cores_count"):
        gpu.keep("unified_memory", True, f"{shown}/properties: it has processor cores too")
    caches = [_properties(folder / f"caches/{n}") for n in numbered(folder / "caches", "")]
    if l2_kib := sum(cache.get("size", 0) for cache in caches if cache.get("level") == 2):
        gpu.keep("l2_bytes", l2_kib * 1024, f"{shown}/caches/*/properties, all of level 2")
    for n in numbered(folder / "mem_banks", ""):
        bank = _properties(folder / f"mem_banks/{n}")
        if str(bank.get("heap_type")) not in _OWN_MEMORY:
            continue
        if bits := bank.get("width"):
            gpu.keep("memory_bus_bits", bits, f"{shown}/mem_banks/{n}/properties")
        if megahertz := bank.get("mem_clk_max"):
            gpu.keep("memory_clock_hz", megahertz * 1_000_000, f"{shown}/mem_banks/{n}/properties")


def _add_visible(gpu: Facts, host: Host) -> None:
    hiding = [name for name in _HIDING if name in os.environ]
    if host.is_live and hiding:
        why = f"{hiding[0]} is set here; which GPUs it leaves, only ROCm can tell."
        gpu.lack("visible", Reason(why, "rocminfo"))
    elif host.is_live and gpu.values.get("driver") == "amdgpu":
        gpu.keep("visible", True, f"none of {', '.join(_HIDING)} is set")


def _gfx(version: int) -> str:
    """Return "gfx90a" for 90010: major, minor and stepping, the last two as hexadecimal digits."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def _nodes(root: Path) -> dict[str, int]:
    """Return the KFD node number of each GPU, by PCI address."""
    found = {}
    for node in numbered(root / _KFD, ""):
        facts = _properties(root / _KFD / str(node))
        if not facts.get("simd_count"):  # a processor
            continue
        place = facts.get("location_id", 0)  # bus, slot and function
        found[
            f"{facts.get('domain', 0):04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.{place & 7}"
        ] = node
    return found


def targets(root: Path) -> dict[str, str]:
    """Return the architecture of each KFD GPU, such as gfx1100, by PCI address."""
    told = {a: _properties(root / _KFD / str(node)) for a, node in _nodes(root).items()}
    found = {address: facts.get("gfx_target_version") for address, facts in told.items()}
    return {address: _gfx(version) for address, version in found.items() if version}


def kfd_ids(root: Path) -> dict[str, int]:
    """Return the number of each GPU in KFD's list of processes, by PCI address."""
    ids = ((a, read_int(root / _KFD / str(node) / "gpu_id")) for a, node in _nodes(root).items())
    return {address: number for address, number in ids if number is not None}


def _properties(folder: Path) -> dict[str, int]:
    """Return the "name value" lines of the file `properties`."""
    text = read_text(folder / "properties") or ""
    found = re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE)
    return {name: number for name, value in found if (number := to_int(value)) is not None}


# --- pairs ----------------------------------------------------------------------------------------


def pairs(host: Host, addresses: Sequence[str | None]) -> dict[tuple[int, int], Facts]:
    """Return KFD's facts of each pair, by indexes into `addresses`; None is another maker's."""
    nodes = _nodes(host.root)
    found = {}
    ours = [place for place, address in enumerate(addresses) if address is not None]
    for a, b in itertools.combinations(ours, 2):
        node, other = nodes.get(addresses[a] or ""), nodes.get(addresses[b] or "")
        pair = found[a, b] = Facts()
        if node is None or other is None:
            pair.lack("peer_access_reported", _NO_KFD)
            continue
        folder, shown = host.root / _KFD / str(node), f"/{_KFD}/{node}"
        links = _links(folder / "io_links", other)
        if any(link.get("type") == _XGMI for link in links):
            pair.keep("path", "XGMI", f"{shown}/io_links")
            pair.keep("peer_access_reported", True, f"{shown}/io_links")
        elif is_folder(folder / "p2p_links"):
            can = bool(_links(folder / "p2p_links", other))
            pair.keep("peer_access_reported", can, f"{shown}/p2p_links")
        else:
            pair.lack("peer_access_reported", _XGMI_UNTOLD)
    return found


def _links(folder: Path, node: int) -> list[Mapping[str, int]]:
    links = [_properties(folder / str(number)) for number in numbered(folder, "")]
    return [link for link in links if link.get("node_to") == node]
