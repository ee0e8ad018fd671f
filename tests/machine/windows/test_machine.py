from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from machine.gpus import nvidia
from machine.gpus.cuda import Cuda
from machine.gpus.windows import Adapter
from machine.gpus.windows import read as read_adapters
from machine.model import caches_of, from_json, missing_of, remarks, to_json
from machine.system.basics import Basics
from machine.windows.answers import Answers, Drive
from tests.cases import in_one
from tests.machine.elsewhere import foreign, inspected
from tests.machine.fake_nvml import GIB, FakeGpu, FakeNvml
from tests.machine.unexplained import unexplained
from tests.machine.windows import recorded

LAPTOP, DESKTOP = "windows-i5-1235u", "windows-ryzen-7950x"
IRIS = Adapter(device_id=r"PCI\VEN_8086&DEV_46A8", name="Intel(R) Iris(R) Xe Graphics", values={})


def geforce(**answers) -> FakeGpu:
    """Return a GeForce RTX 4070 as NVML would describe it; nothing was recorded."""
    memory = SimpleNamespace(total=12 * GIB, reserved=0, free=11 * GIB, used=GIB)
    return FakeGpu(
        0x01, Name="NVIDIA GeForce RTX 4070", MemoryInfo_v2=memory, MemoryInfo=memory, **answers
    )


def machine(name=LAPTOP, changed=None, **asked):
    answers, known = recorded.read(name)
    return inspected("win32", replace(answers, **(changed or {})), known, **asked)


def laptop():
    return machine(ask_windows=lambda pci: read_adapters(pci, lambda: [IRIS]))


def desktop():
    gpus = FakeNvml(geforce())
    return machine(
        DESKTOP,
        ask_nvidia=lambda host: nvidia.read(
            host, load=lambda: gpus, ask_cuda=lambda: SimpleNamespace(answer=lambda *_: Cuda())
        ),
    )


