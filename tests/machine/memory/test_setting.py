"""Judges the speed and the places of modules by what they and the processor can do."""

from __future__ import annotations

import pytest

from machine.memory.setting import Speed, placing, setting
from machine.model import Cpu, Machine, Memory, MemoryModule
from tests.cases import in_one

GIB = 2**30
RYZEN, XEON = "AMD Ryzen 7 7700X 8-Core Processor", "Intel(R) Xeon(R) Platinum 8480+"
XMP, PLAIN = "KF560C36-16", "CT16G48C40U5.M8A1"  # of 6000 MT/s, and of 4800


def machine(*modules: MemoryModule, model: str | None = RYZEN, packages: int = 1, **more):
    memory = Memory(modules=modules, channels=more.pop("channels", None))
    return Machine(memory=memory, cpu=Cpu(model=model, packages=packages), **more)


def module(set_mega: float, plate_mega: float | None, part: str | None = None, **more):
    return MemoryModule(
        size_bytes=16 * GIB,
        transfers_per_s=set_mega * 1e6 or None,
        rated_transfers_per_s=plate_mega * 1e6 if plate_mega else None,
        part_number=part,
        **more,
    )


@in_one(
    ("modules", "speed", "rated_mega"),
    [
        ([module(6000, 4800, XMP)] * 2, Speed.AS_RATED, 6000),
        ([module(4800, 4800, PLAIN)] * 2, Speed.AS_RATED, 4800),
        ([module(4800, 4800, XMP)] * 2, Speed.PROFILE_OFF, 6000),
        ([module(4800, 4800, XMP), module(4800, 4800, PLAIN)], Speed.MIXED, 6000),
        ([module(4800, 4800)] * 2, Speed.UNTOLD, 4800),
        # 5200 MT/s are what AMD promises of this processor.
        ([module(4800, 5600)] * 2, Speed.SLOWED, 5600),
        ([module(5200, 5600)] * 2, Speed.AS_PROCESSOR, 5600),
        ([module(5600, 5600)] * 2, Speed.AS_RATED, 5600),
        # Also where the firmware tells the profile as the plate: no standard has 6000.
        ([module(5200, 6000, XMP, kind="DDR5")] * 2, Speed.PROFILE_OFF, 6000),
        # 2133 and 2134 MT/s are the same.
        ([module(5999, 4800, XMP)] * 2, Speed.AS_RATED, 6000),
    ],
)
def test_a_speed_is_held_against_plate_part_number_and_processor(modules, speed, rated_mega):
    found = setting(machine(*modules))
    assert (found.speed, found.rated_transfers_per_s) == (speed, rated_mega * 1e6)


def test_a_processor_that_nobody_knows_may_allow_no_more():
    found = setting(machine(*[module(2400, 3200)] * 2, model="Somebody's"))
    assert found.speed is Speed.UNPROMISED
    assert not found.is_short


def test_memory_without_profiles_does_what_its_plate_says():
    assert setting(machine(module(4800, 4800), model=XEON)).speed is Speed.AS_RATED
    soldered = module(6400, 6400, kind="LPDDR5")
    assert setting(machine(soldered)).speed is Speed.AS_RATED


@pytest.mark.parametrize("modules", [[], [module(0, 4800)], [module(4800, None)]])
def test_where_a_speed_is_missing_nothing_is_said(modules):
    assert setting(machine(*modules)) is None


def slots(*filled: bool, names: str = ""):
    named = [f"P0 CHANNEL {letter}" for letter in names] if names else [None] * len(filled)
    return [
        MemoryModule(slot=name, size_bytes=16 * GIB * is_filled, data_bits=64)
        for name, is_filled in zip(named, filled, strict=True)
    ]


@in_one(
    ("modules", "more", "expected"),
    [
        (slots(True, False), {"channels": 1}, (2, 1)),
        (slots(True, True, False, False), {"channels": 1}, (2, 1)),
        (slots(True, True), {"channels": 2}, (2, 2)),
        (slots(True, False), {}, (2, 1)),  # one module fills one channel, whatever its slot says
        (slots(True, True, False, False), {}, (2, None)),
        (slots(*[True] * 16), {"channels": 16, "model": XEON, "packages": 2}, (16, 16)),
        # The board leads out one of them.
        (slots(True), {"channels": 1}, (1, 1)),
        (slots(True, False, names="AB"), {"channels": 1, "model": None}, (2, 1)),
    ],
)
def test_channels_are_those_of_processor_and_board(modules, more, expected):
    found = placing(machine(*modules, **more))
    assert (found.channels, found.filled) == expected


def test_nobody_knows_the_channels_of_a_host_or_of_an_unknown_processor():
    assert placing(machine(*slots(True, True), virtualization="kvm")) is None
    assert placing(machine(*slots(True, True), model=None)) is None
    assert placing(machine()) is None
