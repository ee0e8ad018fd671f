from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from machine.devices import Gpu
from machine.inspect import inspect
from machine.live.surroundings import look_around
from machine.model import Cpu, CpuCounts, Machine, Memory, Thread
from tests.machine.conditioned import policy
from tests.machine.fake_nvml import FakeNvml, h100
from tests.machine.gpu_trees import amd as write_amd

SUPPLY = "/sys/class/power_supply"
PROFILE = "/sys/firmware/acpi/platform_profile"


def supply(tree, name, **files):
    for file, text in files.items():
        tree.write(f"{SUPPLY}/{name}/{file}", f"{text}\n")


def around(tree, machine=None, **options):
    return look_around(machine or Machine(), 0.0, root=tree.root, **options)


def why(told, what):
    return next(entry.why for entry in told.missing if entry.what == what)


# --- power ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("online", "status", "on_battery"),
    [
        (1, "Charging", False),
        (1, "Discharging", False),  # a weak charger
        (0, "Discharging", True),
        (0, "Full", False),
        (0, "Unknown", None),
    ],
)
def test_a_laptop_says_what_it_runs_on(tree, online, status, on_battery):
    supply(tree, "ACAD", type="Mains", online=online)
    supply(tree, "BAT0", type="Battery", present=1, status=status, capacity=62)
    supply(tree, "hidpp_battery_0", type="Battery", scope="Device", status="Discharging")
    told = around(tree)
    assert (told.on_battery, told.battery_fraction) == (on_battery, 0.62)
    assert ("on_battery" in {entry.what for entry in told.missing}) is (on_battery is None)


def test_a_desktop_runs_on_the_mains_though_its_mouse_has_a_battery(tree):
    supply(tree, "mouse", type="Battery", scope="Device", status="Discharging", capacity=3)
    told = around(tree)
    assert (told.on_battery, told.battery_fraction) == (False, None)


def test_a_ups_that_gives_power_is_a_battery(tree):
    supply(tree, "ups", type="UPS", status="Discharging")
    assert around(tree).on_battery is True


def test_a_recording_without_power_supplies_says_so(tree):
    told = around(tree)
    assert told.on_battery is None
    assert "recording" in why(told, "on_battery")


@pytest.mark.parametrize(
    ("settings", "profile", "saving"),
    [
        ({"driver": "acpi-cpufreq", "governor": "powersave"}, None, ("governor powersave",)),
        ({"driver": "intel_cpufreq", "governor": "powersave"}, None, ("governor powersave",)),
        ({"driver": "intel_pstate", "governor": "powersave"}, "balanced", ()),
        ({"driver": "amd-pstate-epp", "governor": "powersave"}, None, ()),
        ({"driver": "acpi-cpufreq", "governor": "schedutil"}, "performance", ()),
        (
            {"driver": "intel_pstate", "governor": "powersave", "preference": "power"},
            None,
            ("energy_performance_preference power",),
        ),
        ({"driver": "intel_pstate", "preference": "balance_power"}, None, ()),
        ({}, "low-power", ("platform_profile low-power",)),
        ({}, "quiet", ("platform_profile quiet",)),
    ],
)
def test_saving_power_is_told_by_the_setting_that_does_it(tree, settings, profile, saving):
    names = {
        "driver": "scaling_driver",
        "governor": "scaling_governor",
        "preference": "energy_performance_preference",
    }
    policy(tree, 0, **{names[name]: text for name, text in settings.items()})
    if profile:
        tree.write(PROFILE, f"{profile}\n")
    told = around(tree)
    assert (told.power_saver, told.power_saver_by) == (bool(saving), saving)


def test_one_slow_group_of_cores_is_enough(tree):
    for number, governor in enumerate(("performance", "performance", "powersave")):
        policy(tree, number, scaling_driver="acpi-cpufreq", scaling_governor=governor)
    assert around(tree).power_saver


def test_a_machine_that_shows_no_setting_says_why(tree):
    told = around(tree)
    assert told.power_saver is None
    assert "neither" in why(told, "power_saver")


