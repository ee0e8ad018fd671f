from __future__ import annotations

import io

import msgspec
from rich.console import Console

from app.terminal.inspect import show_machine, show_unknown
from app.terminal.parts.devices import device_lines, link_text, matters, modules_text
from machine.devices import Disk, Link, NetworkInterface, PciDevice
from machine.model import Machine, MemoryModule
from tests.cases import in_one

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


@in_one(
    ("told", "text"),
    [
        (link((4, 16), (4, 16), (4, 16)), "Gen4 ×16"),
        (link((4, 8), (4, 16), (4, 8)), "Gen4 ×8 (card Gen4 ×16, slot Gen4 ×8)"),
        (
            link((1, 16), (4, 16), (4, 16)),
            "Gen1 ×16 now, could be Gen4 ×16 (links slow down when idle)",
        ),
        (
            link((1, 4), (4, 16), (4, 16)),
            "Gen1 ×4 now, could be Gen4 ×16 "
            "(4 of 16 lanes: reseat the card, or the slot shares lanes)",
        ),
        (
            link((4, 4), (4, 16), (None, None)),
            "Gen4 ×4 now, could be Gen4 ×16 (4 of 16 lanes: the slot may have no more)",
        ),
        (Link(generation=3, width=4), "Gen3 ×4"),
        (Link(card_generation=3, card_width=4), "could be Gen3 ×4"),
        # As NVIDIA's driver tells it in a virtual machine.
        (Link(generation=5, width=16, card_generation=5), "Gen5 ×16"),
        (
            Link(generation=1, width=16, card_generation=5),
            "Gen1 ×16 now, could be Gen5 ×16 (links slow down when idle)",
        ),
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
)


def test_devices_that_matter_stand_with_their_link_and_what_limits_it():
    assert list(device_lines(MACHINE)) == [
        (
            "pcie",
            "Card 03.0, Gen4 ×16, at most 7.88 GB/s, limited by Card 01 at 01 (Gen3 ×8), at 03.0",
        ),
        ("pcie", "Card 04.0, Gen4 ×4, at most 7.80 GB/s, at 04.0"),
        ("pcie", "Card 05.0, link not known, at 05.0"),
        ("", "and 1 virtual function: shares of these cards"),
        ("shared", "Card 01 at 01, 7.88 GB/s, by 03.0, 04.0"),
        ("disk", "nvme0n1: Fast, nvme, 2 TB, at most 7.80 GB/s"),
        ("disk", "sdb"),
        ("network", "eth0: ethernet, up, at most 125 MB/s"),
        ("network", "eth1: ethernet, down"),
    ]


def test_what_is_alike_shares_a_line():
    cards = tuple(
        PciDevice(address=f"0{n}", class_id=NVME, name="Card", link=link((4, 4), (4, 4), (4, 4)))
        for n in range(4)
    )
    disks = tuple(Disk(name=f"nvme{n}n1", model="Fast") for n in range(4))
    networks = tuple(NetworkInterface(name=f"eth{n}", is_up=True) for n in range(2))
    assert list(device_lines(Machine(pci=cards, storage=disks, network=networks))) == [
        ("pcie", "4 × Card, Gen4 ×4, at most 31.5 GB/s, at 00, 01, 02, 03"),
        ("disk", "nvme0n1 to nvme3n1: 4 × Fast"),
        ("network", "eth0, eth1: 2 × up"),
    ]


@in_one(
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


def test_equal_modules_are_counted_together_and_say_how_many_slots_they_leave():
    one = MemoryModule(kind="DDR5", size_bytes=2**34, transfers_per_s=4.8e9)
    empty = MemoryModule(size_bytes=0)
    odd = MemoryModule(size_bytes=2**33)
    assert (
        modules_text((one, empty, one, odd))
        == "2 × 16 GiB DDR5 at 4800 MT/s, 1 × 8 GiB in 3 of 4 slots"
    )
    assert modules_text((one, one)) == "2 × 16 GiB DDR5 at 4800 MT/s"
    assert modules_text((empty,)) is None


def test_the_page_shows_devices_and_vectors_and_fits_the_terminal():
    here = msgspec.structs.replace(
        MACHINE, cpu=msgspec.structs.replace(MACHINE.cpu, features=("avx2", "amx_bf16"))
    )
    console = Console(file=io.StringIO(), width=60, markup=False)
    show_machine(console, here)
    show_unknown(console, here)
    lines = console.file.getvalue().splitlines()
    assert any("AVX2, AMX BF16" in line for line in lines)
    assert any(line.startswith("pcie") and "Card 03.0" in line for line in lines)
    assert max(map(len, lines)) <= 60
