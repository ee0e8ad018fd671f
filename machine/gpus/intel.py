"""Intel's GPUs, as the kernel's drivers (i915, xe) describe them below /sys.

LIMIT: follows the kernel's documentation (ABI/testing/sysfs-driver-intel-*) and the drivers' tests
(igt); tested on made-up trees, not yet with a card. Only Intel's libraries report compute units and
caches.
"""

from __future__ import annotations

import os
from pathlib import Path

from machine.devices import PciDevice
from machine.facts import Facts, Reason
from machine.gpus.pci_facts import Host, describe, hwmon
from machine.system.linux import PCI_DEVICES, numbered, read_int

VENDOR_ID = 0x8086
INTEGRATED = "0000:00:02.0"  # the same address since 2004
_HIDING = ("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK")
# PyTorch supports Arc, Data Center Max, and the graphics of Core Ultra. These are the first digits
# of their device numbers, from include/drm/intel/pciids.h of Linux 6.17: DG2, Battlemage, Ponte
# Vecchio, Meteor Lake and Arrow Lake, Lunar Lake, Panther Lake.
_SUPPORTED = ("56", "e2", "0bd", "0b6", "7d", "64", "b0")
# Of those before, by the PCI ID Repository of 2026-08-22: up to Raptor Lake, and DG1.
_OLDER = (
    *("00", "01", "04", "08", "0a", "0b", "0d", "0f", "11", "12", "16", "19", "1a", "22", "25"),
    *("27", "29", "2a", "2e", "31", "35", "3e", "41", "45", "46", "49", "4c", "4e", "4f", "50"),
    *("59", "5a", "71", "78", "81", "87", "8a", "98", "9a", "9b", "a0", "a7", "be"),
)
_UNSUPPORTED = Reason(
    "PyTorch supports Intel's GPUs from Arc and Core Ultra on; this one is older.",
    "Use the processor.",
)
_UNLISTED = Reason(
    "This GPU of Intel is newer than the list in this program, so that nobody can tell.",
    "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",
)
_MEMORY_FILES = ("physical_vram_size_bytes", "memory/physical_vram_size_bytes")
_NO_MEMORY = Reason(
    "The driver of this kernel does not tell how much memory the card has.", "xpu-smi discovery"
)
_NO_UNITS = Reason("Only Intel's own libraries tell it.", "clinfo, or xpu-smi discovery")


def read(host: Host) -> list[Facts]:
    """Return the GPUs, cards before integrated graphics."""
    devices = [
        device
        for device in host.pci
        if device.vendor_id == VENDOR_ID
        and (device.class_id or 0) >> 16 == 0x03
        and not device.is_virtual_function
    ]
    devices.sort(key=lambda device: device.address == INTEGRATED)
    return [_read(host, device) for device in devices]


def _read(host: Host, device: PciDevice) -> Facts:
    gpu = describe(host, device)
    gpu.keep("vendor", "Intel", "PCI's number of the vendor")
    add_backend(gpu, device.device_id or 0)
    for name in ("sms", "l2_bytes"):
        gpu.lack(name, _NO_UNITS)
    hiding = [name for name in _HIDING if name in os.environ]
    if host.is_live and hiding:
        why = f"{hiding[0]} is set here; which GPUs it leaves, only Intel's libraries can tell."
        gpu.lack("visible", Reason(why, "sycl-ls"))
    _add_memory(gpu, host, device.address)
    _add_clock(gpu, host, device.address)
    sensors = hwmon(host.folder(device.address))
    if sensors is not None and not gpu.values.get("asleep"):
        for name, file in (
            ("power_limit_watts", "power1_max"),
            ("power_default_watts", "power1_rated_max"),
        ):
            if microwatts := read_int(sensors / file):
                source = f"/{PCI_DEVICES}/{device.address}/hwmon/*/{file}"
                gpu.keep(name, microwatts / 1e6, source)
    return gpu


def add_backend(gpu: Facts, device_id: int) -> None:
    """Add whether PyTorch supports a GPU with this device number."""
    does = is_supported(device_id)
    if does:
        gpu.keep("torch_backend", "xpu", "PyTorch's list of Intel's GPUs")
    else:
        gpu.lack("torch_backend", _UNLISTED if does is None else _UNSUPPORTED)


def is_supported(device_id: int) -> bool | None:
    """Does PyTorch compute on a GPU with this device number? None for what is newer than known."""
    number = f"{device_id:04x}"
    if number.startswith(_SUPPORTED):
        return True
    return False if number.startswith(_OLDER) else None


def _add_memory(gpu: Facts, host: Host, address: str) -> None:
    shown = f"/{PCI_DEVICES}/{address}"
    if address == INTEGRATED:
        gpu.keep("unified_memory", True, "its PCI address, that of graphics in the processor")
        if host.memory_bytes:
            gpu.keep("memory_bytes", host.memory_bytes, "/proc/meminfo, which the GPU shares")
        return
    gpu.keep("unified_memory", False, "its PCI address: it is a card")
    folder = host.folder(address)
    tiles = [folder / f"tile{n}" for n in numbered(folder, "tile")]  # xe
    for file in _MEMORY_FILES:
        if total := sum(read_int(tile / file) or 0 for tile in tiles):
            gpu.keep("memory_bytes", total, f"{shown}/tile*/{file}")
            return
    for place in (folder, *_cards(folder)):  # i915
        if memory_bytes := read_int(place / "lmem_total_bytes"):
            gpu.keep("memory_bytes", memory_bytes, f"{shown}: lmem_total_bytes")
            return
    gpu.lack("memory_bytes", _NO_MEMORY)


def _add_clock(gpu: Facts, host: Host, address: str) -> None:
    folder = host.folder(address)
    for file in (
        folder / "tile0/gt0/freq0/rp0_freq",  # xe
        *(card / "gt/gt0/rps_RP0_freq_mhz" for card in _cards(folder)),  # i915
        *(card / "gt_RP0_freq_mhz" for card in _cards(folder)),
    ):
        if megahertz := read_int(file):
            source = f"/{PCI_DEVICES}/{address}/{file.relative_to(folder)}"
            gpu.keep("sm_clock_hz", megahertz * 1_000_000, source)
            return


def _cards(folder: Path) -> list[Path]:
    return [folder / f"drm/card{n}" for n in numbered(folder / "drm", "card")]
