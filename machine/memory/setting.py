"""Compares the memory modules' speed and places with what they and the processor can do.

A module's plate (`rated_transfers_per_s`) gives the speed of the standard. It says nothing of a
profile such as XMP or EXPO, which stays off until the user switches it on. The part number shows
the speed of the profile (machine/parts.py). A module with an unknown part number that runs at its
plate's speed may have a profile that is off. Soldered modules and those of servers have no profile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from machine.memory.modules import named_channels
from machine.model import Machine, MemoryModule, is_virtual
from machine.parts import module_facts, processor_facts
from machine.peaks import channels_of
from machine.record import Record

SERVER_CHANNELS = 6  # of one processor: then its modules are registered ones, without a profile
# Of modules without registers and clock drivers. Source: JEDEC JESD79-3F, JESD79-4 and JESD79-5C.
_FASTEST_GRADES = {"DDR3": 2133e6, "DDR4": 3200e6, "DDR5": 5600e6}
_NEARLY = 0.99  # makers round: 2133 and 2134 MT/s are the same speed


class Speed(StrEnum):
    """The speed of all modules, beside what they could do."""

    AS_RATED = "as_rated"
    AS_PROCESSOR = (
        "as_processor"  # below their plate, and as fast as the processor's maker promises
    )
    UNTOLD = "untold"  # as their plate says; nobody knows whether they have a profile
    UNPROMISED = "unpromised"  # below their plate; nobody knows what the processor allows
    SLOWED = "slowed"  # below their plate
    PROFILE_OFF = "profile_off"  # below what they are sold as
    MIXED = "mixed"  # some could do more, and wait for the others


UNSURE = (Speed.UNTOLD, Speed.UNPROMISED)
SHORT = (Speed.SLOWED, Speed.PROFILE_OFF, Speed.MIXED)


class Setting(Record):
    """The speed of all modules: as it is set, and what the best of them could do, per second."""

    speed: Speed
    modules: int
    set_transfers_per_s: float
    rated_transfers_per_s: float

    @property
    def is_short(self) -> bool:
        """Could they do more?"""
        return self.speed in SHORT


class Placing(Record):
    """Counts of channels: `filled` with a module, None where the slots do not show it, and all."""

    modules: int
    channels: int
    filled: int | None


def setting(machine: Machine) -> Setting | None:
    """Return how fast the modules are set, None where that is unknown."""
    modules = _filled(machine)
    speeds = [module.transfers_per_s for module in modules if module.transfers_per_s]
    if not speeds or len(speeds) < len(modules):
        return None
    plates = [module.rated_transfers_per_s or 0.0 for module in modules]
    sold = [_sold(module) for module in modules]
    best = [max(pair) for pair in zip(plates, sold, strict=True)]
    if not all(best):
        return None
    now, all_can, plate = min(speeds), min(best), min(plates)
    facts = processor_facts(machine.cpu.model)
    promised = (facts.transfers_per_s if facts else None) or 0.0
    is_plain = _are_without_profile(modules, machine)
    speed = Speed.AS_RATED
    if now < _NEARLY * all_can:
        has_profile = now >= _NEARLY * plate or any(map(_is_above_standard, modules, sold))
        if has_profile and not is_plain:
            speed = Speed.PROFILE_OFF
        elif not promised:
            speed = Speed.UNPROMISED
        else:
            speed = Speed.AS_PROCESSOR if promised <= now else Speed.SLOWED
    elif all_can < _NEARLY * max(best):
        speed = Speed.MIXED
    elif not all(sold) and not is_plain:
        is_on = now * _NEARLY > plate or 0 < promised < _NEARLY * now
        speed = Speed.AS_RATED if is_on else Speed.UNTOLD
    return Setting(
        speed=speed,
        modules=len(modules),
        set_transfers_per_s=now,
        rated_transfers_per_s=max(best) if speed is Speed.MIXED else all_can,
    )


def placing(machine: Machine) -> Placing | None:
    """Return how the modules are spread over the channels; None where that is unknown.

    The channels are those of the processors, of which a board with fewer slots leads out fewer; of
    an unknown processor those that the slots name.
    """
    modules, memory = _filled(machine), machine.memory
    if not modules or is_virtual(machine):
        return None
    has, _ = channels_of(machine.cpu, memory.modules)
    channels = has or named_channels(memory.modules)
    if not channels:
        return None
    filled = memory.channels
    if filled is None and len(modules) < channels:
        filled = len(modules)  # at most
    return Placing(modules=len(modules), channels=channels, filled=filled)


def is_soldered(machine: Machine) -> bool:
    """Is the memory of a kind that only comes soldered?"""
    kinds = {module.kind or "" for module in _filled(machine)}
    return bool(kinds) and all(kind.startswith(("LPDDR", "HBM")) for kind in kinds)


def _filled(machine: Machine) -> Sequence[MemoryModule]:
    return [module for module in machine.memory.modules if module.size_bytes]


def _sold(module: MemoryModule) -> float:
    """Return the speed that its part number stands for, 0 if unknown."""
    facts = module_facts(module.part_number)
    return (facts.transfers_per_s if facts else None) or 0.0


def _is_above_standard(module: MemoryModule, sold: float) -> bool:
    """Is a module sold for more than the standard's fastest grade, which takes a profile?"""
    return sold > _FASTEST_GRADES.get(module.kind or "", math.inf)


def _are_without_profile(modules: Sequence[MemoryModule], machine: Machine) -> bool:
    facts = processor_facts(machine.cpu.model)
    is_server = bool(facts and facts.channels and facts.channels >= SERVER_CHANNELS)
    return is_server or is_soldered(machine)
