"""GPUs of NVIDIA, with a fake NVML and a fake CUDA. The figures are those of real models."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from machine.bus import pcie
from machine.devices import ClockReason, Gpu, GpuLink, Link, MigInstance, PciDevice
from machine.facts import Notes, Unanswered
from machine.gpus import accelerators, nvidia, nvml
from machine.gpus.cuda import Cuda, CudaGpu
from machine.gpus.pci_facts import Host
from machine.inspect import assemble, portable
from machine.model import Machine, from_json, missing_of, source_of, to_json
from tests.cases import in_one
from tests.machine.fake_nvml import (
    DRIVER_NOT_LOADED,
    GIB,
    HIDDEN_ADDRESS,
    LOST,
    MIB,
    MISMATCH,
    NO_PERMISSION,
    NOT_SUPPORTED,
    FakeNvml,
    NVMLError,
    fabric,
    h100,
    with_switches,
)
from tests.machine.unexplained import unexplained

CALLS = (
    *("nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"),
    *("nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"),
    *(f"nvmlDeviceGet{name}" for name in h100().answers),
)


def card(address="0000:1a:00.0", **values):
    """Return the GPU as PCI knows it."""
    values = {"vendor_id": 0x10DE, "device_id": 0x2330, "class_id": 0x030200, **values}
    return PciDevice(address=address, name="GH100 [H100 SXM5 80GB]", **values)


def seen_by_cuda(*gpus, **values):
    """Return what CUDA would say of these fakes."""
    everything = [gpu.address for gpu in gpus]
    return tuple(
        CudaGpu(
            **{
                "address": gpu.address,
                "uuid": str(gpu.answers.get("UUID")),
                "name": "NVIDIA H100 80GB HBM3",
                "memory_bytes": 85 * GIB,
                "sms": 132,
                "l2_bytes": 50 * MIB,
                "memory_bus_bits": 5120,
                "compute_capability": "9.0",
                "is_integrated": False,
                "peers": tuple(a for a in everything if a != gpu.address),
                **values,
            }
        )
        for gpu in gpus
    )


def look(library, *, pci=(), cuda=None, root=None, load=None, **host):
    """Return the machine with only its accelerators read."""

    def no_library():
        raise Unanswered(nvml.REASONS[12])

    notes = Notes()
    answer = cuda or Cuda(why="CUDA's driver library (libcuda) cannot be loaded here.")
    place = Host(root=root or Path("/nowhere-at-all"), pci=pci, is_live=True, **host)

    def ask(host):
        return nvidia.read(
            host,
            load=load or (no_library if library is None else lambda: library),
            ask_cuda=lambda: SimpleNamespace(answer=lambda: answer),
        )

    found = dict(accelerators.parts(place, notes, ask_nvidia=ask))
    if library is not None and "nvmlInit" not in library.failing:
        assert not library.is_open or "nvmlShutdown" in library.failing
    return Machine(**found, pci=pci, sources=notes.sources, missing=tuple(notes.missing))


def gpu_leaves(machine):
    """Return what of the GPUs is neither known nor explained."""
    return [path for path in unexplained(machine) if path.startswith(("gpu", "nvsw"))]


# --- nothing there --------------------------------------------------------------------------------


def test_without_gpu_and_library_there_is_none_and_nothing_is_complained_of():
    machine = look(None, pci=(PciDevice(address="0000:00:1f.0", class_id=0x060100),))
    assert (machine.gpus, machine.gpu_links, machine.nvswitch) == ((), (), False)
    assert gpu_leaves(machine) == []
    assert machine.missing == ()


def test_without_a_pci_bus_in_sight_it_is_not_claimed_that_there_is_none():
    machine = look(None)
    assert (machine.gpus, machine.nvswitch) == ((), None)
    assert "No PCI bus" in missing_of(machine, "gpus").why
    assert gpu_leaves(machine) == []


def test_a_card_without_a_library_is_told_with_what_pci_knows_and_why_no_more():
    machine = look(None, pci=(card(numa_node=1),))
    (gpu,) = machine.gpus
    assert (gpu.name, gpu.vendor) == ("GH100 [H100 SXM5 80GB]", "NVIDIA")
    assert (gpu.pci_address, gpu.numa_node, gpu.memory_bytes) == ("0000:1a:00.0", 1, None)
    assert "libnvidia-ml" in missing_of(machine, "gpus[0].memory_bytes").why
    assert gpu_leaves(machine) == []


@in_one(
    ("number", "words", "next_step"),
    [
        (DRIVER_NOT_LOADED, "not loaded", "doctor"),
        (MISMATCH, "different versions", "Restart"),
        (NO_PERMISSION, "does not allow", "sudo"),
        (999, "driver failed", "dmesg"),
    ],
)
def test_a_library_that_does_not_start_says_why(number, words, next_step):
    library = FakeNvml()
    library.failing["nvmlInit"] = number
    machine = look(library, pci=(card(), card("0000:1b:00.0")))
    assert [gpu.pci_address for gpu in machine.gpus] == ["0000:1a:00.0", "0000:1b:00.0"]
    entry = missing_of(machine, "gpus[1].memory_bytes")
    assert words in entry.why
    assert next_step in entry.how
    assert words in missing_of(machine, "gpu_links[0].nvlinks").why
    assert words in missing_of(machine, "nvswitch").why
    assert gpu_leaves(machine) == []


def test_without_the_python_package_the_reason_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(nvml.ctypes, "CDLL", lambda name: None)
    machine = look(None, pci=(card(),), load=nvml.load)
    assert "pip install nvidia-ml-py" in missing_of(machine, "gpus[0].uuid").how


# --- one GPU --------------------------------------------------------------------------------------


def test_one_gpu_is_told_with_all_that_its_driver_knows(tree):
    gpu = h100()
    machine = look(
        FakeNvml(gpu),
        pci=(card(numa_node=1, link=Link(generation=5, width=16)),),
        cuda=Cuda(gpus=seen_by_cuda(gpu), visible=frozenset({gpu.address})),
        root=tree.root,
    )
    assert machine.gpus[0] == Gpu(
        index=0,
        vendor="NVIDIA",
        name="NVIDIA H100 80GB HBM3",
        uuid="GPU-0000001a-1111-2222-3333-444444444444",
        pci_address="0000:1a:00.0",
        torch_backend="cuda",
        driver_version="570.86.10",
        cuda_version="12.8",
        compute_capability="9.0",
        memory_bytes=85520809984,
        unified_memory=False,
        memory_bus_bits=5120,
        memory_clock_hz=2_619_000_000,
        sms=132,
        sm_clock_hz=1_980_000_000,
        l2_bytes=50 * MIB,
        power_limit_watts=700.0,
        power_default_watts=700.0,
        power_min_watts=200.0,
        power_max_watts=700.0,
        architecture="Hopper",
        temperature_celsius=61.0,
        temperature_slowdown_celsius=89.0,
        temperature_shutdown_celsius=92.0,
        clock_reasons=(ClockReason(key="clock_reasons.power_cap", severity="limit"),),
        bar_bytes=128 * GIB,
        resizable_bar=True,
        ecc_pending=True,
        remapped_rows=0,
        remapping_pending=False,
        remapping_failed=False,
        numa_node=1,
        visible=True,
        asleep=False,
        ecc=True,
        persistence=True,
        virtualization="none",
        mig=False,
    )
    assert machine.nvswitch is False
    assert gpu_leaves(machine) == []
    assert from_json(to_json(machine)) == machine


def test_gpus_are_joined_by_address_though_cuda_numbers_them_otherwise():
    first, second = h100(0x1A, Name="first"), h100(0x81, Name="second")
    by_speed = seen_by_cuda(second, sms=144) + seen_by_cuda(first, sms=72)
    machine = look(FakeNvml(first, second), cuda=Cuda(gpus=by_speed, visible=frozenset()))
    assert [(gpu.name, gpu.sms, gpu.visible) for gpu in machine.gpus] == [
        ("first", 72, False),
        ("second", 144, False),
    ]


def test_a_hidden_gpu_is_told_as_hidden():
    first, second = h100(0x1A), h100(0x1B)
    cuda = Cuda(gpus=seen_by_cuda(first, second), visible=frozenset({second.address}))
    machine = look(FakeNvml(first, second), cuda=cuda)
    assert [gpu.visible for gpu in machine.gpus] == [False, True]


def test_what_cuda_does_not_say_has_its_reason():
    why = "The GPUs are not ready: CUDA waits until somebody has set up their switches."
    machine = look(FakeNvml(h100()), cuda=Cuda(why=why))
    assert (machine.gpus[0].sms, machine.gpus[0].visible) == (None, None)
    assert missing_of(machine, "gpus[0].sms").why == why


def test_the_next_memory_node_is_what_nvml_says_where_the_firmware_says_none():
    assert look(FakeNvml(h100()), pci=(card(),)).gpus[0].numa_node == 1


def test_a_node_with_processors_is_not_taken_for_the_memory_of_the_gpu(tree):
    tree.write("/sys/devices/system/node/node0/cpulist", "0-71\n")
    tree.write("/sys/devices/system/node/node1/cpulist", "\n")
    nodes = [
        look(FakeNvml(h100(NumaNodeId=node)), root=tree.root).gpus[0].memory_numa_node
        for node in (0, 1)
    ]
    assert nodes == [None, 1]


@pytest.mark.parametrize("call", ["MemoryBusWidth", "MaxClockInfo", "EnforcedPowerLimit"])
def test_a_zero_of_the_driver_is_unknown_and_never_zero(call):
    answer = (lambda kind: 0) if call == "MaxClockInfo" else 0
    machine = look(FakeNvml(h100(**{call: answer})))
    (gpu,) = machine.gpus
    assert 0 not in (gpu.memory_bus_bits, gpu.memory_clock_hz, gpu.sm_clock_hz)
    assert gpu.power_limit_watts != 0
    assert gpu_leaves(machine) == []


def test_ecc_that_a_card_does_not_have_is_unknown_with_a_reason():
    machine = look(FakeNvml(h100(EccMode=NVMLError(NOT_SUPPORTED))))
    assert machine.gpus[0].ecc is None
    assert "does not support" in missing_of(machine, "gpus[0].ecc").why


def test_the_link_is_told_where_the_pci_tree_is_not_readable():
    (gpu,) = look(FakeNvml(h100())).gpus
    assert (gpu.link.generation, gpu.link.width) == (5, 16)
    assert gpu.link.peak_bytes_per_s == pytest.approx(63.0e9, rel=1e-3)
    assert pcie.able(gpu.link) == (5, 16)
    shared = h100(MaxPcieLinkGeneration=4, MaxPcieLinkWidth=8, CurrPcieLinkWidth=8)
    narrow = look(FakeNvml(shared)).gpus[0].link
    assert (narrow.width, narrow.card_generation) == (8, 5)
    assert (narrow.slot_generation, narrow.slot_width, pcie.able(narrow)) == (4, 8, (4, 8))
    in_a_vm = look(FakeNvml(h100()), pci=(card(),))
    assert in_a_vm.gpus[0].link.width == 16, "pci has the device, but no link"
    known = look(FakeNvml(h100()), pci=(card(link=Link(generation=1, width=16)),))
    assert known.gpus[0].link is None
    assert "stands in pci" in missing_of(known, "gpus[0].link").why


# --- several kinds of GPU -------------------------------------------------------------------------


def test_eight_gpus_behind_switches_are_joined_by_all_their_links():
    gpus = with_switches()
    machine = look(FakeNvml(*gpus), cuda=Cuda(gpus=seen_by_cuda(*gpus)))
    assert len(machine.gpu_links) == 28
    assert machine.gpu_links[0] == GpuLink(
        a=0,
        b=1,
        path="NV18",
        nvlinks=18,
        nvlink_version="4.0",
        peer_access_reported=True,
        peer_access_cuda=True,
    )
    assert {link.path for link in machine.gpu_links} == {"NV18"}
    assert machine.nvswitch is True
    assert machine.gpus[0].fabric == "completed"
    assert machine.gpus[0].nvlinks[17].bytes_per_s == 26.562e9
    assert gpu_leaves(machine) == []


def test_links_between_gpus_are_counted_by_their_peers():
    first, second, third = h100(0x1A), h100(0x1B), h100(0x1C)
    for gpu, other, count in ((first, second, 4), (second, first, 4), (third, first, 0)):
        peer = SimpleNamespace(domain=0, bus=int(other.address[5:7], 16), device=0, busId="x")
        gpu.links = [{"state": 1, "version": 4, "kind": 0, "peer": peer} for _ in range(count)]
    for gpu in (first, second, third):
        gpu.ways = {other.address: (30, 1) for other in (first, second, third)}
        gpu.answers["CudaComputeCapability"] = (8, 6)
    machine = look(FakeNvml(first, second, third))
    ways = [(link.path, link.nvlinks, link.nvlink_version) for link in machine.gpu_links]
    assert ways == [("NV4", 4, "3.0"), ("PHB", 0, None), ("PHB", 0, None)]
    assert [link.peer_access_reported for link in machine.gpu_links] == [False] * 3
    assert machine.nvswitch is False
    assert "No NVLink joins" in missing_of(machine, "gpu_links[1].nvlink_version").why
    assert gpu_leaves(machine) == []


@in_one(
    ("level", "path"),
    [(0, "PIX"), (10, "PIX"), (20, "PXB"), (30, "PHB"), (40, "NODE"), (50, "SYS")],
)
def test_ways_have_the_words_of_nvidia_smi(level, path):
    first, second = h100(0x1A), h100(0x1B)
    first.ways[second.address] = (level, 0)
    (link,) = look(FakeNvml(first, second)).gpu_links
    assert (link.path, link.nvlinks, link.peer_access_reported) == (path, 0, True)


def joined(version, capability, megabytes_per_s):
    """Return two GPUs joined by a link of this version, as NVML would say it."""
    gpus = with_switches(2, 1, version=version)
    for gpu in gpus:
        gpu.answers["CudaComputeCapability"] = capability
        gpu.fields.pop((164, 0))
        if megabytes_per_s:
            gpu.fields[164, 0] = megabytes_per_s
    return look(FakeNvml(*gpus))


@in_one(
    ("number", "name", "capability", "megabytes_per_s"),
    [
        (1, "1.0", (6, 0), 20_000),
        (2, "2.0", (7, 0), 25_781),
        (3, "2.2", (7, 5), 25_781),
        (4, "3.0", (8, 0), 25_781),
        (5, "3.1", (8, 6), 14_062),
        (6, "4.0", (9, 0), 26_562),
        (7, "5.0", (10, 0), 53_125),
        (8, "6.0", (11, 0), 53_125),
        (6, "4.0", (9, 0), None),
    ],
)
def test_the_version_of_nvlink_is_not_the_number_that_the_driver_says(
    number, name, capability, megabytes_per_s
):
    machine = joined(number, capability, megabytes_per_s)
    assert machine.gpus[0].nvlinks[0].version == machine.gpu_links[0].nvlink_version == name
    assert "not of that version" not in source_of(machine, "gpus[0].nvlinks[0].version")


@in_one(
    ("number", "name", "capability", "megabytes_per_s"),
    [
        (4, "4.0", (9, 0), 26_562),  # a driver that says the number of the data sheet
        (5, "5.0", (10, 0), 53_125),
        (4, "2.0", (7, 0), 20_000_000),  # the speed of no link: the GPU decides
        (3, "3.0", (8, 0), 25_781),
        (6, "1.0", (9, 0), 20_000),  # the speed counts, not the GPU
        (3, "3.0", (8, 0), None),
    ],
)
def test_a_version_that_speed_or_gpu_contradicts_is_corrected_and_says_so(
    number, name, capability, megabytes_per_s
):
    machine = joined(number, capability, megabytes_per_s)
    assert machine.gpus[0].nvlinks[0].version == machine.gpu_links[0].nvlink_version == name
    assert "not of that version" in source_of(machine, "gpus[0].nvlinks[0].version")
    assert gpu_leaves(machine) == []


def test_a_version_that_cannot_be_told_is_unknown_with_the_contradiction():
    machine = joined(1, (12, 0), 25_781)
    assert machine.gpus[0].nvlinks[0].version is None
    why = missing_of(machine, "gpus[0].nvlinks[0].version").why
    assert why == "The driver says version 1.0, but a speed of 25.8 GB/s is not of that version."
    assert gpu_leaves(machine) == []


# --- health ---------------------------------------------------------------------------------------


@in_one(
    ("bits", "told"),
    [
        (0, []),
        (0x1 | 0x2, [("idle", "information"), ("application_clocks", "information")]),
        (0x4, [("power_cap", "limit")]),
        (0x40, [("hardware_thermal", "warning")]),
    ],
)
def test_why_the_clock_is_low_is_told_and_idling_is_no_warning(bits, told):
    for answers in (
        {"CurrentClocksEventReasons": bits},
        {"CurrentClocksEventReasons": NVMLError(13), "CurrentClocksThrottleReasons": bits},
    ):
        (gpu,) = look(FakeNvml(h100(**answers))).gpus
        found = [(r.key.removeprefix("clock_reasons."), r.severity) for r in gpu.clock_reasons]
        assert found == told


def test_that_mig_is_off_is_looked_at_without_switching_it_on():
    machine = look(FakeNvml(h100()))
    how = missing_of(machine, "gpus[0].mig_instances").how
    assert how == "nvidia-smi --query-gpu=mig.mode.current --format=csv"


def test_ecc_that_changes_with_the_next_start_is_pending():
    (gpu,) = look(FakeNvml(h100(EccMode=[1, 0]))).gpus
    assert (gpu.ecc, gpu.ecc_pending) == (True, False)


def test_replaced_rows_of_memory_are_counted():
    (gpu,) = look(FakeNvml(h100(RemappedRows=(1, 2, 1, 0)))).gpus
    assert (gpu.remapped_rows, gpu.remapping_pending, gpu.remapping_failed) == (3, True, False)


@in_one(
    "answers",
    [
        {"Temperature": lambda sensor: 4_000_000_000},
        {"TemperatureThreshold": lambda which: -5000},
        {"MemoryInfo": SimpleNamespace(total=2**64 - 1)},
        {"MaxClockInfo": lambda kind: 2**32 - 1},
        {"EnforcedPowerLimit": 2**32 - 1},
        {"BAR1MemoryInfo": SimpleNamespace(bar1Total=2**64 - 1)},
        {"MigMode": [1, 1], "MaxMigDeviceCount": 2**32 - 1, "MigDeviceHandleByIndex": h100},
    ],
)
def test_numbers_out_of_range_are_not_believed(answers):
    machine = look(FakeNvml(h100(**answers)))
    (gpu,) = machine.gpus
    assert len(gpu.mig_instances) <= 64
    if "MigMode" not in answers:
        assert any("makes no sense" in entry.why for entry in machine.missing)
    assert gpu_leaves(machine) == []


def test_the_architecture_has_the_name_that_people_know():
    numbers = {7: "Ampere", 8: "Ada", 9: "Hopper", 10: "Blackwell", 0xFFFFFFFF: None}
    told = [look(FakeNvml(h100(Architecture=number))).gpus[0].architecture for number in numbers]
    assert told == [*numbers.values()]


def test_numbers_newer_than_the_lists_are_said_to_be_newer_and_not_untold():
    machine = look(FakeNvml(h100(Architecture=14)))
    assert machine.gpus[0].architecture is None
    assert "14, is newer than the list" in missing_of(machine, "gpus[0].architecture").why
    gpus = with_switches(2, 12)
    for link in (link for gpu in gpus for link in gpu.links):
        link["version"] = 9
    machine = look(FakeNvml(*gpus))
    assert machine.gpus[0].nvlinks[0].version is None
    assert "newer than the list" in missing_of(machine, "gpus[0].nvlinks[0].version").why


@pytest.mark.parametrize(("window_bytes", "is_whole"), [(128 * GIB, True), (256 * MIB, False)])
def test_the_processor_reaches_all_memory_or_a_window_of_it(tree, window_bytes, is_whole):
    small = "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200"
    large = f"{2**40:#018x} {2**40 + window_bytes - 1:#018x} 0x000000000014220c"
    none = "0x0000000000000000 0x0000000000000000 0x0000000000000000"
    lines = [small, large, none, none, none, none, f"0x0 {2**45:#x} 0x0"]  # the last: no window
    tree.write("/sys/bus/pci/devices/0000:1a:00.0/resource", "\n".join(lines))
    machine = look(FakeNvml(h100()), pci=(card(),), root=tree.root)
    assert (machine.gpus[0].bar_bytes, machine.gpus[0].resizable_bar) == (window_bytes, is_whole)
    assert "resource" in source_of(machine, "gpus[0].bar_bytes")


@pytest.mark.parametrize(
    "text", ["", "nonsense\n", "0x0 0x0 0x0\n", "0x5\n", f"0x0 {2**63:#x} 0x0"]
)
def test_windows_that_the_kernel_does_not_tell_are_those_of_nvml(tree, text):
    tree.write("/sys/bus/pci/devices/0000:1a:00.0/resource", text)
    machine = look(FakeNvml(h100()), pci=(card(),), root=tree.root)
    assert machine.gpus[0].bar_bytes == 128 * GIB
    assert "BAR1MemoryInfo" in source_of(machine, "gpus[0].bar_bytes")


def test_a_sleeping_link_is_not_down_and_a_dead_one_is():
    gpus = with_switches(2, 3)
    for gpu in gpus:
        gpu.fields[165, 0], gpu.fields[165, 2] = 2, 0
    machine = look(FakeNvml(*gpus))
    assert [link.state for link in machine.gpus[0].nvlinks] == ["sleep", "active", "inactive"]
    assert machine.gpu_links[0].path == "NV2"


def test_before_hopper_the_state_of_a_link_is_that_of_the_old_call():
    gpus = with_switches(2, 2)
    for gpu in gpus:
        gpu.answers["CudaComputeCapability"] = (8, 0)
        gpu.fields[165, 0] = 0
    assert look(FakeNvml(*gpus)).gpu_links[0].path == "NV2"


@pytest.mark.parametrize(
    "hidden",
    [
        HIDDEN_ADDRESS,
        SimpleNamespace(domain=0, bus=0, device=0, busId=""),
        NVMLError(NOT_SUPPORTED),
    ],
    ids=["all ones", "empty", "not supported"],
)
def test_the_hidden_end_of_a_link_in_a_virtual_machine_is_a_switch(hidden):
    gpus = with_switches(2, 12)
    for gpu in gpus:
        for link in gpu.links:
            del link["kind"], link["peer"]
            if not isinstance(hidden, Exception):
                link["peer"] = hidden
    machine = look(FakeNvml(*gpus))
    assert (machine.gpu_links[0].path, machine.nvswitch) == ("NV12", True)
    words = "does not support" if isinstance(hidden, Exception) else "address of the other end"
    assert words in missing_of(machine, "gpus[0].nvlinks[3].peer").why
    assert gpu_leaves(machine) == []


def test_links_end_where_the_driver_says_there_are_no_more():
    gpus = with_switches(2, 5)
    del gpus[0].fields[91, 0]
    machine = look(FakeNvml(*gpus))
    assert [len(gpu.nvlinks) for gpu in machine.gpus] == [5, 5]


@in_one(
    ("state", "status", "told"),
    [
        (1, 0, "not started"),
        (2, 0, "in progress"),
        (3, 0, "completed"),
        (3, 999, "failed"),
        (0, 0, None),
    ],
)
def test_the_fabric_tells_how_far_it_is(state, status, told):
    machine = look(FakeNvml(h100(GpuFabricInfoV=fabric(state, status))))
    assert machine.gpus[0].fabric == told
    if told is None:
        assert "not part of a fabric" in missing_of(machine, "gpus[0].fabric").why


def test_mig_lists_its_instances_and_says_why_the_whole_is_not_counted():
    part = h100(
        Name="NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        UUID="MIG-5e1a7",
        MemoryInfo=SimpleNamespace(total=40 * GIB),
        Attributes_v2=SimpleNamespace(multiprocessorCount=60),
    )

    def instance(index):
        if index != 2:
            raise NVMLError(6)
        return part

    gpu = h100(MigMode=[1, 1], MaxMigDeviceCount=7, MigDeviceHandleByIndex=instance)
    machine = look(FakeNvml(gpu), cuda=Cuda(gpus=seen_by_cuda(gpu, sms=60)))
    (found,) = machine.gpus
    assert found.mig is True
    assert [(i.name[-11:], i.memory_bytes, i.sms) for i in found.mig_instances] == [
        ("MIG 3g.40gb", 40 * GIB, 60)
    ]
    assert (found.sms, found.memory_bytes) == (None, 85520809984)
    assert "MIG" in missing_of(machine, "gpus[0].sms").why
    assert gpu_leaves(machine) == []


def test_a_gpu_that_shares_the_machines_memory_has_its_size_and_no_link():
    gpu = h100(0x0F, Name="NVIDIA GB10", MemoryInfo=NVMLError(NOT_SUPPORTED))
    cuda = Cuda(gpus=seen_by_cuda(gpu, is_integrated=True, sms=48))
    machine = look(FakeNvml(gpu), cuda=cuda, memory_bytes=128 * GIB)
    (found,) = machine.gpus
    assert (found.unified_memory, found.memory_bytes, found.link) == (True, 128 * GIB, None)
    assert "/proc/meminfo" in machine.sources["gpus[*].memory_bytes"]
    assert gpu_leaves(machine) == []


def test_a_jetson_without_nvml_and_pci_is_known_by_cuda(tree):
    tree.write("/proc/device-tree/compatible", "nvidia,p3768\0nvidia,tegra234\0")
    orin = h100(0)
    cuda = Cuda(gpus=seen_by_cuda(orin, is_integrated=True, name="Orin", sms=16))
    machine = look(None, cuda=cuda, root=tree.root, memory_bytes=64 * GIB)
    (gpu,) = machine.gpus
    assert (gpu.name, gpu.sms, gpu.memory_bytes) == ("Orin", 16, 64 * GIB)
    assert gpu_leaves(machine) == []


def test_a_share_of_a_gpu_in_a_virtual_machine_is_told_as_such():
    machine = look(FakeNvml(h100(VirtualizationMode=2, EccMode=NVMLError(22))))
    assert (machine.gpus[0].virtualization, machine.gpus[0].ecc) == ("vgpu", None)
    assert gpu_leaves(machine) == []


def test_in_wsl_the_reason_is_wsl():
    refused = dict.fromkeys(("MemoryBusWidth", "NvLinkState"), NVMLError(NOT_SUPPORTED))
    machine = look(FakeNvml(h100(**refused)), is_wsl=True)
    assert "WSL" in missing_of(machine, "gpus[0].memory_bus_bits").why
    assert machine.gpus[0].nvlinks == ()
    assert "WSL" in missing_of(machine, "gpus[0].nvlinks").why, "not told is not none"


# --- trouble --------------------------------------------------------------------------------------


def test_a_lost_gpu_keeps_its_place_and_says_that_it_is_lost():
    gpus = [h100(0x1A, Name="a"), h100(0x1B, Handle=NVMLError(LOST)), h100(0x1C, Name="c")]
    pci = tuple(card(gpu.address) for gpu in gpus)
    machine = look(FakeNvml(*gpus), pci=pci)
    assert [gpu.pci_address for gpu in machine.gpus] == [gpu.address for gpu in gpus]
    assert [gpu.name for gpu in machine.gpus] == ["a", "GH100 [H100 SXM5 80GB]", "c"]
    assert "fallen off the bus" in missing_of(machine, "gpus[1].memory_bytes").why
    assert "Xid" in missing_of(machine, "gpus[1].memory_bytes").how
    links = {(link.a, link.b) for link in machine.gpu_links}
    assert links == {(0, 1), (0, 2), (1, 2)}
    assert "fallen off the bus" in missing_of(machine, "gpu_links[0].nvlinks").why
    assert gpu_leaves(machine) == []


def test_a_gpu_that_another_driver_holds_is_told_so(tree):
    folder = tree.root / "sys/bus/pci/devices/0000:1a:00.0"
    folder.mkdir(parents=True)
    (folder / "driver").symlink_to("../../../drivers/vfio-pci")
    machine = look(FakeNvml(), pci=(card(),), root=tree.root)
    assert machine.gpus[0].driver == "vfio-pci"
    assert "vfio-pci" in missing_of(machine, "gpus[0].memory_bytes").why


def test_a_virtual_function_is_not_one_more_gpu():
    library = FakeNvml(h100())
    share = card("0000:1a:00.4", is_virtual_function=True)
    assert len(look(library, pci=(card(), share)).gpus) == 1


def sleeping(tree, driver="nvidia"):
    folder = "/sys/bus/pci/devices/0000:1a:00.0"
    tree.write(f"{folder}/power/runtime_status", "suspended\n")
    (tree.root / folder[1:] / "driver").symlink_to(f"../../../drivers/{driver}")
    return tree.root


def test_a_sleeping_gpu_is_not_woken(tree):
    library = FakeNvml(h100())

    def ask_cuda():
        raise AssertionError("CUDA would wake it")

    host = Host(root=sleeping(tree), pci=(card(),), is_live=True)
    found = nvidia.read(host, load=lambda: library, ask_cuda=ask_cuda)
    assert library.calls == []
    assert found.gpus[0].values["asleep"] is True
    assert "asleep" in found.gpus[0].missing["memory_bytes"].why


def test_a_card_that_sleeps_in_the_hands_of_another_driver_keeps_nobody_from_asking(tree):
    library = FakeNvml(h100(0x81))
    machine = look(library, pci=(card(), card("0000:81:00.0")), root=sleeping(tree, "vfio-pci"))
    assert [gpu.memory_bytes for gpu in machine.gpus] == [85520809984, None]


def test_nothing_is_asked_for_a_recording(tree):
    library = FakeNvml(h100())
    host = Host(root=tree.root, pci=(card(),))
    found = nvidia.read(host, load=lambda: library, ask_cuda=lambda: 1 / 0)
    assert library.calls == []
    assert "recording" in found.gpus[0].missing["sms"].why


def test_the_memory_of_a_gpu_that_is_a_memory_node_is_read_from_its_driver(recorded):
    machine = recorded("nvidiagpunumanodes")
    assert len(machine.gpus) == 6
    assert {gpu.memory_bytes for gpu in machine.gpus} == {0x3F0000000}
    own = {gpu.memory_numa_node for gpu in machine.gpus}
    assert own == {node.id for node in machine.numa if not node.threads}
    assert {gpu.vendor for gpu in machine.gpus} == {"NVIDIA"}


def _seat(gpu):
    return card(gpu.address)


@given(st.integers(0, 160), st.sampled_from([2, 3, 4, 6, 10, 13, 15, 16, 17, 21, 77, 999]))
def test_a_gpu_may_be_lost_in_the_middle_of_it(after, number):
    gpus = with_switches(2, 2)
    library = FakeNvml(*gpus)
    plain = library.call

    def call(name, *arguments):
        if len(library.calls) >= after and name != "nvmlShutdown":
            library.calls.append(name)
            raise NVMLError(number)
        return plain(name, *arguments)

    library.call = call
    machine = look(library, pci=tuple(map(_seat, gpus)))
    assert len(machine.gpus) == 2
    assert gpu_leaves(machine) == []
    from_json(to_json(machine))


def test_pynvml_still_has_the_number_that_we_write_ourselves():
    import pynvml

    # Once it is a plain 0, machine/gpus/nvlink.py may use pynvml's name.
    assert pynvml.NVML_P2P_CAPS_INDEX_READ == (0,)
    assert pynvml.nvmlGpuFabricInfo_v2 == 0x2000024


def test_pynvml_has_every_function_that_is_asked_for():
    import pynvml

    gpus = with_switches(2, 2)
    gpus[0].answers |= {"MigMode": [1, 1], "MaxMigDeviceCount": 1}
    gpus[0].answers["MigDeviceHandleByIndex"] = lambda index: h100()
    library = FakeNvml(*gpus)
    look(library)
    assert len(set(library.calls)) > 30
    assert [name for name in set(library.calls) if not hasattr(pynvml, name)] == []


def test_a_portable_machine_has_no_numbers_of_its_gpus():
    gpu = Gpu(index=0, uuid="GPU-5e1a7", mig_instances=(MigInstance(uuid="MIG-5e1a8"),))
    assert "5e1a" not in str(portable(replace(Machine(), gpus=(gpu,))))
    kept = portable(look(FakeNvml(h100())))
    assert kept.gpus[0].uuid is None
    assert source_of(kept, "gpus[0].uuid") != "NVML: nvmlDeviceGetUUID"
    assert "leave it out" in missing_of(kept, "gpus[0].uuid").why


def test_a_driver_that_is_not_loaded_is_not_loaded_by_asking(tree):
    library = FakeNvml(h100())
    tree.write("/sys/module/nouveau/refcnt", "1\n")
    machine = look(library, pci=(card(),), root=tree.root)
    assert library.calls == []
    assert "not loaded" in missing_of(machine, "gpus[0].sms").why
    tree.write("/sys/module/nvidia/refcnt", "0\n")
    assert look(library, pci=(card(),), root=tree.root).gpus[0].memory_bytes


def test_the_fingerprint_is_the_same_while_a_gpu_sleeps(tree):
    awake = look(FakeNvml(h100()), pci=(card(),), root=tree.root)
    asleep = look(None, pci=(card(),), root=sleeping(tree))
    assert awake.gpus[0].name != asleep.gpus[0].name
    prints = [
        assemble({"pci": machine.pci, "gpus": machine.gpus}).fingerprint
        for machine in (awake, asleep, Machine(pci=(card(device_id=1),), gpus=asleep.gpus))
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_gpu_that_a_container_was_not_given_comes_after_those_it_was(tree):
    mine = h100(0x81)
    pci = (card("0000:1a:00.0"), card("0000:81:00.0"))
    cuda = Cuda(gpus=seen_by_cuda(mine), visible=frozenset({mine.address}))
    machine = look(FakeNvml(mine), pci=pci, cuda=cuda, root=tree.root)
    assert [(gpu.pci_address, gpu.visible) for gpu in machine.gpus] == [
        ("0000:81:00.0", True),
        ("0000:1a:00.0", False),
    ]
    assert "does not list this GPU" in missing_of(machine, "gpus[1].memory_bytes").why
    assert gpu_leaves(machine) == []
