"""AMD's and Intel's GPUs on Windows, from the list of display adapters and the registry.

Windows lists each adapter once per output (EnumDisplayDevicesW), and names its registry key. The
driver stores the memory size in that key. No administrator rights are needed.

LIMIT: follows Microsoft's documentation and is tested with made-up answers; not yet tested on
Windows.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from machine.devices import PciDevice
from machine.facts import Facts, Reason
from machine.gpus import amd, intel
from machine.record import Record

_ASKED = "EnumDisplayDevicesW"
_MEMORY = "HardwareInformation.qwMemorySize"
_VENDORS = {amd.VENDOR_ID: "AMD", intel.VENDOR_ID: "Intel"}  # NVIDIA's library tells its own
_NO_ROCM = Reason(
    "PyTorch for AMD's GPUs comes with AMD's own packages on Windows, and for some GPUs only.",
    "See AMD's list of GPUs that ROCm supports on Windows.",
)
_UNTOLD = Reason("The driver has not written it into the registry.", "dxdiag")


class Adapter(Record):
    """A display adapter: its PCI numbers, its name, and the values of its registry key."""

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
    """Return the adapters that Windows lists; none on other systems."""
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
    r"""Return the values of a registry key, which Windows names \Registry\Machine\..."""
    winreg: Any = importlib.import_module("winreg")  # on Windows only
    path = re.sub(r"^\\Registry\\Machine\\", "", key, flags=re.IGNORECASE)
    found = {}
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as opened:
            for name in (_MEMORY, "DriverVersion"):
                try:
                    found[name] = winreg.QueryValueEx(opened, name)[0]
                except OSError:  # not stored
                    continue
    except OSError:  # no such key, or no permission
        pass
    return found


def read(
    pci: Sequence[PciDevice] = (), list_adapters: Callable[[], list[Adapter]] = adapters
) -> list[Facts]:
    """Return the GPUs of AMD and Intel, each once despite several outputs.

    Two cards of one kind have one name and one number, so that their places stay unknown.
    """
    found: dict[str, Facts] = {}
    for adapter in list_adapters():
        numbers = re.match(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", adapter.device_id, re.I)
        vendor_id = int(numbers[1], 16) if numbers else 0
        if not numbers or vendor_id not in _VENDORS:
            continue
        gpu = found[f"{adapter.device_id} {adapter.name}"] = Facts()
        gpu.keep("vendor", _VENDORS[vendor_id], _ASKED)
        gpu.keep("name", adapter.name, _ASKED)
        kind = vendor_id, int(numbers[2], 16)
        places = [each.address for each in pci if (each.vendor_id, each.device_id) == kind]
        if len(places) == 1:
            gpu.keep("pci_address", places[0], f"{_ASKED}: the numbers of the PCI device")
        memory_bytes = adapter.values.get(_MEMORY)
        if isinstance(memory_bytes, bytes):  # some drivers store bytes
            memory_bytes = int.from_bytes(memory_bytes, "little")
        gpu.found("memory_bytes", memory_bytes or None, f"registry: {_MEMORY}", _UNTOLD)
        version = adapter.values.get("DriverVersion")
        gpu.found("driver_version", version, "registry: DriverVersion", _UNTOLD)
        if vendor_id == intel.VENDOR_ID:
            intel.add_backend(gpu, kind[1])
            if places == [intel.INTEGRATED]:
                why = "its PCI address, that of graphics in the processor"
                gpu.keep("unified_memory", True, why)
        else:
            gpu.lack("torch_backend", _NO_ROCM)
    return list(found.values())
