"""Made-up answers of Windows, from Microsoft's documentation."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from machine.facts import Notes
from machine.gpus import accelerators, nvidia
from machine.gpus import windows as windows_gpus
from machine.gpus.pci_facts import Host
from machine.gpus.windows import Adapter, read
from machine.model import Machine
from tests.cases import not_on_windows
from tests.machine.fake_nvml import pointed_at
from tests.machine.unexplained import unexplained

RADEON = Adapter(
    device_id=r"PCI\VEN_1002&DEV_744C&SUBSYS_0E3B1002&REV_C8",
    name="AMD Radeon RX 7900 XTX",
    values={"HardwareInformation.qwMemorySize": 24 * 2**30, "DriverVersion": "31.0.24027.1012"},
)
ARC = Adapter(
    device_id=r"PCI\VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00", name="Intel Arc B580", values={}
)
OTHERS = [
    Adapter(device_id=r"PCI\VEN_10DE&DEV_2684", name="NVIDIA GeForce RTX 4090", values={}),
    Adapter(device_id=r"ROOT\BASICDISPLAY", name="Microsoft Basic Display Adapter", values={}),
]


def test_an_adapter_is_told_once_however_many_outputs_it_has():
    (gpu,) = read(list_adapters=lambda: [RADEON, RADEON, *OTHERS])
    assert gpu.values == {
        "vendor": "AMD",
        "name": "AMD Radeon RX 7900 XTX",
        "memory_bytes": 24 * 2**30,
        "driver_version": "31.0.24027.1012",
    }
    assert "AMD's own packages" in gpu.missing["torch_backend"].why


def test_memory_that_is_written_as_bytes_is_the_same():
    values = {"HardwareInformation.qwMemorySize": (16 * 2**30).to_bytes(8, "little")}
    (gpu,) = read(
        list_adapters=lambda: [Adapter(device_id=RADEON.device_id, name="A", values=values)]
    )
    assert gpu.values["memory_bytes"] == 16 * 2**30


def test_what_the_driver_has_not_written_is_unknown():
    (gpu,) = read(list_adapters=lambda: [ARC])
    assert gpu.values["torch_backend"] == "xpu"
    assert "registry" in gpu.missing["memory_bytes"].why


@not_on_windows
def test_elsewhere_windows_is_not_asked():
    assert windows_gpus.adapters() == []


def test_adapters_and_their_registry_keys_are_those_that_windows_names(monkeypatch):
    def enumerate_devices(_device, number, pointer, _flags):
        device, characters = pointed_at(pointer), 32 + 128 + 128 + 128
        assert device.size == 8 + characters * ctypes.sizeof(ctypes.c_wchar)
        device.name, device.device_id = RADEON.name, RADEON.device_id
        device.key = rf"\Registry\Machine\System\Video\{number}"
        return number < 2

    def open_key(root, path):
        if path != r"System\Video\0":
            raise FileNotFoundError
        return contextlib.nullcontext(RADEON.values)

    registry = SimpleNamespace(
        HKEY_LOCAL_MACHINE=0, OpenKey=open_key, QueryValueEx=lambda values, name: (values[name], 0)
    )
    user32 = SimpleNamespace(EnumDisplayDevicesW=enumerate_devices)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(user32=user32), raising=False)
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert windows_gpus.adapters() == [RADEON, replace(RADEON, values={})]


@pytest.mark.parametrize("adapters", [[], [RADEON, ARC]])
def test_all_is_explained_on_windows(monkeypatch, tmp_path, adapters):
    monkeypatch.setattr(accelerators.sys, "platform", "win32")
    notes = Notes()
    found = dict(
        accelerators.parts(
            Host(root=tmp_path, is_live=True),
            notes,
            ask_nvidia=lambda host: nvidia.Found(),
            ask_windows=lambda pci: read(pci, lambda: adapters),
        )
    )
    machine = Machine(**found, sources=notes.sources, missing=tuple(notes.missing))
    assert len(machine.gpus) == len(adapters)
    assert [path for path in unexplained(machine) if path.startswith(("gpu", "nvsw"))] == []
