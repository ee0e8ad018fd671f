"""The questions to Windows, asked of a made-up one."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from types import SimpleNamespace

from machine.windows import answers
from machine.windows.answers import Answers, told
from tests.cases import not_on_windows
from tests.machine.fake_nvml import pointed_at
from tests.machine.windows import recorded

LAYOUT = recorded.read("windows-i5-1235u")[0].processors
KEYS = {
    r"HARDWARE\DESCRIPTION\System\CentralProcessor\0": [("~MHz", 2496)],
    r"SOFTWARE\Microsoft\Windows NT\CurrentVersion": [("CurrentBuild", "22631")],
}
DEVICE = r"PCI\VEN_8086&DEV_46A8\3&1"


@not_on_windows
def test_elsewhere_nothing_is_asked():
    assert answers.ask() == Answers()


def test_a_property_is_a_number_a_text_or_several():
    assert told(0x07, (65537).to_bytes(4, "little")) == 65537
    assert told(0x12, "Größe\0".encode("utf-16-le")) == "Größe"
    assert told(0x2012, "a\0b\0\0".encode("utf-16-le")) == ("a", "b")
    assert told(0x12, b"") is None
    assert told(0x0D, bytes(16)) is None


class Kernel:
    """The calls of kernel32 that are asked, with Microsoft's habit of asking for sizes first."""

    def GetLogicalProcessorInformationEx(self, _relations, buffer, size):
        if buffer is None:
            pointed_at(size).value = len(LAYOUT)
            return 0
        buffer[: len(LAYOUT)] = LAYOUT
        return 1

    def GetSystemFirmwareTable(self, provider, _table, buffer, _size):
        assert provider.to_bytes(4, "big") == b"RSMB"
        if buffer is not None:
            buffer[:4] = b"\0\3\5\0"
        return 4

    def IsProcessorFeaturePresent(self, number):
        return number in (10, 40)


class Manager:
    """The calls of cfgmgr32: one device on PCI, none of the classes."""

    def CM_Get_Device_ID_List_SizeW(self, size, group, flags):
        assert flags & 0x100, "else devices of the past are listed"
        pointed_at(size).value = len(DEVICE) + 2 if group == "PCI" else 1
        return 0

    def CM_Get_Device_ID_ListW(self, group, listed, _size, _flags):
        if group == "PCI":
            listed[: len(DEVICE)] = DEVICE
        return 0

    def CM_Locate_DevNodeW(self, node, name, _flags):
        assert name == DEVICE
        pointed_at(node).value = 7
        return 0

    def CM_Get_DevNode_PropertyW(self, node, key, kind, buffer, size, _flags):
        assert node.value == 7
        if int.from_bytes(key[16:], "little") != 23:
            return 0x25  # no such property
        if buffer is None:
            pointed_at(size).value = 4
            return 0x1A  # too small
        pointed_at(kind).value = 7
        buffer[:4] = (5).to_bytes(4, "little")
        return 0


def test_windows_is_asked_as_microsoft_documents_it(monkeypatch):
    registry = SimpleNamespace(
        HKEY_LOCAL_MACHINE=0,
        OpenKey=lambda root, path: contextlib.nullcontext(KEYS[path]),
        QueryInfoKey=lambda values: (0, len(values), 0),
        EnumValue=lambda values, n: (*values[n], 1),
    )
    libraries = SimpleNamespace(kernel32=Kernel(), cfgmgr32=Manager())
    monkeypatch.setattr(ctypes, "windll", libraries, raising=False)
    monkeypatch.setitem(sys.modules, "winreg", registry)
    found = answers.ask()
    assert found.processors == LAYOUT
    assert found.firmware == b"\0\3\5\0"
    assert found.processor_key == {"~MHz": 2496}
    assert found.version_key == {"CurrentBuild": "22631"}
    assert found.features == (10, 40)
    assert [(device.id, device.bus, device.parent) for device in found.pci] == [(DEVICE, 5, None)]
    assert (found.disks, found.power_plan, found.drives) == ((), None, ())


def test_what_windows_refuses_is_left_empty(monkeypatch):
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(), raising=False)
    monkeypatch.setitem(sys.modules, "winreg", None)
    assert answers.ask() == Answers()
