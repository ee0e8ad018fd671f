"""The load of GPUs, with a fake NVML and made-up trees of AMD and Intel."""

from __future__ import annotations

import json
import os
import shutil
from types import SimpleNamespace

import msgspec
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machine.live import gpu_samples
from machine.live import nvidia as live_nvidia
from machine.live.gpus import GpuSampler
from tests.machine.fake_nvml import (
    GIB,
    LOST,
    MIB,
    NOT_SUPPORTED,
    FakeNvml,
    NVMLError,
    h100,
    with_switches,
)
from tests.machine.gpu_trees import amd as write_amd


def watch(tree, library, **options):
    return GpuSampler(tree.root, lambda: library, **options)


def look(sampler, now_s=0.0):
    """Return the samples and the reasons by path; all that is unknown has one."""
    samples, missing = sampler.sample(now_s)
    reasons = {entry.what: entry.why for entry in missing}
    for sample in samples:
        for name in gpu_samples.NAMES:
            if getattr(sample, name) is None:
                assert {f"gpus[*].{name}", f"gpus[{sample.index}].{name}"} & reasons.keys(), name
    json.dumps([msgspec.to_builtins(sample) for sample in samples])
    return samples, reasons


def seat(tree, address="0000:1a:00.0", *, power="active", control="on", driver="nvidia"):
    """Write the PCI device of a GPU of NVIDIA."""
    folder = f"/sys/bus/pci/devices/{address}"
    for name, value in (("vendor", "0x10de"), ("device", "0x2330"), ("class", "0x030200")):
        tree.write(f"{folder}/{name}", f"{value}\n")
    tree.write(f"{folder}/power/runtime_status", f"{power}\n")
    tree.write(f"{folder}/power/control", f"{control}\n")
    link = tree.root / folder[1:] / "driver"
    if not link.is_symlink():
        link.symlink_to(f"../../../drivers/{driver}")


# --- NVIDIA ---------------------------------------------------------------------------------------


def test_a_gpu_at_work_is_told_with_all_that_its_driver_knows(tree):
    (gpu,), reasons = look(watch(tree, FakeNvml(h100(TemperatureV=lambda sensor: 62))))
    assert (gpu.index, gpu.pci_address, gpu.state) == (0, "0000:1a:00.0", "awake")
    assert (gpu.busy, gpu.memory_busy) == (0.97, 0.41)
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (GIB, 85520809984)
    assert (gpu.sm_hz, gpu.memory_hz) == (1_755_000_000, 2_619_000_000)
    assert (gpu.power_watts, gpu.power_limit_watts, gpu.temperature_celsius) == (350.0, 700.0, 62.0)
    assert [(r.key, r.severity) for r in gpu.clock_reasons] == [
        ("clock_reasons.power_cap", "limit")
    ]
    assert (gpu.ecc_corrected, gpu.ecc_uncorrected, gpu.remapped_rows) == (0, 0, 0)
    assert (gpu.remapping_pending, gpu.remapping_failed) == (False, False)
    assert (gpu.pcie_generation, gpu.pcie_width, gpu.processes) == (5, 16, ())
    assert "kernel's log" in reasons["gpus[*].xid"]


@pytest.mark.parametrize(
    ("bits", "told"),
    [
        (0, []),
        (0x1, [("idle", "information")]),
        (0x2, [("application_clocks", "information")]),
        (0x100, [("display_clocks", "information")]),
        (0x4, [("power_cap", "limit")]),
        (0x8 | 0x40, [("hardware_slowdown", "warning"), ("hardware_thermal", "warning")]),
        (0x20, [("software_thermal", "warning")]),
        (0x80, [("power_brake", "warning")]),
    ],
)
def test_a_low_clock_is_no_alarm_but_where_something_is_wrong(tree, bits, told):
    (gpu,), _ = look(watch(tree, FakeNvml(h100(CurrentClocksEventReasons=bits))))
    found = [(r.key.removeprefix("clock_reasons."), r.severity) for r in gpu.clock_reasons]
    assert found == told


def test_an_old_driver_knows_the_reasons_by_their_old_name(tree):
    gpu = h100(CurrentClocksEventReasons=NVMLError(13), CurrentClocksThrottleReasons=0x20)
    ((sample,), _) = look(watch(tree, FakeNvml(gpu)))
    assert sample.clock_reasons[0].severity == "warning"


