"""Made-up answers of Windows and macOS, from the documentation; not from real machines."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

from machine.doctor import other_systems
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml, NvmlDevice, Torch, Vendor
from machine.gpus.windows import Adapter
from tests.machine.doctor.made import CPU_TORCH


def adapter(name: str, device_id: str) -> Adapter:
    return Adapter(name=name, device_id=device_id, values={})


GEFORCE = adapter("NVIDIA GeForce RTX 4070", r"PCI\VEN_10DE&DEV_2786&SUBSYS_16FA10DE&REV_A1")
UHD = adapter("Intel(R) UHD Graphics 770", r"PCI\VEN_8086&DEV_4680&SUBSYS_86941043&REV_0C")
ARC = adapter("Intel(R) Arc(TM) Graphics", r"PCI\VEN_8086&DEV_7D55&SUBSYS_00000000&REV_08")
REMOTE = adapter("Microsoft Remote Display Adapter", r"SWD\REMOTEDISPLAYENUM\RdpIdd")


def test_adapters_are_cards_by_their_pci_identity():
    cards = other_systems.windows_cards([GEFORCE, GEFORCE, UHD, ARC, REMOTE])

    assert [(card.vendor, card.only_draws) for card in cards] == [
        (Vendor.NVIDIA, False),
        (Vendor.INTEL, True),
        (Vendor.INTEL, False),
    ]
    assert cards[0].name == "NVIDIA GeForce RTX 4070"


def test_only_apples_own_chips_count_on_a_mac():
    assert [card.vendor for card in other_systems.mac_cards(True)] == [Vendor.APPLE]
    assert other_systems.mac_cards(False) == ()


@pytest.fixture
def windows(monkeypatch):
    def gathered(*adapters, nvml):
        monkeypatch.setattr(other_systems.sys, "platform", "win32")
        return other_systems.gather(
            "py",
            {},
            nvml=lambda: nvml,
            probe=lambda python: CPU_TORCH,
            list_adapters=lambda: list(adapters),
        )

    return gathered


def test_the_commonest_case_is_found_on_windows(windows):
    evidence = windows(
        UHD, GEFORCE, nvml=Nvml(code=0, cuda=(13, 0), devices=(NvmlDevice(index=0),))
    )

    assert evidence.surroundings.system == "windows"
    assert diagnose(evidence).found.key == "build_for_processors"
    assert "--index-url" in diagnose(evidence).found.commands[0]


def test_a_missing_driver_is_found_on_windows(windows):
    assert diagnose(windows(GEFORCE, nvml=Nvml(code=12))).found.key == "library_missing"


def test_a_card_without_a_screen_is_known_by_its_driver_alone(windows):
    evidence = windows(UHD, nvml=Nvml(code=0, devices=(NvmlDevice(index=0),)))

    assert [card.vendor for card in evidence.cards] == [Vendor.INTEL, Vendor.NVIDIA]


def test_a_computer_with_intels_graphics_alone_has_no_problem(windows):
    evidence = windows(UHD, nvml=Nvml(code=12))

    assert evidence.nvml is None
    assert diagnose(evidence).found.key == "intel_integrated"


def test_a_mac_is_gathered(monkeypatch):
    monkeypatch.setattr(other_systems.sys, "platform", "darwin")
    said = SimpleNamespace(stdout="1\n")  # of sysctl hw.optional.arm64
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said)

    evidence = other_systems.gather(
        "py", {}, nvml=lambda: Nvml(), probe=lambda python: Torch(python=python, has_mps=False)
    )

    assert (evidence.surroundings.system, evidence.surroundings.architecture) == ("macos", "arm64")
    assert evidence.nvml is None
    assert diagnose(evidence).found.key == "build_for_processors"
