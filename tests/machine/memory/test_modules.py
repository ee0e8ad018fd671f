from __future__ import annotations

import struct

import pytest

from machine.facts import Notes
from machine.inspect import inspect
from machine.memory.host import read_memory
from machine.model import Cpu, MemoryModule

GIB = 2**30
MAKER, NUMBER = b"G Skill Intl", b"F5-6000J3038F16G"
DDR4, DDR5, FLASH = 0x1A, 0x22, 0x09
MC = "/sys/devices/system/edac/mc"


def entry(
    slot=b"DIMM 0",
    bank=b"P0 CHANNEL A",
    *,
    size=0x4000,
    kind=DDR5,
    rated=5600,
    configured=4800,
    **more,
):
    """An entry of type 17 as SMBIOS 3.3 lays it out, 92 bytes and the strings."""
    fields = bytearray(0x5C)
    fields[0:4] = bytes((17, len(fields), 1, 0))
    struct.pack_into("<HHH", fields, 0x08, 80, more.get("bits", 64), size)
    fields[0x10:0x13] = bytes((1, 2 if bank else 0, kind))
    fields[0x17], fields[0x1A] = (4, 5) if bank else (3, 4)  # after the serial number
    struct.pack_into("<H", fields, 0x15, rated)
    struct.pack_into("<I", fields, 0x1C, more.get("extended_mib", 0))
    struct.pack_into("<H", fields, 0x20, configured)
    struct.pack_into("<II", fields, 0x54, more.get("wide_rated", 0), more.get("wide", 0))
    return (
        bytes(fields)
        + b"\0".join(filter(None, (slot, bank, b"SERIAL-4711", MAKER, NUMBER)))
        + b"\0\0"
    )


OTHER = bytes((1, 8, 0, 0, 1, 0, 0, 0)) + b"Maker\0\0"  # another type
EMPTY = bytes((127, 4, 0, 0)) + b"\0\0"  # the end, without strings


def table(tree, *entries):
    file = tree.root / "sys/firmware/dmi/tables/DMI"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(entries))


def udev(tree, **lines):
    text = "".join(f"E:MEMORY_DEVICE_{name}={value}\n" for name, value in lines.items())
    tree.write("/run/udev/data/+dmi:id", f"I:1\nE:MEMORY_ARRAY_NUM_DEVICES=4\n{text}")


def watched(tree, *places, controller="F19h", kind="Registered-DDR5", name="dimm"):
    """Modules or ranks known to EDAC: (controller, location)."""
    for number, (mc, place) in enumerate(places):
        folder = f"{MC}/mc{mc}/{name}{number}"
        tree.write(f"{MC}/mc{mc}/mc_name", f"{controller} MC#{mc}\n")
        tree.write(f"{folder}/size", "16384\n")
        tree.write(f"{folder}/dimm_location", f"{place} \n")
        tree.write(f"{folder}/dimm_mem_type", f"{kind}\n")
        tree.write(f"{folder}/dimm_label", f"label{number}\n")


def read(tree):
    notes = Notes()
    return read_memory(tree.root, notes), notes


def missing(notes):
    return {entry.what for entry in notes.missing}


def test_the_firmwares_table_has_slot_kind_size_and_the_speed_they_run_at(tree):
    table(tree, OTHER, entry(), entry(b"DIMM 1", size=0, configured=0, rated=0), EMPTY, entry())
    memory, notes = read(tree)
    assert memory.modules[:2] == (
        MemoryModule(
            slot="DIMM 0",
            bank="P0 CHANNEL A",
            maker="G Skill Intl",
            part_number="F5-6000J3038F16G",
            kind="DDR5",
            size_bytes=16 * GIB,
            transfers_per_s=4.8e9,
            rated_transfers_per_s=5.6e9,
            data_bits=64,
        ),
        MemoryModule(
            slot="DIMM 1",
            bank="P0 CHANNEL A",
            maker="G Skill Intl",
            part_number="F5-6000J3038F16G",
            kind="DDR5",
            size_bytes=0,
            transfers_per_s=None,
            data_bits=64,
        ),
    )
    assert notes.sources["memory.modules"] == "/sys/firmware/dmi/tables/DMI"
    assert "memory.modules[*].transfers_per_s" in missing(notes)