def test_traffic_is_the_difference_of_counters(tree):
    (gpu,) = with_switches(1, 2)
    seat(tree, gpu.address)
    gpu.fields |= {(138, 2**32 - 1): 1000, (139, 2**32 - 1): 0, (197, 0): 10**9, (198, 0): 0}
    sampler = watch(tree, FakeNvml(gpu))
    (first,), reasons = look(sampler, 0.0)
    assert (first.pcie_sent_bytes_per_s, first.nvlink_sent_bytes_per_s) == (None, None)
    assert "two samples" in reasons["gpus[*].pcie_sent_bytes_per_s"]
    gpu.fields |= {(138, 2**32 - 1): 3000, (197, 0): 3 * 10**9, (198, 0): 5 * 10**8}
    (now,), _ = look(sampler, 0.5)
    assert (now.pcie_sent_bytes_per_s, now.pcie_received_bytes_per_s) == (4e9, 1e9)
    assert (now.nvlink_sent_bytes_per_s, now.nvlink_received_bytes_per_s) == (
        2000 * 1024 / 0.5,
        0.0,
    )
    gpu.fields[197, 0] = 0  # the driver was loaded anew
    assert look(sampler, 1.0)[0][0].pcie_sent_bytes_per_s is None


@pytest.mark.parametrize("count", [{}, {(91, 0): 0}])  # not every driver counts links
def test_a_gpu_without_nvlinks_has_no_traffic_on_them_whatever_its_counters_say(tree, count):
    gpu = h100()
    gpu.fields |= {(138, 2**32 - 1): 0, (139, 2**32 - 1): 0, **count}
    sampler = watch(tree, FakeNvml(gpu))
    look(sampler, 0.0)
    (now,), reasons = look(sampler, 0.5)
    assert (now.nvlink_sent_bytes_per_s, now.nvlink_received_bytes_per_s) == (None, None)
    assert reasons["gpus[*].nvlink_sent_bytes_per_s"] == "The driver counts no NVLinks on this GPU."


def test_a_gpu_whose_traffic_is_not_measured_yet_waits_for_its_turn(tree):
    gpus = [h100(0x1A), h100(0x1B)]
    for gpu in gpus:
        gpu.fields.clear()
    sampler = watch(tree, FakeNvml(*gpus))
    look(sampler, 0.0)  # finds out that there are no counters
    samples, reasons = look(sampler, 0.5)
    assert [sample.pcie_sent_bytes_per_s is None for sample in samples] == [False, True]
    assert "take turns" in reasons["gpus[*].pcie_sent_bytes_per_s"]


def test_the_call_that_blocks_is_made_in_turns_and_not_often(tree):
    gpus = [h100(0x1A), h100(0x1B)]
    for gpu in gpus:
        gpu.fields.clear()
    library = FakeNvml(*gpus)
    sampler = watch(tree, library)
    look(sampler, 0.0)  # finds out that there are no counters
    made = []
    for n in range(1, 21):
        before = library.calls.count("nvmlDeviceGetPcieThroughput")
        samples, _ = look(sampler, n / 10)
        made.append(library.calls.count("nvmlDeviceGetPcieThroughput") - before)
    assert sum(made) == 2 * 4, "two directions, every half second"
    assert [s.pcie_sent_bytes_per_s for s in samples] == [2e6, 2e6]
    assert [s.pcie_received_bytes_per_s for s in samples] == [1e6, 1e6]


def test_with_counters_the_call_that_blocks_is_never_made(tree):
    library = FakeNvml(h100())
    sampler = watch(tree, library)
    for n in range(4):
        look(sampler, float(n))
    assert "nvmlDeviceGetPcieThroughput" not in library.calls


def test_in_mig_mode_nothing_is_claimed_of_utilisation(tree):
    gpu = h100(MigMode=[1, 1], UtilizationRates=NVMLError(NOT_SUPPORTED))
    ((sample,), reasons) = look(watch(tree, FakeNvml(gpu)))
    assert sample.busy is None
    assert reasons["gpus[*].busy"] == "NVML does not report utilisation in MIG mode."


def test_unified_memory_that_nvml_does_not_count_is_unknown_not_zero(tree):
    ((sample,), reasons) = look(watch(tree, FakeNvml(h100(MemoryInfo=NVMLError(NOT_SUPPORTED)))))
    assert (sample.memory_used_bytes, sample.memory_total_bytes) == (None, None)
    assert "does not support" in reasons["gpus[*].memory_used_bytes"]


