from __future__ import annotations

import msgspec
import pytest

from machine import peaks
from machine.devices import Gpu, GpuLink, Link, PciDevice
from machine.facts import Notes
from machine.gpus.rates import flop_per_cycle
from machine.model import Memory, MemoryModule
from machine.peaks import dram, gpu_ceilings, nvlink, read_peaks
from tests.cases import in_one


def module(transfers_per_s: float | None = 4.8e9, size_bytes: int = 2**34, bits: int | None = 64):
    return MemoryModule(size_bytes=size_bytes, transfers_per_s=transfers_per_s, data_bits=bits)


def gpu(name, capability, sms, sm_mhz, memory_mhz=None, bits=None, **more):
    return Gpu(
        index=0,
        vendor="NVIDIA",
        name=f"NVIDIA {name}",
        compute_capability=capability,
        sms=sms,
        sm_clock_hz=int(sm_mhz * 1e6),
        memory_clock_hz=int(memory_mhz * 1e6) if memory_mhz else None,
        memory_bus_bits=bits,
        **more,
    )


@in_one(
    ("transfers_per_s", "channels", "gbytes_per_s"),
    [(3.2e9, 1, 25.6), (4.8e9, 8, 307.2), (5.6e9, 2, 89.6), (6.4e9, 12, 614.4)],
)
def test_memory_carries_8_bytes_a_transfer_and_channel(transfers_per_s, channels, gbytes_per_s):
    ceiling = dram((module(transfers_per_s),) * channels, channels)
    assert ceiling.value == pytest.approx(gbytes_per_s * 1e9)
    counted = "1 channel" if channels == 1 else f"{channels} channels"
    assert ceiling.formula.startswith(f"{counted} × {transfers_per_s / 1e6:g}e6 ")


def test_two_modules_on_a_channel_are_no_second_channel():
    assert dram((module(),) * 4, 2).value == 2 * 4.8e9 * 8


def test_the_slowest_module_sets_the_pace_and_empty_slots_do_not():
    assert dram((module(), module(4.4e9), module(None, 0, None)), 2).value == 2 * 4.4e9 * 8


def test_soldered_memory_has_narrow_channels():
    assert dram((module(8.533e9, bits=16),) * 8, 8).value == pytest.approx(136.5e9, rel=1e-3)


@in_one(
    ("modules", "channels"),
    [
        ((module(),), None),
        ((), 2),
        ((module(None),), 1),
        ((module(), module(None)), 2),
        ((module(), module(bits=16)), 2),
    ],
)
def test_memory_of_which_not_all_is_known_has_no_ceiling(modules, channels):
    assert dram(modules, channels) is None


# The published numbers of NVIDIA's data sheets and white papers, in GB/s.
@in_one(
    ("name", "mhz", "bits", "gbytes_per_s"),
    [
        ("Tesla V100", 877, 4096, 898),
        ("T4", 5001, 256, 320),
        ("A100-SXM4-40GB", 1215, 5120, 1555),
        ("A100-SXM4-80GB", 1593, 5120, 2039),
        ("GeForce RTX 3090", 9751, 384, 936),
        ("GeForce RTX 4090", 10501, 384, 1008),
        ("L4", 6251, 192, 300),
        ("H100 80GB HBM3", 2619, 5120, 3352),
        ("GeForce RTX 5090", 14001, 512, 1792),
    ],
)
def test_gpu_memory_agrees_with_the_data_sheets(name, mhz, bits, gbytes_per_s):
    ceiling = gpu_ceilings(gpu(name, "0.0", 1, 1, mhz, bits))["memory"]
    assert ceiling.value == pytest.approx(gbytes_per_s * 1e9, rel=3e-3)