def test_sizes_and_speeds_beyond_16_bits_stand_in_wider_fields(tree):
    table(
        tree,
        entry(
            size=0x7FFF,
            extended_mib=65536,
            rated=0xFFFF,
            configured=0xFFFF,
            wide=70000,
            wide_rated=1,
        ),
        entry(size=0x8400),
        entry(size=0xFFFF),
    )
    first, second, third = read(tree)[0].modules
    assert (first.size_bytes, first.transfers_per_s) == (64 * GIB, 70e9)
    assert second.size_bytes == 2**20, "in KiB"
    assert third.size_bytes is None


def test_modules_that_the_firmware_runs_slower_keep_both_speeds_and_the_peak_is_of_the_slower(tree):
    udev(
        tree,
        **{
            f"{n}_{name}": value
            for n, channel in enumerate("AB")
            for name, value in {
                "LOCATOR": f"CHANNEL {channel}",
                "SIZE": 16 * GIB,
                "SPEED_MTS": 5600,
                "CONFIGURED_SPEED_MTS": 4800,
                "DATA_WIDTH": 64,
            }.items()
        },
    )
    memory = inspect(tree.root).memory
    assert [(m.transfers_per_s, m.rated_transfers_per_s) for m in memory.modules] == [
        (4.8e9, 5.6e9)
    ] * 2
    assert memory.peak_bytes_per_s == 2 * 4.8e9 * 64 / 8


def test_without_a_configured_speed_the_rated_one_counts(tree):
    table(tree, entry(configured=0))
    assert read(tree)[0].modules[0].transfers_per_s == 5.6e9


def test_flash_with_the_firmware_is_no_memory(tree):
    table(tree, entry(kind=FLASH), entry())
    assert len(read(tree)[0].modules) == 1


@pytest.mark.parametrize("data", [b"", b"\x11", b"\x11\x02\0\0", b"\x11\x5c\0\0", entry()[:40]])
def test_a_damaged_table_holds_no_modules_and_does_no_harm(tree, data):
    table(tree, data)
    memory, notes = read(tree)
    assert (memory.modules, memory.channels) == ((), None)
    why = {each.what: each.why for each in notes.missing}
    assert why["memory.channels"] == why["memory.modules"]  # one gap has one reason


def test_udevs_copy_is_open_to_all_and_comes_first(tree):
    table(tree, entry())
    udev(
        tree,
        **{"0_SIZE": "17179869184", "0_TYPE": "DDR4", "0_LOCATOR": "DIMM_A1"},
        **{"0_SPEED_MTS": "3200", "0_CONFIGURED_SPEED_MTS": "2933", "0_DATA_WIDTH": "64"},
        **{"1_PRESENT": "0", "1_TYPE": "Unknown", "2_TYPE": "<OUT OF SPEC>", "2_SIZE": "1024"},
        **{"3_TYPE": "Flash", "3_SIZE": "1024", "0_SERIAL_NUMBER": "4711"},
    )
    memory, notes = read(tree)
    assert [(m.kind, m.size_bytes, m.transfers_per_s) for m in memory.modules] == [
        ("DDR4", 16 * GIB, 2.933e9),
        (None, 0, None),
        (None, 1024, None),
    ]
    assert notes.sources["memory.modules"] == "/run/udev/data/+dmi:id"
    assert "memory.modules[*].kind" in missing(notes)


def test_the_watch_for_errors_knows_modules_where_the_firmware_is_closed(tree):
    watched(tree, (0, "channel 0 slot 0"), (0, "channel 1 slot 0"), (1, "channel 0 slot 0"))
    memory, notes = read(tree)
    assert memory.modules[0] == MemoryModule(slot="label0", kind="DDR5", size_bytes=16 * GIB)
    assert (memory.channels, memory.peak_bytes_per_s) == (3, None)
    assert "memory.peak_bytes_per_s" in missing(notes)