def test_errors_are_counted(tree):
    gpu = h100(TotalEccErrors=lambda kind, counter: {0: 7, 1: 2}[kind], RemappedRows=(1, 2, 1, 0))
    (sample,), _ = look(watch(tree, FakeNvml(gpu)))
    assert (sample.ecc_corrected, sample.ecc_uncorrected) == (7, 2)
    assert (sample.remapped_rows, sample.remapping_pending, sample.remapping_failed) == (
        3,
        True,
        False,
    )


def held_by(pid, used=22 * GIB):
    return [SimpleNamespace(pid=pid, usedGpuMemory=used)]


def test_who_holds_memory_is_told_with_user_age_and_command(tree):
    gpu = h100(ComputeRunningProcesses_v3=held_by(os.getpid()))
    ((sample,), _) = look(watch(tree, FakeNvml(gpu)))
    (process,) = sample.processes
    assert (process.pid, process.memory_bytes, process.kind) == (os.getpid(), 22 * GIB, "compute")
    assert process.user == psutil.Process().username()
    assert 0 < process.age_s < 10_000
    assert "py" in process.command


def test_a_process_out_of_sight_is_told_by_its_number_with_the_reason(tree):
    gpu = h100(ComputeRunningProcesses_v3=held_by(2**22 + 1))
    ((sample,), reasons) = look(watch(tree, FakeNvml(gpu)))
    assert (sample.processes[0].user, sample.processes[0].command) == (None, None)
    assert "not visible from here" in reasons["gpus[*].processes[*].command"]


def test_memory_that_is_not_counted_by_process_is_unknown(tree):
    gpu = h100(GraphicsRunningProcesses_v3=held_by(os.getpid(), None))
    ((sample,), reasons) = look(watch(tree, FakeNvml(gpu)))
    assert (sample.processes[0].memory_bytes, sample.processes[0].kind) == (None, "graphics")
    assert "by process" in reasons["gpus[*].processes[*].memory_bytes"]


def test_those_who_hold_most_come_first_and_each_once(tree):
    both = held_by(os.getpid(), MIB)
    gpu = h100(
        GraphicsRunningProcesses_v3=both,
        ComputeRunningProcesses_v3=[*both, *held_by(os.getppid(), GIB)],
    )
    ((sample,), _) = look(watch(tree, FakeNvml(gpu)))
    assert [p.pid for p in sample.processes] == [os.getppid(), os.getpid()]


def test_processes_are_asked_for_once_a_second(tree):
    library = FakeNvml(h100(ComputeRunningProcesses_v3=held_by(os.getpid())))
    sampler = watch(tree, library)
    for n in range(11):
        (sample,), _ = look(sampler, n / 10)
        assert sample.processes
    assert library.calls.count("nvmlDeviceGetComputeRunningProcesses_v3") == 2


def test_a_gpu_that_is_lost_stays_as_lost_and_the_others_go_on(tree):
    first, second = h100(0x1A), h100(0x1B)
    library = FakeNvml(first, second)
    sampler = watch(tree, library)
    look(sampler, 0.0)
    for name in first.answers:
        first.answers[name] = NVMLError(LOST)
    samples, reasons = look(sampler, 0.5)
    assert [(s.state, s.busy) for s in samples] == [("lost", None), ("awake", 0.97)]
    assert samples[0].pci_address == "0000:1a:00.0"
    assert "fallen off the bus" in reasons["gpus[*].busy"]
    library.calls.clear()
    look(sampler, 1.0)
    assert library.calls.count("nvmlDeviceGetUtilizationRates") == 1, "it is not asked again"


def test_a_gpu_that_was_lost_before_has_its_place(tree):
    seat(tree, "0000:1a:00.0")
    seat(tree, "0000:1b:00.0")
    samples, _ = look(watch(tree, FakeNvml(h100(0x1A, Handle=NVMLError(LOST)), h100(0x1B))))
    assert [(s.pci_address, s.state) for s in samples] == [
        ("0000:1a:00.0", "lost"),
        ("0000:1b:00.0", "awake"),
    ]


def test_a_library_that_fails_is_tried_again_later(tree):
    seat(tree)
    library = FakeNvml(h100())
    library.failing["nvmlInit"] = 18
    sampler = watch(tree, library)
    ((sample,), reasons) = look(sampler, 0.0)
    assert sample.pci_address == "0000:1a:00.0"
    assert "different versions" in reasons["gpus[*].busy"]
    library.failing.clear()
    assert look(sampler, 1.0)[0][0].busy is None
    assert look(sampler, 31.0)[0][0].busy == 0.97