def test_a_laptop_has_its_kinds_of_cores_and_their_caches():
    found = laptop()
    cpu = found.cpu
    assert cpu.model == "12th Gen Intel(R) Core(TM) i5-1235U"
    assert (cpu.packages, cpu.cores, cpu.threads, cpu.usable_threads) == (1, 10, 12, 12)
    kinds = Counter(thread.kind for thread in cpu.threads_list)
    assert kinds == {"performance": 4, "efficiency": 8}
    assert [cache.size_bytes // 1024 for cache in caches_of(found, 0)] == [48, 1280, 12288]
    assert [cache.size_bytes // 1024 for cache in caches_of(found, 11)] == [32, 2048, 12288]
    assert caches_of(found, 11)[1].threads == (8, 9, 10, 11)
    assert [thread.cluster for thread in cpu.threads_list] == [0, 0, 1, 1, *[2] * 4, *[3] * 4]
    assert (cpu.clock.base_hz, cpu.clock.governor) == (2_496_000_000, "Balanced")
    assert cpu.microcode == "0x434"
    assert "avx2" in cpu.features


def test_a_laptop_has_modules_a_node_and_the_way_to_its_disk():
    found = laptop()
    assert found.memory.total_bytes == 16_864_862_208
    assert [module.slot for module in found.memory.modules] == [
        "Controller0-ChannelA-DIMM0",
        "Controller1-ChannelA-DIMM0",
    ]
    assert found.memory.channels == 2
    assert found.memory.peak_bytes_per_s == 2 * 3.2e9 * 8
    (node,) = found.numa
    assert node.threads == tuple(range(12))
    assert (found.system.maker, found.system.firmware_date) == ("Example", "2024-03-25")
    (disk,) = found.storage
    assert (disk.kind, disk.transport, disk.pci_address) == ("nvme", "pcie", "0000:01:00.0")
    assert disk.peak_bytes_per_s == pytest.approx(7.877e9, rel=1e-3)
    (card,) = (device for device in found.pci if device.address == disk.pci_address)
    assert card.parent == "0000:00:06.0"
    assert (card.link.generation, card.link.card_generation, card.link.slot_width) == (3, 4, 4)
    (wifi,) = found.network
    assert (wifi.kind, wifi.pci_address) == ("wifi", "0000:00:14.3")
    (gpu,) = found.gpus
    assert (gpu.vendor, gpu.pci_address) == ("Intel", "0000:00:02.0")
    assert gpu.unified_memory
    assert remarks(found) == []


def test_a_desktop_has_two_dies_and_its_card_in_the_slot():
    found = desktop()
    assert found.cpu.model == "AMD Ryzen 9 7950X 16-Core Processor"
    assert (found.cpu.cores, found.cpu.threads) == (16, 32)
    assert {thread.die for thread in found.cpu.threads_list} == {0, 1}
    assert {thread.kind for thread in found.cpu.threads_list} == {None}
    assert missing_of(found, "cpu.threads_list[0].kind").why.startswith("All cores")
    filled = [module for module in found.memory.modules if module.size_bytes]
    assert len(found.memory.modules) == 4
    assert [(each.transfers_per_s, each.rated_transfers_per_s) for each in filled] == [
        (6e9, 4.8e9)
    ] * 2
    assert found.memory.channels == 2
    (gpu,) = found.gpus
    assert (gpu.name, gpu.pci_address) == ("NVIDIA GeForce RTX 4070", "0000:01:00.0")
    (card,) = (device for device in found.pci if device.address == gpu.pci_address)
    assert card.link.peak_bytes_per_s == pytest.approx(31.5e9, rel=1e-2)
    assert [disk.kind for disk in found.storage] == ["nvme", "hdd"]
    assert found.system.model is None
    assert found.system.board == "ASUSTeK COMPUTER INC. ProArt X670E-CREATOR WIFI"


@in_one(
    "make",
    [
        laptop,
        desktop,
        lambda: inspected("win32", Answers(), Basics(threads=4, cores=2, memory_bytes=2**33)),
        lambda: inspected("win32", Answers(), Basics()),
    ],
    ids=["laptop", "desktop", "silent", "nothing"],
)
def test_all_is_explained_in_words_of_windows(make):
    found = make()
    assert unexplained(found) == []
    assert foreign(found) == []
    assert from_json(to_json(found)) == found
    what = [entry.what for entry in found.missing]
    assert len(what) == len(set(what))
    assert "SECRET" not in json.dumps(to_json(found))


def test_without_a_description_the_threads_are_counted():
    found = machine(changed={"processors": b""})
    assert (found.cpu.threads, found.cpu.cores, found.cpu.caches) == (12, 10, ())
    assert "did not describe" in missing_of(found, "cpu.caches").why
    assert unexplained(found) == []


@in_one("left", [0, 3, 8, 100, 1000])
def test_a_table_that_ends_early_tells_what_it_holds(left):
    answers, _ = recorded.read(LAPTOP)
    found = machine(changed={"firmware": answers.firmware[:left]})
    assert len(found.memory.modules) <= 2
    assert unexplained(found) == []


def test_a_virtual_machine_is_one_whose_firmware_says_so():
    description = {
        "bios": ["Example", "1", "01/01/2024"],
        "system": ["VMware, Inc.", "VMware20,1"],
        "board": ["Intel Corporation", "440BX"],
        "modules": [],
    }
    found = machine(changed={"firmware": recorded.firmware(description)})
    assert found.virtualization == "vmware"
    assert missing_of(laptop(), "virtualization") is not None


def test_a_disk_that_answers_nothing_is_still_a_disk():
    found = machine(changed={"drives": (Drive(number=3), Drive(number=4, descriptor=b"\x28"))})
    assert [disk.name for disk in found.storage] == ["PhysicalDrive3", "PhysicalDrive4"]
    assert {disk.kind for disk in found.storage} == {None}
    assert unexplained(found) == []


def test_of_two_disks_of_one_model_nobody_knows_which_is_on_which_controller():
    answers, _ = recorded.read(LAPTOP)
    (disk,), (drive,) = answers.disks, answers.drives
    twice = {
        "disks": (disk, replace(disk, id="another", parent=None)),
        "drives": (drive, replace(drive, number=1)),
    }
    assert [each.pci_address for each in machine(changed=twice).storage] == [None, None]


def test_a_mask_of_one_group_says_nothing_of_threads_in_others():
    answers = replace(recorded.read(LAPTOP)[0], processors=recorded.processors(recorded.server()))
    found = inspected("win32", answers, Basics(threads=144, usable=(0, 1)))
    assert (found.cpu.threads, found.cpu.usable_threads) == (144, 144)
    assert "groups" in missing_of(found, "cpu.counts.affinity").why
    assert [len(node.threads) for node in found.numa] == [72, 72]
    assert unexplained(found) == []


def test_a_pinned_process_may_use_its_threads_only():
    answers, known = recorded.read(LAPTOP)
    found = inspected("win32", answers, replace(known, usable=(4, 5)))
    assert found.cpu.usable_threads == found.cpu.counts.affinity == 2
    assert [thread.id for thread in found.cpu.threads_list if thread.usable] == [4, 5]