def test_ranks_of_one_channel_are_one_channel(tree):
    table(tree, entry(b"A1", b""), entry(b"B1", b""))
    places = ("csrow 0 channel 0", "csrow 1 channel 0", "csrow 0 channel 1", "csrow 1 channel 1")
    watched(tree, *((0, place) for place in places), name="rank")
    memory, _ = read(tree)
    assert memory.channels == 2
    assert memory.peak_bytes_per_s == 2 * 4.8e9 * 8


def test_the_halves_of_ddr5_channels_on_intels_desktops_are_not_counted(tree):
    table(tree, entry(b"A1", b"BANK 0"), entry(b"B1", b"BANK 1"))
    places = [(mc, f"channel {channel} slot 0") for mc in (0, 1) for channel in (0, 1)]
    watched(tree, *places, controller="Intel_client_SoC")
    assert read(tree)[0].channels is None
    table(tree, entry(b"A1", kind=DDR4), entry(b"B1", kind=DDR4))
    assert read(tree)[0].channels == 4


@pytest.mark.parametrize(
    ("slots", "channels"),
    [
        ([(b"DIMM 0", b"P0 CHANNEL A"), (b"DIMM 1", b"P0 CHANNEL A")], 1),
        ([(b"DIMM 0", b"P0 CHANNEL A"), (b"DIMM 0", b"P0 CHANNEL B")], 2),
        ([(b"ChannelA-DIMM0", b"BANK 0"), (b"ChannelB-DIMM0", b"BANK 2")], 2),
        ([(b"ChannelA-DIMM0", b"BANK 0"), (b"ChannelA-DIMM1", b"BANK 1")], 1),
        ([(b"P0_Node0_Channel0_Dimm0", b""), (b"P1_Node0_Channel0_Dimm0", b"")], 2),
        ([(b"Controller0-ChannelA", b""), (b"Controller1-ChannelA", b"")], 2),
        ([(b"Controller0-DIMMA1", b"BANK 0"), (b"Controller0-DIMMA2", b"BANK 0")], 1),
        ([(b"Controller0-DIMMA2", b"BANK 0"), (b"Controller1-DIMMB2", b"BANK 0")], 2),
        # What holds a controller's two modules is not said to be one channel, nor two.
        ([(b"Controller0-DIMM0", b"BANK 0"), (b"Controller0-DIMM1", b"BANK 1")], None),
        # The same name twice: two processors that nothing tells apart.
        ([(b"ChannelA-DIMM0", b"NODE 0"), (b"ChannelA-DIMM0", b"NODE 1")], None),
        # The letter is a channel with one maker and a processor with another.
        ([(b"A1", b""), (b"B1", b"")], None),
        ([(b"DIMM_A1", b"BANK 0"), (b"DIMM_B1", b"BANK 1")], None),
        ([(b"ChannelA-DIMM0", b""), (b"B1", b"")], None),
    ],
)
def test_channels_are_counted_only_where_the_slots_name_them(tree, slots, channels):
    table(tree, *(entry(slot, bank) for slot, bank in slots))
    memory, notes = read(tree)
    assert memory.channels == channels
    assert memory.peak_bytes_per_s == (channels * 4.8e9 * 8 if channels else None)
    assert ("memory.channels" in missing(notes)) is (channels is None)


def shown(tree, model, *slots, virtualization="none", packages=1):
    table(tree, *slots)
    notes = Notes()
    notes.virtualization = virtualization
    memory = read_memory(tree.root, notes, cpu=Cpu(model=model, packages=packages))
    return memory, notes.sources.get("memory.peak_bytes_per_s", "")


NO_MODULE = entry(b"DIMM 1", b"P0 CHANNEL B", size=0, rated=0, configured=0)
RYZEN, EPYC = "AMD Ryzen 9 9950X 16-Core Processor", "AMD EPYC 9354 32-Core Processor"