def test_a_driver_that_another_kernel_module_replaces_is_not_loaded(tree):
    seat(tree, driver="nouveau")
    tree.write("/sys/module/nouveau/refcnt", "1\n")
    library = FakeNvml(h100())
    ((_,), reasons) = look(watch(tree, library))
    assert library.calls == []
    assert "not loaded" in reasons["gpus[*].busy"]


# --- a laptop's GPU, asleep ----------------------------------------------------------------------


def test_a_sleeping_gpu_is_not_woken_and_told_when_somebody_wakes_it(tree):
    seat(tree, power="suspended", control="auto")
    library = FakeNvml(h100())
    sampler = watch(tree, library)
    ((sample,), reasons) = look(sampler, 0.0)
    assert (sample.state, library.calls) == ("asleep", [])
    assert "asleep" in reasons["gpus[*].busy"]
    seat(tree, power="active", control="auto")
    assert look(sampler, 0.5)[0][0].busy == 0.97


def test_an_idle_gpu_is_let_go_so_that_it_can_fall_asleep(tree):
    seat(tree, control="auto")
    gpu = h100(UtilizationRates=SimpleNamespace(gpu=0, memory=0))
    library = FakeNvml(gpu)
    sampler = watch(tree, library)
    look(sampler, 0.0)
    assert library.is_open
    look(sampler, live_nvidia.IDLE_S)
    assert not library.is_open
    ((sample,), reasons) = look(sampler, live_nvidia.IDLE_S + 1)
    assert (sample.state, sample.busy) == ("awake", None)
    assert "fall asleep" in reasons["gpus[*].busy"]
    seat(tree, power="suspended", control="auto")
    ((sample,), _) = look(sampler, live_nvidia.IDLE_S + 2)
    assert (sample.state, library.is_open) == ("asleep", False)


def test_an_idle_gpu_that_stays_awake_for_others_is_looked_at_again(tree):
    seat(tree, control="auto")
    library = FakeNvml(h100(UtilizationRates=SimpleNamespace(gpu=0, memory=0)))
    sampler = watch(tree, library)
    look(sampler, 0.0)
    look(sampler, live_nvidia.IDLE_S)
    look(sampler, live_nvidia.IDLE_S + live_nvidia.REST_S)
    assert library.is_open


@pytest.mark.parametrize(("control", "processes"), [("on", []), ("auto", held_by(1))])
def test_a_gpu_that_is_used_or_never_sleeps_is_watched_on(tree, control, processes):
    seat(tree, control=control)
    idle = SimpleNamespace(gpu=0, memory=0)
    library = FakeNvml(h100(UtilizationRates=idle, ComputeRunningProcesses_v3=processes))
    sampler = watch(tree, library)
    for n in range(40):
        look(sampler, float(n))
    assert library.is_open
    assert library.calls.count("nvmlInit") == 1


def test_closing_lets_go_of_the_gpus(tree):
    library = FakeNvml(h100())
    sampler = watch(tree, library)
    look(sampler)
    sampler.close()
    assert not library.is_open


# --- any call, any moment -------------------------------------------------------------------------


