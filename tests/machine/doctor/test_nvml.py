from __future__ import annotations

import sys
from types import SimpleNamespace

import psutil
import pytest

from machine.doctor import nvml
from machine.doctor.evidence import Nvml, NvmlDevice
from machine.doctor.nvml import UNKNOWN, ask_nvml, read
from machine.system import asking
from tests.cases import in_one
from tests.machine.fake_nvml import (
    DRIVER_NOT_LOADED,
    GIB,
    LOST,
    NOT_SUPPORTED,
    FakeNvml,
    NVMLError,
    fabric,
    h100,
)

pynvml = pytest.importorskip("pynvml")


class Library(FakeNvml):
    """With the structure that the real binding has, too."""

    c_nvmlGpuFabricInfo_v2_t = pynvml.c_nvmlGpuFabricInfo_v2_t


def only(library):
    (device,) = read(library).devices
    return device


def test_the_link_is_the_best_of_card_and_slot_together():
    now = {"CurrPcieLinkGeneration": 1, "CurrPcieLinkWidth": 8}
    best = {"MaxPcieLinkGeneration": 4, "MaxPcieLinkWidth": 16}
    link = only(Library(h100(**now, **best))).link
    assert (link.generation, link.width) == (1, 8)
    assert (link.card_generation, link.card_width) == (4, 16)
    assert (link.slot_generation, link.slot_width) == (4, 16)
    assert only(Library(h100(**now, MaxPcieLinkWidth=NVMLError(NOT_SUPPORTED)))).link is None


def test_a_gpu_that_is_well_is_read():
    gpu = h100(0x1A, ComputeMode=0, DisplayActive=0, GpuFabricInfoV=fabric(3))
    answered = read(Library(gpu, CudaDriverVersion_v2=13020))

    assert (answered.code, answered.driver, answered.cuda) == (0, "570.86.10", (13, 2))
    (device,) = answered.devices
    assert (device.name, device.address) == ("NVIDIA H100 80GB HBM3", "0000:1a:00.0")
    assert (device.capability, device.total_bytes) == ((9, 0), 85520809984)
    assert (device.fabric_state, device.fabric_status) == (3, 0)
    assert (device.is_persistent, device.drives_display, device.compute_mode) == (True, False, 0)
    assert (device.code, device.is_mig, device.mig_instances) == (0, False, None)
    assert (device.is_remap_pending, device.has_remap_failed) == (False, False)
    assert device.uncorrected_errors == 0


@in_one("number", [4, DRIVER_NOT_LOADED, 12, LOST, 18, UNKNOWN])
def test_a_library_that_does_not_start_says_why(number):
    library = Library(h100())
    library.failing["nvmlInit"] = number

    assert read(library) == Nvml(code=number)


@pytest.mark.parametrize("number", [LOST, 16, UNKNOWN])
def test_a_gpu_that_gives_no_handle_keeps_the_others(number):
    devices = read(Library(h100(0x1A), h100(0x1B, Handle=NVMLError(number)))).devices

    assert devices[0].code == 0
    assert devices[1] == NvmlDevice(index=1, code=number)


def test_a_gpu_that_is_lost_while_it_is_asked_is_lost():
    assert only(Library(h100(MemoryInfo=NVMLError(LOST)))).code == LOST
    assert only(Library(h100(MemoryInfo=NVMLError(NOT_SUPPORTED)))).code == 0


def calls():
    library = Library(h100(GpuFabricInfoV=fabric(3), MigMode=[1, 1], MaxMigDeviceCount=7))
    read(library)
    return sorted(set(library.calls))


@pytest.mark.parametrize("number", [NOT_SUPPORTED, LOST, UNKNOWN])
def test_every_call_may_fail(number):
    asked = calls()
    assert "nvmlInit" in asked
    for call in asked:
        library = Library(h100(GpuFabricInfoV=fabric(3), MigMode=[1, 1], MaxMigDeviceCount=7))
        library.failing[call] = number

        answered = read(library)

        assert answered.code == (number if call == "nvmlInit" else 0), call


def test_a_binding_that_is_older_than_the_questions_knows_less():
    class Old:
        NVMLError = NVMLError

        def nvmlInit(self):
            pass

        def nvmlDeviceGetCount(self):
            return 1

        def nvmlDeviceGetHandleByIndex(self, index):
            return object()

    assert read(Old()) == Nvml(code=0, devices=(NvmlDevice(index=0),))


