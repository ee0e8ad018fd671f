"""Facts that the table of parts holds on a machine's parts, each with its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from experiments.core.units import show, unit_of
from experiments.core.words import Words
from machine.devices import Disk
from machine.model import Machine, missing_of
from machine.parts import (
    KINDS,
    PartFacts,
    disk_facts,
    facts_of,
    gpu_facts,
    module_facts,
    own_troubles,
    processor_facts,
    shipped,
)
from machine.record import Record

FORMAT, VERSION = "coreopsis.part-facts", 1
_MEGA = "transfers_per_s"  # people say MT/s


class KnownPart(Record):
    """A part, and what the table knows of it. `places` are its slots, disks or GPUs.

    `unknown` names the facts that the table could hold for such a part, but lacks.
    """

    kind: str
    places: tuple[str, ...]
    name: str | None
    facts: dict[str, float]
    sources: dict[str, str]
    unknown: tuple[str, ...]


def known_parts(machine: Machine) -> list[KnownPart]:
    """Return processor, memory modules, GPUs and disks; parts of one name are one."""
    places: dict[tuple[str, str | None], list[str]] = {}
    for kind, place, name in _parts(machine):
        places.setdefault((kind, name), []).append(place)
    return [_known(kind, name, tuple(filter(None, at))) for (kind, name), at in places.items()]


def _parts(machine: Machine) -> Iterator[tuple[str, str, str | None]]:
    """Yield kind, place and name of each part."""
    yield "processor", "", machine.cpu.model
    for module in machine.memory.modules:
        if module.size_bytes != 0:
            yield "module", " ".join(filter(None, (module.slot, module.bank))), module.part_number
    for gpu in machine.gpus:
        yield "gpu", str(gpu.index), gpu.name
    for disk in machine.storage:
        if _is_made(disk):
            yield "disk", disk.name, disk.model


def _is_made(disk: Disk) -> bool:
    """Is it a disk that can be bought? A host invents others."""
    return disk.kind not in ("virtual", "persistent memory")


_LOOK_UP: dict[str, Callable[[str | None], PartFacts | None]] = {
    "processor": processor_facts,
    "module": module_facts,
    "gpu": gpu_facts,
    "disk": disk_facts,
}


def _known(kind: str, name: str | None, places: tuple[str, ...]) -> KnownPart:
    told = _LOOK_UP[kind](name)
    values = {fact: getattr(told, fact, None) for fact in facts_of(kind)}
    return KnownPart(
        kind=kind,
        places=places,
        name=name,
        facts={fact: value for fact, value in values.items() if value is not None},
        sources=dict(told.sources) if told else {},
        unknown=tuple(fact for fact, value in values.items() if value is None),
    )


def as_json(machine: Machine) -> dict[str, Any]:
    """Return the parts, the dates of the tables and what is wrong with the user's own lines."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tables": {kind: shipped(kind)["date"].isoformat() for kind in KINDS},
        "parts": msgspec.to_builtins(known_parts(machine)),
        "left_out": list(own_troubles()),
    }


def title(words: Words, part: KnownPart) -> str:
    """Return kind, places and name of a part on one line."""
    kind = words.say(f"part_facts.kinds.{part.kind}")
    name = part.name or words.say("part_facts.no_name")
    return " · ".join(filter(None, (kind, ", ".join(part.places), name)))


def fact_name(words: Words, fact: str) -> str:
    """Return what a fact is called."""
    return words.say(f"part_facts.facts.{fact}")


def fact_text(fact: str, value: float) -> str:
    """Return a fact as people read it."""
    return f"{value / 1e6:g} MT/s" if fact == _MEGA else show(value, unit_of(fact))


def not_known(words: Words, part: KnownPart) -> str:
    """Return what the table does not know of a part, "" if it knows all."""
    if not part.facts:
        key = "no_line" if part.name else "nothing_to_look_up"
        return words.say(f"part_facts.{key}")
    unknown = "; ".join(fact_name(words, fact) for fact in part.unknown)
    return words.say("part_facts.unknown", {"names": unknown}) if unknown else ""


def unread(words: Words, machine: Machine) -> Iterator[str]:
    """Yield a sentence for each kind of part that the system does not list."""
    for kind, path in (("module", "memory.modules"), ("gpu", "gpus"), ("disk", "storage")):
        missing = missing_of(machine, path)
        if missing is not None and all(part.kind != kind for part in known_parts(machine)):
            yield f"{words.say(f'part_facts.kinds.{kind}')}: {missing.why}"
