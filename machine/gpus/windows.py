"""Which GPUs has a Windows machine beside those of NVIDIA?

Windows lists the adapters that are there (EnumDisplayDevicesW), once for each output, and names for
each a key of the registry, in which its driver has written how much memory it has. No right of an
administrator is needed.

LIMIT: written after Microsoft's documentation, and tested with answers constructed after it; not
yet seen on a Windows machine.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from machine.facts import Facts, Reason
from machine.gpus import amd, intel

_ASKED = "EnumDisplayDevicesW"
_MEMORY = "HardwareInformation.qwMemorySize"
_VENDORS = {amd.VENDOR_ID: "AMD", intel.VENDOR_ID: "Intel"}  # NVIDIA's library tells its own
_NO_ROCM = Reason(
    "PyTorch for AMD's GPUs comes with AMD's own packages on Windows, and for some GPUs only.",
    "See AMD's list of GPUs that ROCm supports on Windows.",
)
_UNTOLD = Reason("The driver has not written it into the registry.", "dxdiag")


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """What Windows says of an adapter: PCI's numbers, a name, and the values of its key."""

    device_id: str
    name: str
    values: Mapping[str, Any]


class _DisplayDevice(ctypes.Structure):
    """DISPLAY_DEVICEW."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("device_name", ctypes.c_wchar * 32),
        ("name", ctypes.c_wchar * 128),
        ("flags", ctypes.c_uint32),
        ("device_id", ctypes.c_wchar * 128),
        ("key", ctypes.c_wchar * 128),
    )


def adapters() -> list[Adapter]:
    """Return what Windows lists; nothing elsewhere."""
    libraries = getattr(ctypes, "windll", None)
    if libraries is None:
        return []
    found: list[Adapter] = []
    device = _DisplayDevice(size=ctypes.sizeof(_DisplayDevice))
    while libraries.user32.EnumDisplayDevicesW(None, len(found), ctypes.byref(device), 0):
        found.append(
            Adapter(device_id=device.device_id, name=device.name, values=_values(device.key))
        )
    return found


def _values(key: str) -> dict[str, Any]:
    """Return the values of a key that Windows names from its root, Registry, Machine, on."""
    winreg: Any = importlib.import_module("winreg")  # there is none elsewhere
    path = re.sub(r"^\\Registry\\Machine\\", "", key, flags=re.IGNORECASE)
    found = {}
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as opened:
            for name in (_MEMORY, "DriverVersion"):
                try:
                    found[name] = winreg.QueryValueEx(opened, name)[0]
                except OSError:  # not written
                    continue
    except OSError:  # no such key, or not for us
        pass
    return found


def read(list_adapters: Callable[[], list[Adapter]] = adapters) -> list[Facts]:
    """Return the GPUs of AMD and Intel, each once however many outputs it has."""
    found: dict[str, Facts] = {}
    for adapter in list_adapters():
        numbers = re.match(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", adapter.device_id, re.I)
        vendor_id = int(numbers[1], 16) if numbers else 0
        if not numbers or vendor_id not in _VENDORS:
            continue
        gpu = found[f"{adapter.device_id} {adapter.name}"] = Facts()
        gpu.keep("vendor", _VENDORS[vendor_id], _ASKED)
        gpu.keep("name", adapter.name, _ASKED)
        memory_bytes = adapter.values.get(_MEMORY)
        if isinstance(memory_bytes, bytes):  # some drivers write it so
            memory_bytes = int.from_bytes(memory_bytes, "little")
        gpu.found("memory_bytes", memory_bytes or None, f"registry: {_MEMORY}", _UNTOLD)
        version = adapter.values.get("DriverVersion")
        gpu.found("driver_version", version, "registry: DriverVersion", _UNTOLD)
        if vendor_id == intel.VENDOR_ID:
            intel.add_backend(gpu, int(numbers[2], 16))
        else:
            gpu.lack("torch_backend", _NO_ROCM)
    return list(found.values())