@pytest.mark.parametrize(("plugged", "on_battery"), [(True, False), (False, True), (None, None)])
def test_elsewhere_psutil_tells_the_battery_and_nobody_the_saver(monkeypatch, plugged, on_battery):
    import psutil

    battery = SimpleNamespace(percent=40, power_plugged=plugged)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr("machine.live.power.exists", lambda _: False)
    told = look_around(Machine(), 0.05)
    assert (told.on_battery, told.battery_fraction) == (on_battery, 0.4)


# --- other programs -------------------------------------------------------------------------------


def stat(tree, *threads):
    lines = [f"cpu{n} {busy} 0 0 {idle} 0 0 0 0 0 0" for n, (busy, idle) in enumerate(threads)]
    tree.write("/proc/stat", "\n".join(lines) + "\n")


def test_only_usable_threads_count_as_busy(tree):
    threads = tuple(Thread(id=n, usable=n != 2) for n in range(3))
    stat(tree, (0, 0), (0, 0), (0, 0))
    told = around(
        tree,
        Machine(cpu=Cpu(threads_list=threads, usable_threads=2)),
        wait=lambda _: stat(tree, (50, 50), (10, 90), (100, 0)),
    )
    assert (told.busy_fraction, told.usable_threads) == (0.3, 2)


def test_a_load_that_is_not_told_has_a_reason(tree):
    told = around(tree)
    assert told.busy_fraction is None
    assert why(told, "busy_fraction")


def test_what_this_program_and_its_children_do_does_not_count():
    burn = "import time\nwhile time.monotonic() < %f: pass" % (time.monotonic() + 30)
    machine = inspect()
    count = machine.cpu.usable_threads or 1
    burners = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(count)]
    try:
        told = look_around(machine, 0.5)
        as_others = look_around(machine, 0.5, own_pid=2**22)  # nobody's number
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert as_others.busy_fraction is not None
    assert as_others.busy_fraction > 0.8
    assert told.busy_fraction is not None
    assert told.busy_fraction < as_others.busy_fraction


def held_by(*pids):
    return [SimpleNamespace(pid=pid, usedGpuMemory=2**30) for pid in pids]


def test_the_programs_of_others_on_each_gpu_are_counted(tree):
    library = FakeNvml(
        h100(
            ComputeRunningProcesses_v3=held_by(os.getpid(), os.getppid(), 4711),
            GraphicsRunningProcesses_v3=held_by(4712),
        )
    )
    machine = Machine(gpus=(Gpu(index=0, pci_address="0000:1a:00.0"),))
    told = around(tree, machine, load_nvml=lambda: library)
    (gpu,) = told.gpus
    assert (gpu.index, gpu.pci_address, gpu.busy) == (0, "0000:1a:00.0", 0.97)
    assert (gpu.compute_processes, gpu.graphics_processes) == (2, 1)


def test_a_gpu_that_lists_no_programs_says_why(tree):
    tree.pci("pci0000:00/0000:03:00.0", kind="0x120000", maker="0x1002")
    write_amd(tree, "0000:03:00.0", 1)
    gpus = (Gpu(index=0, pci_address="0000:03:00.0"), Gpu(index=1, pci_address="0000:04:00.0"))
    told = around(tree, Machine(gpus=gpus), load_nvml=FakeNvml)
    assert [gpu.compute_processes for gpu in told.gpus] == [None]
    assert why(told, "gpus[*].processes")
    assert why(told, "gpus[1]")


def test_a_machine_without_gpus_asks_no_driver(tree):
    def refuse():
        raise AssertionError

    assert around(tree, load_nvml=refuse).gpus == ()


# --- limits and hosts -----------------------------------------------------------------------------


@pytest.mark.parametrize(("quota", "limit"), [(2.5, 2.5), (8.0, None), (None, None)])
def test_only_a_limit_below_what_is_there_counts(tree, quota, limit):
    machine = Machine(
        virtualization="kvm",
        container="docker",
        cpu=Cpu(usable_threads=8, counts=CpuCounts(quota=quota)),
        memory=Memory(total_bytes=2**34, limit_bytes=2**33),
    )
    told = around(tree, machine)
    assert (told.quota_cpus, told.memory_limit_bytes) == (limit, 2**33)
    assert (told.virtualization, told.container) == ("kvm", "docker")


def test_a_recording_says_that_nobody_knows_of_a_container(tree):
    told = around(tree, inspect(tree.root))
    assert told.container is None
    assert why(told, "container")
