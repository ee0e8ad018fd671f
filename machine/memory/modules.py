"""Memory modules: their size, speed and slots, and the number of channels in use.

The firmware's table (SMBIOS, type 17) lists the modules, but only root may read it. Since systemd
248 udev keeps a copy that everyone may read. The drivers for memory errors (EDAC) report modules
and channels, but no speed.

The number of channels in use comes from EDAC, or from names of slots or banks that contain
"channel". For memory newer than DDR4, EDAC's driver for Intel's desktops counts each half channel,
so it is not used. Nothing is guessed: a letter in a slot's name means a channel for one maker and a
processor for another. Behind the name of a controller it is a channel: Controller0-DIMMA2.

Source: System Management BIOS Reference Specification 3.7 of 2023, section 7.18 (DSP0134). LPDDR5X
and MRDIMMs have no code of their own there; a code that is newer is of no known kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from machine.model import MemoryModule
from machine.system import smbios
from machine.system.linux import entries, exists, numbered, read_bytes, read_int, read_text, to_int

_UDEV = "run/udev/data/+dmi:id"
_TABLE = "sys/firmware/dmi/tables/DMI"
_ENTRIES = "sys/firmware/dmi/entries"
_EDAC = "sys/devices/system/edac/mc"
_MIB, _KIB = 2**20, 2**10
_MODULE = 17  # the type of the entry
# Codes of the kind, section 7.18.2.
_KINDS = {
    0x0F: "SDRAM",
    0x12: "DDR",
    0x13: "DDR2",
    0x18: "DDR3",
    0x1A: "DDR4",
    0x1B: "LPDDR",
    0x1C: "LPDDR2",
    0x1D: "LPDDR3",
    0x1E: "LPDDR4",
    0x20: "HBM",
    0x21: "HBM2",
    0x22: "DDR5",
    0x23: "LPDDR5",
    0x24: "HBM3",
}
_NOT_MEMORY = {0x08, 0x09, 0x0A, 0x0B, 0x0C}  # ROM, flash and others that hold the firmware
_NOT_MEMORY_WORDS = {"ROM", "Flash", "EEPROM", "FEPROM", "EPROM"}
_SLOTS = "the names of slots and banks"
_MOST_KEPT = 0.75  # kernel, firmware and graphics mostly take less than a quarter
_COUNTS_HALVES = "Intel_client_SoC"  # mc_name of the kernel's igen6_edac
_WHOLE_CHANNELS = {"DDR3", "DDR4"}
_CHANNEL = re.compile(
    r".*?channel[ _-]?(?:[0-9]+|[a-z])|controller[0-9]+-dimm[a-z](?=[0-9])", re.IGNORECASE
)


def read_modules(root: Path) -> tuple[tuple[MemoryModule, ...], str]:
    """Return the slots, empty ones with size 0, and their source."""
    for source, read in (
        (_UDEV, _from_udev),
        (_TABLE, lambda path: listed(read_bytes(path) or b"")),
        (_ENTRIES, _from_entries),
    ):
        modules = read(root / source)
        if modules:
            return tuple(modules), f"/{source}"
    return tuple(_from_edac(root / _EDAC)), f"/{_EDAC}/mc*/dimm*"


def read_channels(root: Path, modules: Iterable[MemoryModule]) -> tuple[int | None, str, str]:
    """Return the number of channels that hold a module, its source, and what contradicts it."""
    filled = [module for module in modules if module.size_bytes]
    edac = len(_edac_channels(root / _EDAC, filled))
    named = told_channels(filled)
    count, source = (edac, f"/{_EDAC}/mc*/*/dimm_location") if edac else (named, _SLOTS)
    clash = ""
    if edac and named and edac != named:
        clash = f"The drivers for memory errors count {edac} channels, the names of the slots tell "
        clash += f"{named}; the drivers count here."
    elif count and count > len(filled) > 0:
        clash = f"{count} channels are told, and only {len(filled)} modules."
    return count, source, clash


def clash_of_sizes(modules: Iterable[MemoryModule], total_bytes: int | None) -> str | None:
    """Return what differs if the modules and the kernel's memory are too far apart."""
    sizes = [module.size_bytes for module in modules]
    told_bytes = sum(size or 0 for size in sizes)
    if None in sizes or not told_bytes or not total_bytes:
        return None
    told, has = (f"{count / 2**30:.3g} GiB" for count in (told_bytes, total_bytes))
    if total_bytes > told_bytes:
        return f"The kernel has {has} of memory, and the firmware lists modules of {told} only."
    if total_bytes < _MOST_KEPT * told_bytes:
        return f"The modules add up to {told}, and the kernel has {has} of them."
    return None


def named_channels(modules: Iterable[MemoryModule]) -> int:
    """Return how many channels these slots and banks name, empty slots included."""
    return len({name for module in modules if (name := _channel(module))})


def is_locked(root: Path) -> bool:
    """Is there a table that this user may not read?"""
    return exists(root / _TABLE) and read_bytes(root / _TABLE) is None