# Dense and published, in TFLOP/s: NVIDIA's data sheets and white papers.
@in_one(
    ("name", "capability", "sms", "mhz", "precision", "tera"),
    [
        ("Tesla V100-SXM2-16GB", "7.0", 80, 1530, "fp16", 125),
        ("T4", "7.5", 40, 1590, "fp16", 65),
        ("GeForce RTX 2080 Ti", "7.5", 68, 1545, "fp16", 53.8),
        ("A100-SXM4-80GB", "8.0", 108, 1410, "bf16", 312),
        ("A100-SXM4-80GB", "8.0", 108, 1410, "fp64_tensor", 19.5),
        ("A100-SXM4-80GB", "8.0", 108, 1410, "int8", 624),
        ("GeForce RTX 3090", "8.6", 82, 1695, "fp16", 71),
        ("A10", "8.6", 72, 1695, "bf16", 125),
        ("GeForce RTX 4090", "8.9", 128, 2520, "fp32", 82.6),
        ("GeForce RTX 4090", "8.9", 128, 2520, "fp16", 165.2),
        ("GeForce RTX 4090", "8.9", 128, 2520, "fp8", 330.3),
        ("L4", "8.9", 58, 2040, "bf16", 121),
        ("L40S", "8.9", 142, 2520, "bf16", 362),
        ("H100 80GB HBM3", "9.0", 132, 1980, "fp32", 66.9),
        ("H100 80GB HBM3", "9.0", 132, 1980, "bf16_data_sheet", 989.4),
        ("H100 80GB HBM3", "9.0", 132, 1980, "fp8_data_sheet", 1979),
        ("H200", "9.0", 132, 1980, "fp8_data_sheet", 1979),
        ("H100 PCIe", "9.0", 114, 1755, "bf16_data_sheet", 756),
        ("GeForce RTX 5090", "12.0", 170, 2407, "fp32", 104.8),
        ("GeForce RTX 5090", "12.0", 170, 2407, "fp16", 209.5),
        ("GeForce RTX 5090", "12.0", 170, 2407, "fp4", 1676),
        ("RTX PRO 6000 Blackwell", "12.0", 188, 2617, "bf16", 503.8),
    ],
)
def test_arithmetic_agrees_with_the_dense_numbers_of_the_data_sheets(
    name, capability, sms, mhz, precision, tera
):
    ceiling = gpu_ceilings(gpu(name, capability, sms, mhz))[precision]
    assert ceiling.value == pytest.approx(tera * 1e12, rel=0.02)
    assert ceiling.unit == ("op_per_s" if precision == "int8" else "flop_per_s")
    assert f"{sms} SMs × " in ceiling.formula


def test_the_highest_clock_of_an_h100_promises_more_than_its_data_sheet():
    ceilings = gpu_ceilings(gpu("H100 80GB HBM3", "9.0", 132, 1980))
    assert ceilings["bf16"].value / ceilings["bf16_data_sheet"].value == pytest.approx(1980 / 1830)
    assert "fp32_data_sheet" not in ceilings


@in_one(
    ("name", "capability", "unknown"),
    [
        ("NVIDIA A10G", "8.6", {"fp16", "bf16", "tf32"}),
        ("TITAN RTX", "7.5", {"fp16"}),
        (None, "8.9", {"fp16", "fp8"}),
        ("NVIDIA GeForce GTX 1660", "7.5", {"fp16", "int8"}),
        ("NVIDIA RTX PRO 6000", "12.0", {"tf32", "fp8"}),
        ("NVIDIA B300", "10.3", {"int8", "fp64"}),
        ("NVIDIA GB10", "12.1", {"fp32", "fp16"}),
        ("NVIDIA H100", None, {"fp32", "fp16"}),
    ],
)
def test_what_is_not_known_for_sure_has_no_rate(name, capability, unknown):
    assert not unknown & flop_per_cycle(capability, name).keys()


def test_a_gpu_in_slices_or_without_memory_of_its_own_has_no_such_ceiling():
    whole = gpu("A100-SXM4-80GB", "8.0", 108, 1410, 1593, 5120)
    assert gpu_ceilings(whole)
    assert gpu_ceilings(msgspec.structs.replace(whole, mig=True)) == {}
    assert "memory" not in gpu_ceilings(msgspec.structs.replace(whole, unified_memory=True))
    assert gpu_ceilings(Gpu(index=0, vendor="AMD", memory_clock_hz=10**9, memory_bus_bits=8)) == {}
    assert gpu_ceilings(msgspec.structs.replace(whole, sms=None)).keys() == {"memory"}


# In GB/s and one direction; the marketing number counts both.
@in_one(
    ("version", "links", "capability", "gbytes_per_s"),
    [
        ("1.0", 4, "6.0", 80),
        ("2.0", 6, "7.0", 150),
        ("2.2", 2, "7.5", 50),
        ("3.0", 12, "8.0", 300),
        ("3.1", 4, "8.6", 56.25),
        ("4.0", 18, "9.0", 450),
        ("5.0", 18, "10.0", 900),
    ],
)
def test_nvlink_carries_what_is_published_in_one_direction(
    version, links, capability, gbytes_per_s
):
    pair = GpuLink(a=0, b=1, nvlinks=links, nvlink_version=version)
    found = nvlink(pair, Gpu(index=0, compute_capability=capability))
    assert found.value == gbytes_per_s * 1e9


