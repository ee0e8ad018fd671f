"""Asks Windows; no question needs an administrator's rights. Other modules read the answers.

LIMIT: follows Microsoft's documentation; not yet tried on Windows.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import struct
import uuid
from collections.abc import Iterator
from typing import Any

from msgspec import field

from machine.record import Record

_ALL_RELATIONS = 0xFFFF
_RAW_SMBIOS = 0x52534D42  # 'RSMB'
_PROCESSOR_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
_PRESENT, _OF_ENUMERATOR, _OF_CLASS = 0x100, 0x001, 0x200  # CM_GETIDLIST_FILTER_ of cfgmgr32.h
_CLASSES = {
    "disk": "{4d36e967-e325-11ce-bfc1-08002be10318}",
    "network": "{4d36e972-e325-11ce-bfc1-08002be10318}",
}
_MOST_DRIVES = 64
_QUERY_PROPERTY, _GEOMETRY = 0x2D1400, 0x000700A0  # IOCTL_ of ntddstor.h and ntdddisk.h
_DESCRIPTOR, _SEEK_PENALTY = 0, 7  # STORAGE_PROPERTY_ID
_SHARED, _OPEN_EXISTING = 3, 3
# Properties of devices: their set and number there (devpkey.h and pciprop.h).
_DEVICE = "a45c254e-df1c-4efd-8020-67d146a850e0"
_PCI = "3ab22e31-8264-4b4e-9af5-a8d2d8e33e62"
_PROPERTIES = {
    "friendly_name": (_DEVICE, 14),
    "description": (_DEVICE, 2),
    "hardware_ids": (_DEVICE, 3),
    "compatible_ids": (_DEVICE, 4),
    "bus": (_DEVICE, 23),
    "address": (_DEVICE, 30),
    "parent": ("4340a6c5-93fa-4706-972c-7b648008a5a7", 8),
    "numa_node": ("540b947e-8b40-45bc-a8a2-6a0b894cbda2", 3),
    "link_generation": (_PCI, 9),
    "link_width": (_PCI, 10),
    "most_generation": (_PCI, 11),
    "most_width": (_PCI, 12),
}
_NUMBER, _TEXT, _TEXTS = 0x07, 0x12, 0x2012  # DEVPROP_TYPE_UINT32, _STRING, _STRING_LIST


class Device(Record):
    """A device that is present, as the registry of devices describes it; `id` is its instance."""

    id: str
    friendly_name: str | None = None
    description: str | None = None
    hardware_ids: tuple[str, ...] = ()
    compatible_ids: tuple[str, ...] = ()
    bus: int | None = None
    address: int | None = None
    parent: str | None = None
    numa_node: int | None = None
    link_generation: int | None = None
    link_width: int | None = None
    most_generation: int | None = None
    most_width: int | None = None


class Drive(Record):
    r"""The answers of \\.\PhysicalDriveN: STORAGE_DEVICE_DESCRIPTOR and others, b"" if nothing."""

    number: int
    descriptor: bytes = b""
    seek_penalty: bytes = b""
    geometry: bytes = b""


class Answers(Record):
    """All answers of Windows; empty where it gave none."""

    processors: bytes = b""
    firmware: bytes = b""
    processor_key: dict[str, Any] = field(default_factory=dict)
    version_key: dict[str, Any] = field(default_factory=dict)
    features: tuple[int, ...] = ()
    power_plan: str | None = None
    pci: tuple[Device, ...] = ()
    disks: tuple[Device, ...] = ()
    networks: tuple[Device, ...] = ()
    drives: tuple[Drive, ...] = ()


def ask() -> Answers:
    """Return the answers of the running Windows; empty ones on other systems."""
    libraries: Any = getattr(ctypes, "windll", None)
    if libraries is None:
        return Answers()
    found: dict[str, Any] = {}
    for name, question in (
        ("processors", _processors),
        ("firmware", _firmware),
        ("processor_key", lambda _: _values(_PROCESSOR_KEY)),
        ("version_key", lambda _: _values(_VERSION_KEY)),
        ("features", _features),
        ("power_plan", _power_plan),
        ("pci", lambda each: _devices(each, "PCI", _OF_ENUMERATOR)),
        ("disks", lambda each: _devices(each, _CLASSES["disk"], _OF_CLASS)),
        ("networks", lambda each: _devices(each, _CLASSES["network"], _OF_CLASS)),
        ("drives", _drives),
    ):
        # An old Windows lacks functions, and Wine leaves some out.
        with contextlib.suppress(OSError, AttributeError, ImportError):
            found[name] = question(libraries)
    return Answers(**found)


def _processors(libraries: Any) -> bytes:
    if ctypes.sizeof(ctypes.c_void_p) != struct.calcsize("Q"):
        return b""  # processes of 32 bits see other structures, and at most 32 threads
    ask, size = libraries.kernel32.GetLogicalProcessorInformationEx, ctypes.c_uint32()
    ask(_ALL_RELATIONS, None, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    done = ask(_ALL_RELATIONS, buffer, ctypes.byref(size))
    return buffer.raw[: size.value] if done else b""


def _firmware(libraries: Any) -> bytes:
    ask = libraries.kernel32.GetSystemFirmwareTable
    buffer = ctypes.create_string_buffer(ask(_RAW_SMBIOS, 0, None, 0))
    size = ask(_RAW_SMBIOS, 0, buffer, len(buffer))
    return buffer.raw[:size]


def _values(key: str) -> dict[str, Any]:
    winreg: Any = importlib.import_module("winreg")  # on Windows only
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
        count = winreg.QueryInfoKey(opened)[1]
        return {
            name: value for name, value, _ in (winreg.EnumValue(opened, n) for n in range(count))
        }


def _features(libraries: Any) -> tuple[int, ...]:
    is_present = libraries.kernel32.IsProcessorFeaturePresent
    return tuple(number for number in range(64) if is_present(number))


def _power_plan(libraries: Any) -> str | None:
    power, plan = libraries.powrprof, ctypes.c_void_p()
    if power.PowerGetActiveScheme(None, ctypes.byref(plan)):
        return None
    name, size = ctypes.create_unicode_buffer(256), ctypes.c_uint32(512)
    try:
        failed = power.PowerReadFriendlyName(None, plan, None, None, name, ctypes.byref(size))
    finally:
        libraries.kernel32.LocalFree(plan)
    return None if failed else name.value


def _devices(libraries: Any, group: str, which: int) -> tuple[Device, ...]:
    manager, size = libraries.cfgmgr32, ctypes.c_uint32()
    flags = which | _PRESENT
    if manager.CM_Get_Device_ID_List_SizeW(ctypes.byref(size), group, flags):
        return ()
    listed: Any = ctypes.create_unicode_buffer(size.value)
    if manager.CM_Get_Device_ID_ListW(group, listed, size, flags):
        return ()
    return tuple(_device(manager, name) for name in listed[:].split("\0") if name)


def _device(manager: Any, name: str) -> Device:
    node, found = ctypes.c_uint32(), {}
    if manager.CM_Locate_DevNodeW(ctypes.byref(node), name, 0) == 0:
        for what, (group, number) in _PROPERTIES.items():
            value = _property(manager, node, uuid.UUID(group), number)
            if value is not None:
                found[what] = value
    return Device(id=name, **found)


def _property(manager: Any, node: ctypes.c_uint32, group: uuid.UUID, number: int) -> Any:
    key = group.bytes_le + number.to_bytes(4, "little")
    kind, size = ctypes.c_uint32(), ctypes.c_uint32(0)
    read = manager.CM_Get_DevNode_PropertyW
    read(node, key, ctypes.byref(kind), None, ctypes.byref(size), 0)
    buffer = ctypes.create_string_buffer(size.value)
    if not size.value or read(node, key, ctypes.byref(kind), buffer, ctypes.byref(size), 0):
        return None
    return told(kind.value, buffer.raw[: size.value])


def told(kind: int, data: bytes) -> int | str | tuple[str, ...] | None:
    """Return the value of a device's property; None for kinds that are not asked for."""
    if kind == _NUMBER:
        return int.from_bytes(data, "little")
    texts = tuple(filter(None, data.decode("utf-16-le", "replace").split("\0")))
    if kind == _TEXTS:
        return texts
    return texts[0] if kind == _TEXT and texts else None