@pytest.mark.parametrize("model", [RYZEN, "AMD Ryzen 9 9950X"])
def test_the_peak_counts_the_channels_of_the_processor_also_where_one_is_empty(tree, model):
    memory, source = shown(tree, model, entry(), NO_MODULE)
    assert (memory.channels, memory.peak_bytes_per_s) == (1, 2 * 4.8e9 * 8)
    assert source.startswith("2 channels (1 with a module) × 4800e6 transfers/s")
    assert "AM5" in source


def test_two_modules_in_one_channel_leave_the_peak_of_two(tree):
    slots = [entry(b"DIMM 0"), entry(b"DIMM 1"), NO_MODULE, NO_MODULE]
    memory, _ = shown(tree, RYZEN, *slots)
    assert (memory.channels, memory.peak_bytes_per_s) == (1, 2 * 4.8e9 * 8)


def test_the_channels_of_the_processor_give_a_peak_where_no_slot_names_one(tree):
    memory, source = shown(tree, RYZEN, entry(b"A1", b"BANK 0"), entry(b"B1", b"BANK 1"))
    assert (memory.channels, memory.peak_bytes_per_s) == (None, 2 * 4.8e9 * 8)
    assert source.startswith("2 channels × ")


def test_each_processor_has_its_channels(tree):
    places = [f"P{socket}_Node0_Channel{n}_Dimm0" for socket in (0, 1) for n in range(12)]
    slots = [entry(f"DIMM {n}".encode(), place.encode()) for n, place in enumerate(places)]
    assert shown(tree, EPYC, *slots, packages=2)[0].peak_bytes_per_s == 24 * 4.8e9 * 8


def test_a_board_with_fewer_slots_leads_out_fewer_channels(tree):
    assert shown(tree, RYZEN, entry())[0].peak_bytes_per_s == 4.8e9 * 8


@pytest.mark.parametrize(
    ("model", "bits", "channels"),
    [
        ("Intel(R) Core(TM) Ultra 7 268V", 16, 8),
        ("Intel(R) Core(TM) Ultra 7 268V", 32, 4),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 32, 8),
    ],
)
def test_narrow_channels_of_soldered_memory_add_up_to_those_of_the_processor(
    tree, model, bits, channels
):
    names = [f"Controller0-Channel{chr(65 + n)}".encode() for n in range(channels)]
    slots = [entry(name, b"BANK 0", bits=bits, configured=8533) for name in names]
    memory, source = shown(tree, model, *slots)
    assert memory.peak_bytes_per_s == channels * 8.533e9 * bits / 8
    assert source.startswith(f"{channels} channels × ")


@pytest.mark.parametrize(
    ("model", "virtualization"), [(RYZEN, "kvm"), ("Somebody's Processor", "none"), (None, "none")]
)
def test_only_the_filled_channels_count_where_nobody_tells_those_of_the_processor(
    tree, model, virtualization
):
    memory, source = shown(tree, model, entry(), NO_MODULE, virtualization=virtualization)
    assert memory.peak_bytes_per_s == 4.8e9 * 8
    assert source.startswith("1 channel × ")


def test_no_serial_number_gets_into_the_machine(tree):
    table(tree, entry())
    assert "4711" not in str(inspect(tree.root))


def test_a_recorded_server_has_its_modules_from_the_firmware(recorded):
    memory = recorded("32em64t-2n8c+dax+nvme+mic+dimms").memory
    filled = [module for module in memory.modules if module.size_bytes]
    assert (len(memory.modules), len(filled)) == (24, 8)
    assert filled[0] == MemoryModule(
        slot="DIMM_A1", maker="00AD04B300AD", part_number="HMT351R7CFR8C-PB", kind="DDR3",
        size_bytes=4 * GIB, data_bits=64, transfers_per_s=1.6e9, rated_transfers_per_s=1.6e9,
    )  # fmt: skip
    assert memory.channels is None, "A is a processor here"
