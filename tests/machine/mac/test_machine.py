from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.facts import Unanswered
from machine.gpus import apple
from machine.mac import answers, devices
from machine.mac.answers import Answers
from machine.mac.processors import read_layout, values
from machine.model import caches_of, from_json, missing_of, to_json
from machine.system.basics import Basics
from tests.cases import in_one
from tests.machine.elsewhere import foreign, inspected
from tests.machine.unexplained import unexplained

FOLDER = Path(__file__).parents[1] / "recorded_systems"
APPLE, INTEL = "macos-m1", "macos-i9-9880h"


def recorded(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def machine(name, sysctl=None, profiler=None):
    told = recorded(name)
    displays = json.dumps({"SPDisplaysDataType": told["displays"]})
    return inspected(
        "darwin",
        Answers(
            sysctl="\n".join(told["sysctl"]) if sysctl is None else sysctl,
            profiler=json.dumps(told["profiler"]) if profiler is None else profiler,
        ),
        Basics(release="21.6.0", architecture="arm64", threads=8, cores=8, memory_bytes=2**33),
        ask_apple=lambda memory_bytes: apple.read(memory_bytes, lambda *_, **__: displays),
    )


def test_a_macbook_has_two_kinds_of_cores_each_with_a_cache_of_its_own():
    found = machine(APPLE)
    cpu = found.cpu
    assert (cpu.model, cpu.packages, cpu.cores, cpu.threads) == ("Apple M1", 1, 8, 8)
    kinds = Counter(thread.kind for thread in cpu.threads_list)
    assert kinds == {"performance": 4, "efficiency": 4}
    fast = next(thread.id for thread in cpu.threads_list if thread.kind == "performance")
    slow = next(thread.id for thread in cpu.threads_list if thread.kind == "efficiency")
    assert [cache.size_bytes for cache in caches_of(found, fast)] == [2**17, 12 * 2**20]
    assert [cache.size_bytes for cache in caches_of(found, slow)] == [2**16, 4 * 2**20]
    assert [len(cache.threads) for cache in caches_of(found, fast)] == [1, 4]
    assert {cache.line_bytes for cache in cpu.caches} == {128}
    assert "asimd" in cpu.features
    assert "bf16" not in cpu.features
    assert found.virtualization == "none"


def test_a_macbook_has_memory_on_the_chip_and_a_disk():
    found = machine(APPLE)
    assert found.memory.total_bytes == 8 * 2**30
    (module,) = found.memory.modules
    assert (module.kind, module.size_bytes, module.slot) == ("LPDDR4", 8 * 2**30, None)
    assert missing_of(found, "memory.channels") is not None
    assert found.system.model == "MacBook Air (MacBookAir10,1)"
    (disk,) = found.storage
    assert (disk.name, disk.kind, disk.model) == ("disk0", "nvme", "APPLE SSD AP0256Q")
    (gpu,) = found.gpus
    assert (gpu.name, gpu.sms, gpu.unified_memory) == ("Apple M1", 7, True)


def test_an_intel_mac_has_threads_slots_and_a_card_in_thunderbolt():
    found = machine(INTEL)
    cpu = found.cpu
    assert (cpu.packages, cpu.cores, cpu.threads) == (1, 8, 16)
    assert {thread.kind for thread in cpu.threads_list} == {None}
    assert [(c.level, len(c.threads)) for c in caches_of(found, 0)] == [(1, 2), (2, 2), (3, 16)]
    assert (cpu.clock.base_hz, cpu.clock.max_hz) == (2_300_000_000, None)
    assert cpu.microcode == "0xf0"
    assert {"avx2", "fma"} <= set(cpu.features)
    assert [module.size_bytes for module in found.memory.modules] == [16 * 2**30] * 2
    assert found.memory.modules[0].part_number == "8ATF2G64HDZ-2G3E1"
    assert found.memory.channels == 2
    assert found.memory.peak_bytes_per_s == 2 * 2.667e9 * 8
    (card,) = found.pci
    assert (card.address, card.link.generation, card.link.width) == ("0000:43:00.0", 3, 4)
    assert [disk.kind for disk in found.storage] == ["nvme", "hdd"]
    assert [gpu.memory_bytes for gpu in found.gpus] == [32 * 2**30, 4 * 2**30]


@in_one(
    "make",
    [
        lambda: machine(APPLE),
        lambda: machine(INTEL),
        lambda: machine(APPLE, sysctl=""),
        lambda: machine(APPLE, profiler=""),
        lambda: machine(INTEL, profiler="system_profiler: command not found"),
        lambda: machine(INTEL, profiler="[1, 2]"),
        lambda: machine(
            INTEL, profiler='{"SPMemoryDataType": 3, "SPNVMeDataType": [[["a"]], null]}'
        ),
        lambda: inspected("darwin", Answers(), Basics()),
    ],
    ids=["apple", "intel", "no sysctl", "no profiler", "no JSON", "a list", "odd", "nothing"],
)
def test_all_is_explained_in_words_of_macos(make):
    found = make()
    assert unexplained(found) == []
    assert foreign(found) == []
    assert from_json(to_json(found)) == found
    what = [entry.what for entry in found.missing]
    assert len(what) == len(set(what))


def test_without_sysctl_the_threads_are_counted():
    found = machine(APPLE, sysctl="")
    assert (found.cpu.threads, found.cpu.caches) == (8, ())
    assert "sysctl" in missing_of(found, "cpu.caches").why


def test_without_the_profiler_there_are_cores_and_no_devices():
    found = machine(APPLE, profiler="")
    assert found.cpu.cores == 8
    assert (found.storage, found.memory.modules) == ((), ())
    assert "system_profiler" in missing_of(found, "storage").why


def test_the_fastest_level_is_performance_whatever_it_is_called():
    # An M5 Max: https://github.com/wandb/wandb/pull/12680 and its perflevels.
    told = {"hw.nperflevels": "2", "hw.packages": "1"}
    for level, cores, name, l2 in ((0, 6, "Super", 16 * 2**20), (1, 12, "Performance", 2**23)):
        told |= {
            f"hw.perflevel{level}.physicalcpu": str(cores),
            f"hw.perflevel{level}.logicalcpu": str(cores),
            f"hw.perflevel{level}.l2cachesize": str(l2),
            f"hw.perflevel{level}.cpusperl2": "6",
            f"hw.perflevel{level}.name": name,
        }
    found = machine(APPLE, sysctl="\n".join(f"{key}: {value}" for key, value in told.items()))
    kinds = Counter(thread.kind for thread in found.cpu.threads_list)
    assert kinds == {"performance": 6, "efficiency": 12}
    l2 = [cache for cache in found.cpu.caches if cache.level == 2]
    assert [len(cache.threads) for cache in l2] == [6, 6, 6]


@in_one(
    ("key", "value"),
    [
        ("hw.perflevel0.physicalcpu", "0"),
        ("hw.perflevel0.physicalcpu", "3"),  # 4 threads on 3 cores
        ("hw.perflevel1.logicalcpu", "many"),
        ("hw.perflevel1.logicalcpu", "9" * 30),
        ("hw.nperflevels", "7"),
        ("hw.packages", "3"),
    ],
)
def test_counts_that_cannot_be_are_said_to_be_none(key, value):
    told = {**values("\n".join(recorded(APPLE)["sysctl"])), key: value}
    with pytest.raises(Unanswered, match="sysctl"):
        read_layout(told)


@given(st.text())
def test_no_text_breaks_the_readers(text):
    values(text)
    devices.size_bytes(text)
    told = {"SPMemoryDataType": [{"dimm_size": text, "dimm_part_number": text}]}
    assert all(module.size_bytes != -1 for module in devices.read_modules(told))
    with pytest.raises(Unanswered):
        devices.read_profile(f"{text}{{")


def test_each_key_is_asked_alone_because_one_that_is_missing_fails():
    asked = []

    def run(*command, within_s):
        asked.append(command)
        return "" if "kern.hv_vmm_present" in command else f"{command[-1]}: 1\n"

    found = answers.ask(run)
    assert values(found.sysctl)["hw"] == "1"
    assert [command[0] for command in asked].count("/usr/sbin/sysctl") == 4
    assert asked[-1][:2] == ("/usr/sbin/system_profiler", "-json")