def _drives(libraries: Any) -> tuple[Drive, ...]:
    # A library of its own: what is said of its functions holds for no one else.
    return tuple(_asked_drives(libraries.LoadLibrary("kernel32")))


def _asked_drives(kernel: Any) -> Iterator[Drive]:
    kernel.CreateFileW.restype = ctypes.c_void_p
    for number in range(_MOST_DRIVES):
        # Without rights to read or write, which questions about the device do not need.
        name = rf"\\.\PhysicalDrive{number}"
        handle = kernel.CreateFileW(name, 0, _SHARED, None, _OPEN_EXISTING, 0, None)
        if handle in (None, ctypes.c_void_p(-1).value):
            continue
        device = ctypes.c_void_p(handle)
        try:
            yield Drive(
                number=number,
                descriptor=_control(kernel, device, _QUERY_PROPERTY, _DESCRIPTOR),
                seek_penalty=_control(kernel, device, _QUERY_PROPERTY, _SEEK_PENALTY),
                geometry=_control(kernel, device, _GEOMETRY),
            )
        finally:
            kernel.CloseHandle(device)


def _control(kernel: Any, device: ctypes.c_void_p, code: int, wanted: int | None = None) -> bytes:
    query = b"" if wanted is None else struct.pack("<III", wanted, 0, 0)
    buffer, size = ctypes.create_string_buffer(1024), ctypes.c_uint32()
    done = kernel.DeviceIoControl(
        device, code, query, len(query), buffer, len(buffer), ctypes.byref(size), None
    )
    return buffer.raw[: size.value] if done else b""