@pytest.mark.parametrize("pair", [{"nvlinks": 0, "nvlink_version": "4.0"}, {"nvlinks": 2}])
def test_a_pair_without_nvlink_or_version_has_no_ceiling(pair):
    assert nvlink(GpuLink(a=0, b=1, **pair), None) is None
    assert nvlink(GpuLink(a=0, b=1, nvlinks=2, nvlink_version="6.0"), None) is None


def test_a_way_has_the_ceiling_of_its_link_and_names_what_is_narrower():
    narrow = Link(card_generation=3, card_width=16, slot_generation=3, slot_width=8,
                  peak_bytes_per_s=7.877e9)  # fmt: skip
    wide = Link(card_generation=4, card_width=16, slot_generation=5, slot_width=16,
                peak_bytes_per_s=31.5e9)  # fmt: skip
    switch = PciDevice(address="0000:01:00.0", class_id=0x060400, link=narrow)
    card = PciDevice(address="0000:03:00.0", parent="0000:01:00.0", link=wide)
    found = peaks.way((switch, card), card)
    assert found["bytes_per_s"] == 31.5e9
    assert found["formula"] == "16e9 transfers/s × 16 lanes × 128/130 (line coding) / 8 bits"
    assert (found["way_bytes_per_s"], found["limiting_hop"]) == (7.877e9, "0000:01:00.0")


def test_all_ceilings_stand_together_and_what_is_not_known_says_why():
    notes = Notes()
    h100 = gpu("H100 80GB HBM3", "9.0", 132, 1980, 2619, 5120)
    pair = GpuLink(a=0, b=1, nvlinks=18, nvlink_version="4.0")
    memory = Memory(modules=(module(),), channels=1)
    found = read_peaks(memory, (), (h100,), (pair,), notes)
    assert found["memory"]["bytes_per_s"] == 38.4e9
    assert found["nvlink"]["0-1"]["bytes_per_s"] == 450e9
    assert found["gpus"]["0"]["bf16_data_sheet"]["flop_per_s"] == pytest.approx(989.4e12, rel=1e-3)
    assert all(
        {"formula", "source"} <= found["gpus"]["0"][name].keys() for name in ("fp8", "memory")
    )
    assert {entry.what for entry in notes.missing} == {"peaks.pcie", "peaks.cpu"}
    assert notes.sources.keys() == {"peaks"}


def test_a_machine_of_which_nothing_is_known_has_no_ceilings():
    notes = Notes()
    assert read_peaks(Memory(), (), (), (), notes) == {}
    assert "peaks" in {entry.what for entry in notes.missing}


def test_a_link_that_only_the_driver_of_a_gpu_knows_has_its_peak():
    link = Link(
        generation=1,
        width=16,
        card_generation=5,
        slot_generation=4,
        slot_width=16,
        peak_bytes_per_s=31.5e9,
    )
    known = gpu("H100", "9.0", 132, 1980, pci_address="0000:1a:00.0", link=link)
    notes = Notes()
    found = read_peaks(Memory(), (PciDevice(address="0000:1a:00.0"),), (known,), (), notes)
    entry = found["pcie"]["0000:1a:00.0"]
    assert entry["bytes_per_s"] == entry["way_bytes_per_s"] == 31.5e9
    assert entry["formula"].startswith("16e9 transfers/s × 16 lanes")
    assert entry["limiting_hop"] == "0000:1a:00.0"
    assert "peaks.pcie" not in [entry.what for entry in notes.missing]


def test_a_narrow_bridge_limits_a_gpu_whose_own_link_only_its_driver_knows():
    bridge = PciDevice(
        address="0000:00:01.0",
        parent="pci0000:00",
        class_id=0x060400,
        link=Link(card_generation=3, card_width=8, slot_generation=3, peak_bytes_per_s=7.9e9),
    )
    device = PciDevice(address="0000:1a:00.0", parent="0000:00:01.0")
    link = Link(card_generation=5, slot_generation=5, slot_width=16, peak_bytes_per_s=63e9)
    known = gpu("H100", "9.0", 132, 1980, pci_address="0000:1a:00.0", link=link)
    entry = read_peaks(Memory(), (device, bridge), (known,), (), Notes())["pcie"]["0000:1a:00.0"]
    assert (entry["bytes_per_s"], entry["way_bytes_per_s"]) == (63e9, 7.9e9)
    assert entry["limiting_hop"] == "0000:00:01.0"