@given(
    st.integers(0, 150),
    st.integers(1, 20),
    st.sampled_from([1, 2, 3, 4, 6, 10, 13, 15, 16, 17, 21, 77, 999]),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_calls_may_fail_at_any_moment_and_the_watch_goes_on(tree, after, count, number):
    gpus = [h100(0x1A), h100(0x1B)]
    for gpu in gpus:
        seat(tree, gpu.address)
    library = FakeNvml(*gpus)
    plain = library.call

    def call(name, *arguments):
        made = len(library.calls)
        if after <= made < after + count and name != "nvmlShutdown":
            library.calls.append(name)
            raise NVMLError(number)
        return plain(name, *arguments)

    library.call = call
    sampler = watch(tree, library)
    for now_s in (0.0, 0.5, 1.0, 32.0, 64.0):
        samples, _ = look(sampler, now_s)
        assert len(samples) == 2


# --- AMD and Intel --------------------------------------------------------------------------------


def amd(tree, address="0000:05:00.0"):
    write_amd(tree, address, 1)
    folder = f"/sys/bus/pci/devices/{address}"
    for name, value in (("vendor", "0x1002"), ("device", "0x74a1"), ("class", "0x120000")):
        tree.write(f"{folder}/{name}", f"{value}\n")
    return folder


def no_library():
    from machine.facts import Reason, Unanswered

    raise Unanswered(Reason("There is none.", "Nothing."))


def test_a_gpu_of_amd_is_told_by_the_kernel(tree):
    folder = amd(tree)
    tree.write(f"{folder}/ras/umc_err_count", "ue: 1\nce: 12\n")
    (gpu,), reasons = look(GpuSampler(tree.root, no_library))
    assert (gpu.busy, gpu.memory_used_bytes, gpu.memory_total_bytes) == (0.87, GIB, 206141652992)
    assert (gpu.sm_hz, gpu.memory_hz, gpu.temperature_celsius) == (
        2_100_000_000,
        1_300_000_000,
        48.0,
    )
    assert (gpu.power_watts, gpu.power_limit_watts) == (412.0, 750.0)
    assert (gpu.ecc_uncorrected, gpu.ecc_corrected) == (1, 12)
    assert "block" in reasons["gpus[*].pcie_sent_bytes_per_s"]


def test_graphics_in_a_processor_are_not_full_when_what_is_set_aside_is(tree):
    folder = amd(tree)
    write_amd(tree, "0000:05:00.0", 1, gfx_target_version=110501)
    counts = {"vram_total": 4, "vram_used": 4, "gtt_total": 96, "gtt_used": 2}
    for name, gib in counts.items():
        tree.write(f"{folder}/mem_info_{name}", f"{gib * GIB}\n")
    (gpu,), _ = look(GpuSampler(tree.root, no_library))
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (6 * GIB, 100 * GIB)


def test_who_computes_on_amd_is_what_the_kernel_counts(tree):
    amd(tree)
    tree.write(f"/sys/class/kfd/kfd/proc/{os.getpid()}/vram_1001", f"{5 * GIB}\n")
    tree.write("/sys/class/kfd/kfd/proc/77/vram_1001", "0\n")
    (gpu,), _ = look(GpuSampler(tree.root, no_library))
    assert [(p.pid, p.memory_bytes) for p in gpu.processes] == [(os.getpid(), 5 * GIB)]


def test_a_sleeping_gpu_of_amd_is_not_read(tree):
    folder = amd(tree)
    tree.write(f"{folder}/power/runtime_status", "suspended\n")
    (gpu,), reasons = look(GpuSampler(tree.root, no_library))
    assert (gpu.state, gpu.busy) == ("asleep", None)
    assert "asleep" in reasons["gpus[*].busy"]


def test_a_gpu_of_amd_that_vanishes_is_lost(tree):
    folder = amd(tree)
    sampler = GpuSampler(tree.root, no_library)
    look(sampler, 0.0)
    shutil.rmtree(tree.root / folder[1:])
    (gpu,), reasons = look(sampler, 0.5)
    assert (gpu.state, gpu.pci_address) == ("lost", "0000:05:00.0")
    assert "vanished" in reasons["gpus[*].busy"]


def test_an_intel_card_tells_clock_and_power_and_why_not_more(tree):
    folder = "/sys/bus/pci/devices/0000:03:00.0"
    for name, value in (
        *(("vendor", "0x8086"), ("device", "0xe20b"), ("class", "0x030000")),
        *(("tile0/gt0/freq0/act_freq", 2400), ("hwmon/hwmon3/power1_max", 190_000_000)),
        *(("hwmon/hwmon3/energy1_input", 10**9), ("hwmon/hwmon3/temp2_input", 55_000)),
    ):
        tree.write(f"{folder}/{name}", f"{value}\n")
    sampler = GpuSampler(tree.root, no_library)
    look(sampler, 0.0)
    tree.write(f"{folder}/hwmon/hwmon3/energy1_input", f"{10**9 + 60_000_000}\n")
    (gpu,), reasons = look(sampler, 0.5)
    assert (gpu.sm_hz, gpu.power_watts, gpu.power_limit_watts) == (2_400_000_000, 120.0, 190.0)
    assert gpu.temperature_celsius == 55.0
    assert "performance counters" in reasons["gpus[*].busy"]


def test_gpus_are_numbered_as_inspection_numbers_them(tree):
    from machine.inspect import inspect

    amd(tree)
    seat(tree)
    samples, _ = look(watch(tree, FakeNvml(h100())))
    found = [(gpu.index, gpu.pci_address) for gpu in inspect(tree.root).gpus]
    assert [(s.index, s.pci_address) for s in samples] == found


def test_without_gpus_there_are_no_samples_and_no_complaint(tree):
    tree.write("/sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n")
    assert look(GpuSampler(tree.root, no_library)) == ((), {})


def test_without_a_bus_in_sight_it_is_not_claimed_that_there_are_none(tree):
    samples, reasons = look(GpuSampler(tree.root, no_library))
    assert samples == ()
    assert "No PCI bus" in reasons["gpus"]