def test_broken_rows_and_pages_are_told():
    assert only(Library(h100(RemappedRows=(0, 2, 1, 0)))).is_remap_pending
    assert only(Library(h100(RemappedRows=(0, 2, 0, 1)))).has_remap_failed
    assert only(Library(h100(RetiredPagesPendingStatus=1))).is_remap_pending
    assert only(Library(h100(TotalEccErrors=lambda kind, counter: 5))).uncorrected_errors == 5


def test_a_temperature_is_told_with_the_one_at_which_it_slows_down():
    hot = h100(Temperature=lambda sensor: 96, TemperatureThreshold=lambda which: (99, 92)[which])
    device = only(Library(hot))

    assert (device.temperature_celsius, device.slowdown_celsius) == (96, 92)
    cold = only(Library(h100(Temperature=NVMLError(3), TemperatureThreshold=NVMLError(3))))
    assert (cold.temperature_celsius, cold.slowdown_celsius) == (None, None)


def test_instances_are_counted():
    def instance(index):
        if index > 1:
            raise NVMLError(6)
        return object()

    gpu = h100(MigMode=[1, 1], MaxMigDeviceCount=7, MigDeviceHandleByIndex=instance)

    assert only(Library(gpu)).mig_instances == 2


def test_a_division_that_waits_for_a_reset_is_pending():
    device = only(Library(h100(MigMode=[0, 1])))

    assert (device.is_mig, device.is_mig_pending) == (False, True)


def test_who_holds_memory_is_told_the_largest_first_and_each_once(monkeypatch):
    def process(pid):
        return SimpleNamespace(name=lambda: f"program {pid}", username=lambda: "ada")

    monkeypatch.setattr(psutil, "Process", process)
    gpu = h100(
        ComputeRunningProcesses_v3=[
            SimpleNamespace(pid=7, usedGpuMemory=GIB),
            SimpleNamespace(pid=8, usedGpuMemory=2 * GIB),
        ],
        GraphicsRunningProcesses_v3=[SimpleNamespace(pid=7, usedGpuMemory=GIB)],
    )

    processes = only(Library(gpu)).gpu_processes

    assert [(held.pid, held.name, held.used_bytes) for held in processes] == [
        (8, "program 8", 2 * GIB),
        (7, "program 7", GIB),
    ]


def test_a_process_that_cannot_be_seen_has_no_name():
    gone = SimpleNamespace(pid=2**22 + 1, usedGpuMemory=None)

    (held,) = only(Library(h100(ComputeRunningProcesses_v3=[gone]))).gpu_processes

    assert (held.name, held.user, held.used_bytes) == (None, None, None)


def test_an_address_that_is_hidden_is_none():
    hidden = SimpleNamespace(domain=0xFFFFFFFF, bus=0xFFFFFFFF, device=0xFFFFFFFF)

    assert only(Library(h100(PciInfo_v3=hidden))).address is None


# --- in a process of its own --------------------------------------------------------------------


def test_this_machine_is_asked():
    answered = ask_nvml()

    assert answered.code is not None
    assert answered.code or answered.driver


def run_instead(monkeypatch, code):
    """Let another program stand in for the child that asks NVML."""

    def ask(command, **options):
        return asking.ask((command[0], "-c", code), **options)

    monkeypatch.setattr(nvml, "ask", ask)


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("import os; os.kill(os.getpid(), 11)", "crashed"),
        ("", "crashed"),
        ("1 / 0", "crashed"),
        ("print('{')", "odd"),
        ("print('[]')", "odd"),
        ("import time; time.sleep(60)", "silent"),
    ],
)
def test_a_library_that_fails_leaves_what_it_did(monkeypatch, code, trouble):
    run_instead(monkeypatch, code)

    assert ask_nvml(within_s=0.5 if trouble == "silent" else 30) == Nvml(trouble=trouble)


def test_a_library_that_counts_too_many_gpus_lies():
    library = Library(h100())
    library.gpus = range(2**31)

    assert read(library) == Nvml(trouble="odd")


def test_a_python_that_does_not_start_leaves_no_answer(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert ask_nvml() == Nvml()