def _from_udev(path: Path) -> list[MemoryModule]:
    """Return the slots of lines such as E:MEMORY_DEVICE_0_SIZE=17179869184."""
    devices: dict[int, dict[str, str]] = {}
    for line in (read_text(path) or "").splitlines():
        match = re.fullmatch(r"E:MEMORY_DEVICE_(\d{1,9})_(\w+)=(.*)", line)
        if match:
            devices.setdefault(int(match[1]), {})[match[2]] = match[3].strip()
    modules = []
    for _, told in sorted(devices.items()):
        kind = told.get("TYPE", "")
        if kind in _NOT_MEMORY_WORDS:
            continue
        rated = _number(told.get("SPEED_MTS", ""))
        configured = _number(told.get("CONFIGURED_SPEED_MTS", ""))
        modules.append(
            MemoryModule(
                slot=told.get("LOCATOR"),
                bank=told.get("BANK_LOCATOR"),
                maker=told.get("MANUFACTURER"),
                part_number=told.get("PART_NUMBER"),
                kind=kind if kind in _KINDS.values() else None,
                size_bytes=0 if told.get("PRESENT") == "0" else _number(told.get("SIZE", "")),
                transfers_per_s=_per_s(configured or rated),
                rated_transfers_per_s=_per_s(rated),
                data_bits=_number(told.get("DATA_WIDTH", "")),
            )
        )
    return modules


def _from_entries(folder: Path) -> list[MemoryModule]:
    raw = [read_bytes(folder / f"17-{n}/raw") or b"" for n in numbered(folder, "17-")]
    return listed(b"".join(raw))


def listed(table: bytes) -> list[MemoryModule]:
    """Return the modules in a table of the firmware, or in consecutive entries of it."""
    return [
        _module(entry)
        for entry in smbios.entries(table)
        if entry.kind == _MODULE and len(entry.data) >= 0x15 and entry.data[0x12] not in _NOT_MEMORY
    ]


def _module(entry: smbios.Entry) -> MemoryModule:
    word, text = entry.word, entry.text
    size = word(0x0C)
    if size == 0x7FFF:  # 32 GiB and more
        size_bytes: int | None = (word(0x1C, 4) & 0x7FFFFFFF) * _MIB
    elif size == 0xFFFF:
        size_bytes = None
    else:
        size_bytes = (size & 0x7FFF) * (_KIB if size & 0x8000 else _MIB)
    # 0xFFFF points to the wider fields of SMBIOS 3.3.
    configured = word(0x58, 4) if word(0x20) == 0xFFFF else word(0x20)
    rated = word(0x54, 4) if word(0x15) == 0xFFFF else word(0x15)
    bits = word(0x0A)
    return MemoryModule(
        slot=text(0x10),
        bank=text(0x11),
        maker=text(0x17),
        part_number=text(0x1A),
        kind=_KINDS.get(entry.data[0x12]),
        size_bytes=size_bytes,
        transfers_per_s=_per_s(configured or rated),
        rated_transfers_per_s=_per_s(rated),
        data_bits=bits if bits not in (0, 0xFFFF) else None,
    )


def _from_edac(folder: Path) -> list[MemoryModule]:
    """Return the modules that EDAC lists; it lists no empty slots."""
    modules = []
    for number in numbered(folder, "mc"):
        controller = folder / f"mc{number}"
        for place in numbered(controller, "dimm"):
            module = controller / f"dimm{place}"
            size = read_int(module / "size")
            kind = (read_text(module / "dimm_mem_type") or "").rpartition("-")[2]
            if size:
                modules.append(
                    MemoryModule(
                        slot=read_text(module / "dimm_label") or None,
                        kind=kind if kind in _KINDS.values() else None,
                        size_bytes=size * _MIB,
                    )
                )
    return modules


def _edac_channels(folder: Path, filled: list[MemoryModule]) -> set[tuple[int, str]]:
    """Return controller and channel of every module or rank with memory."""
    has_whole_channels = {module.kind for module in filled} <= _WHOLE_CHANNELS
    channels = set()
    for number in numbered(folder, "mc"):
        controller = folder / f"mc{number}"
        name = read_text(controller / "mc_name") or ""
        if name.startswith(_COUNTS_HALVES) and not has_whole_channels:
            return set()
        for name in entries(controller):
            if re.fullmatch(r"(dimm|rank)\d+", name) and read_int(controller / name / "size"):
                place = read_text(controller / name / "dimm_location") or ""
                match = re.search(r"(branch \d+ )?channel \d+", place)
                if match is None:
                    return set()
                channels.add((number, match[0]))
    return channels


def told_channels(filled: list[MemoryModule]) -> int | None:
    """Return the number of channels in the names, if all have one and no two slots are alike."""
    channels = {_channel(module) for module in filled}
    # What stands beside a channel in the slot's name is no part of it: it may be a processor.
    slots = {m.slot if _CHANNEL.match(m.slot or "") else (m.bank, m.slot) for m in filled}
    return None if None in channels or len(slots) < len(filled) else len(channels) or None


def _channel(module: MemoryModule) -> str | None:
    """Return the name of its channel, which stands in that of its slot, or else of its bank."""
    found = _CHANNEL.match(module.slot or "") or _CHANNEL.match(module.bank or "")
    return found[0] if found else None


def _per_s(mega: int | None) -> float | None:
    return mega * 1e6 if mega else None


def _number(text: str) -> int | None:
    return (to_int(text) or None) if text.isdecimal() else None
