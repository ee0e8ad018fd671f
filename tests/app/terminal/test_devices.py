from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from app.terminal.devices import device_lines, link_text, matters, modules_text
from app.terminal.inspect import show_machine
from machine.devices import Disk, Link, NetworkInterface, PciDevice
from machine.model import Machine, MemoryModule

GPU, NVME, BRIDGE = 0x030200, 0x010802, 0x060400


def link(now, card, slot, gbytes=31.5):
    return Link(
        generation=now[0],
        width=now[1],
        card_generation=card[0],
        card_width=card[1],
        slot_generation=slot[0],
        slot_width=slot[1],
        peak_bytes_per_s=gbytes * 1e9,
    )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (link((4, 16), (4, 16), (4, 16)), "Gen4 ×16 of ×16"),
        (link((4, 8), (4, 16), (4, 8)), "Gen4 ×8 of ×8 (card Gen4 ×16, slot Gen4 ×8)"),
        (
            link((1, 16), (4, 16), (4, 16)),
            "Gen1 ×16 now, could be Gen4 ×16 (links slow down when idle)",
        ),
        (Link(generation=3, width=4), "Gen3 ×4"),
        (Link(card_generation=3, card_width=4), "could be Gen3 ×4"),
    ],
)
def test_a_link_is_told_in_words(told, text):
    assert link_text(told) == text


def device(address, kind=GPU, **more):
    return PciDevice(address=address, class_id=kind, name=f"Card {address}", **more)


MACHINE = Machine(
    pci=(
        device("0000:00:01.0", BRIDGE, parent="pci0000:00"),
        device("01", BRIDGE, parent="0000:00:01.0", link=link((3, 8), (3, 8), (3, 8), 7.88)),
        device("02", BRIDGE, parent="01"),
        device("03.0", parent="02", link=link((4, 16), (4, 16), (4, 16))),
        device("04.0", NVME, parent="02", link=link((4, 4), (4, 4), (4, 4), 7.8)),
        device("05.0", 0x020000),
        device("05.1", 0x020000, is_virtual_function=True),
    ),
    storage=(
        Disk(
            name="nvme0n1", kind="nvme", model="Fast", size_bytes=2 * 10**12, peak_bytes_per_s=7.8e9
        ),
        Disk(name="sdb"),
    ),
    network=(
        NetworkInterface(name="eth0", kind="ethernet", is_up=True, peak_bytes_per_s=1.25e8),
        NetworkInterface(name="eth1", kind="ethernet", is_up=False),
    ),
    peaks={
        "gpus": {"0": {"memory": {"bytes_per_s": 3.35e12}, "bf16": {"flop_per_s": 1.07e15}}},
        "nvlink": {"0-1": {"bytes_per_s": 450e9}},
    },
)


def test_devices_that_matter_stand_with_their_link_and_what_limits_it():
    lines = [text for _, text in device_lines(MACHINE)]
    assert lines == [
        "Card 03.0 at 03.0, Gen4 ×16 of ×16, at most 7.88 GB/s, "
        "limited by Card 01 at 01 (Gen3 ×8), sharing the link of 01 with 04.0",
        "Card 04.0 at 04.0, Gen4 ×4 of ×4, at most 7.80 GB/s, sharing the link of 01 with 03.0",
        "Card 05.0 at 05.0, link not known",
        "and 1 virtual function: shares of these cards",
        "nvme0n1: Fast, nvme, 2 TB, at most 7.80 GB/s",
        "sdb",
        "eth0, ethernet, up, at most 125 MB/s",
        "eth1, ethernet, down",
        "gpu 0: memory 3.35 TB/s, bf16 1070 TFLOP/s",
        "NVLink 0-1: 450 GB/s each way",
    ]


@pytest.mark.parametrize(
    ("kind", "maker", "is_shown"),
    [
        (0x030000, None, True),
        (0x120000, None, True),
        (0x0B4000, None, True),
        (0x010802, None, True),
        (0x028000, None, True),
        (0x068000, 0x10DE, True),  # NVSwitch
        (0x068000, 0x8086, False),
        (0x060400, 0x10DE, False),
        (0x0C0330, None, False),
        (None, None, False),
    ],
)
def test_of_dozens_of_devices_only_some_are_shown(kind, maker, is_shown):
    assert matters(PciDevice(address="a", class_id=kind, vendor_id=maker)) is is_shown


def test_equal_modules_are_counted_together_and_empty_slots_left_out():
    one = MemoryModule(kind="DDR5", size_bytes=2**34, transfers_per_s=4.8e9)
    empty = MemoryModule(size_bytes=0)
    odd = MemoryModule(size_bytes=2**33)
    assert modules_text((one, empty, one, odd)) == "2 × 16 GiB DDR5 at 4800 MT/s, 1 × 8 GiB"
    assert modules_text((empty,)) is None


def test_the_page_shows_devices_and_vectors_and_fits_the_terminal():
    here = dataclasses.replace(
        MACHINE, cpu=dataclasses.replace(MACHINE.cpu, features=("avx2", "amx_bf16"))
    )
    console = Console(file=io.StringIO(), width=60, markup=False)
    show_machine(console, here)
    lines = console.file.getvalue().splitlines()
    assert any("AVX2, AMX BF16" in line for line in lines)
    assert any(line.startswith("pcie") and "Card 03.0" in line for line in lines)
    assert max(map(len, lines)) <= 60
