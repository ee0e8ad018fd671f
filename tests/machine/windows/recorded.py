"""Answers of Windows, packed from readable descriptions as Microsoft documents their form."""

from __future__ import annotations

import struct
import tomllib
from pathlib import Path
from typing import Any

from machine.system.basics import Basics
from machine.system.linux import parse_list
from machine.windows.answers import Answers, Device, Drive

FOLDER = Path(__file__).parents[1] / "recorded_systems"
CORE, NODE, CACHE, PACKAGE, GROUP, DIE, NODES, MODULE = range(8)


def read(name: str) -> tuple[Answers, Basics]:
    """Return the answers that a description leads to, and psutil's facts."""
    told = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    threads = sum(told["groups"])
    answers = Answers(
        processors=processors(told),
        firmware=firmware(told["firmware"]),
        processor_key={
            "ProcessorNameString": told["model"],
            "~MHz": told["mhz"],
            "Update Revision": bytes.fromhex(told["microcode"]),
        },
        version_key={"CurrentBuild": told["build"]},
        features=tuple(told["features"]),
        power_plan=told["power_plan"],
        pci=tuple(_device(each) for each in told["pci"]),
        networks=tuple(_device(each) for each in told["pci"] if each.get("network")),
        disks=tuple(
            Device(id=f"SCSI\\DISK{n}", friendly_name=each["model"], parent=each["parent"])
            for n, each in enumerate(told["drive"])
        ),
        drives=tuple(_drive(n, each) for n, each in enumerate(told["drive"])),
    )
    known = Basics(
        release="11",
        architecture="AMD64",
        processor="A family and a model",
        threads=threads,
        cores=len(told["cores"]),
        usable=tuple(range(threads)),
        memory_bytes=told["memory_bytes"],
        swap_total_bytes=2**31,
        swap_used_bytes=0,
    )
    return answers, known


def server() -> dict[str, Any]:
    """Return two packages of 36 cores with 72 threads each, in three groups."""
    told = tomllib.loads((FOLDER / "windows-i5-1235u.toml").read_text())
    ways = [(0, 48), (1, 48), (2, 48)]
    return {
        **told,
        "groups": [count for _, count in ways],
        "cores": [
            [[group, f"{n}-{n + 1}"], 0] for group, count in ways for n in range(0, count, 2)
        ],
        "packages": [[[0, "0-47"], [1, "0-23"]], [[1, "24-47"], [2, "0-47"]]],
        "dies": [],
        "modules": [],
        "nodes": [[0, [[0, "0-47"], [1, "0-23"]]], [1, [[1, "24-47"], [2, "0-47"]]]],
        "caches": [[2, 16, 64, 2048, 0, "cores"]],
    }


def processors(told: dict[str, Any]) -> bytes:
    """Return the buffer of GetLogicalProcessorInformationEx."""
    found = [_entry(GROUP, _groups(told["groups"]))]
    for masks, efficiency in told["cores"]:
        data = struct.pack("<BB20xH", 0, efficiency, 1)
        found.append(_entry(CORE, data + _mask(*masks)))
    for kind, name in ((PACKAGE, "packages"), (DIE, "dies"), (MODULE, "modules")):
        for masks in told[name]:
            data = struct.pack("<BB20xH", 0, 0, len(masks))
            found.append(_entry(kind, data + b"".join(_mask(*mask) for mask in masks)))
    for number, masks in told["nodes"]:
        data = struct.pack("<I18xH", number, len(masks))
        found.append(_entry(NODE, data + b"".join(_mask(*mask) for mask in masks)))
    for level, ways, line, kib, kind, served in told["caches"]:
        each = [masks for masks, _ in told["cores"]] if served == "cores" else served
        for one in each:
            data = struct.pack("<BBHII18xH", level, ways, line, kib * 1024, kind, 1)
            mask = _mask(0, one) if isinstance(one, str) else _mask(*one)
            found.append(_entry(CACHE, data + mask))
    return b"".join(found)


def _entry(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, 8 + len(data)) + data


def _groups(counts: list[int]) -> bytes:
    head = struct.pack("<HH20x", len(counts), len(counts))
    return head + b"".join(struct.pack("<BB38xQ", n, n, 2**n - 1) for n in counts)


def _mask(group: int, threads: str) -> bytes:
    return struct.pack("<QH6x", sum(1 << n for n in parse_list(threads)), group)


def firmware(told: dict[str, Any]) -> bytes:
    """Return the answer of GetSystemFirmwareTable: a head, then SMBIOS."""
    vendor, version, date = told["bios"]
    table = _smbios(0, b"\1\2\0\0\3" + bytes(15), vendor, version, date)
    table += _smbios(1, b"\1\2\0\0" + bytes(19), *told["system"])
    table += _smbios(2, b"\1\2\0\0" + bytes(7), *told["board"])
    for slot, bank, mib, kind, rated, configured, maker, part in told["modules"]:
        bits = 64 if mib else 0xFFFF
        data = struct.pack("<HHHHHBBBBBHHBBBBBIH", 0, 0xFFFE, bits, bits, mib, 9, 0, 1, 2, kind, 0,
                           rated, 3, 0, 0, 4, 0, 0, configured)  # fmt: skip
        table += _smbios(17, data, slot, bank, maker, part)
    table += _smbios(127, b"")
    return struct.pack("<BBBBI", 0, 3, 5, 0, len(table)) + table


def _smbios(kind: int, data: bytes, *strings: str) -> bytes:
    head = struct.pack("<BBH", kind, 4 + len(data), 0)
    return head + data + b"\0".join(text.encode() for text in strings) + b"\0\0"


def _device(told: dict[str, Any]) -> Device:
    bus, number, function = told["place"]
    best, now = told.get("best", (None, None)), told.get("now", (None, None))
    kind = told["class"]
    return Device(
        id=told["id"],
        description=told["name"],
        hardware_ids=(told["id"].rpartition("\\")[0],),
        compatible_ids=(f"PCI\\CC_{kind}", f"PCI\\CC_{kind[:4]}"),
        bus=bus,
        address=number << 16 | function,
        parent=told["parent"],
        link_generation=now[0],
        link_width=now[1],
        most_generation=best[0],
        most_width=best[1],
    )


def _drive(number: int, told: dict[str, Any]) -> Drive:
    model, serial = told["model"].encode() + b"\0", b"SECRET-SERIAL\0"
    head = struct.pack("<IIBBBBIIIII", 40, 0, 0, 0, 0, 1, 0, 40, 0, 40 + len(model), told["bus"])
    return Drive(
        number=number,
        descriptor=head.ljust(40, b"\0") + model + serial,
        seek_penalty=struct.pack("<II?", 12, 12, told["turns"]),
        geometry=bytes(24) + struct.pack("<q", told["size_bytes"]),
    )
