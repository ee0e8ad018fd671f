"""The memory of a machine whose system lists its modules, as Windows and macOS do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from machine import peaks
from machine.facts import Notes, Reason, lacking
from machine.memory.modules import told_channels
from machine.model import Cpu, Memory, MemoryModule
from machine.record import names
from machine.system import basics
from machine.system.basics import Basics


class Wording(NamedTuple):
    """A system's source of these facts, and its reasons for those that it lacks."""

    source: str
    no_total: Reason
    no_modules: Reason
    of_some: Reason  # what not every module says of itself
    no_channels: Reason
    no_peak: Reason
    no_swap: Reason
    never: Mapping[str, Reason]  # by the name of a field


def memory_of(
    modules: tuple[MemoryModule, ...],
    known: Basics,
    cpu: Cpu,
    notes: Notes,
    wording: Wording,
    total: tuple[int, str] | None = None,
) -> Memory:
    """Return the memory; `total` is its size in bytes and the source, else that of `known`."""
    filled = [module for module in modules if module.size_bytes]
    channels = told_channels(filled) if filled else None
    ceiling = peaks.dram(modules, channels, None if notes.is_virtual else cpu)
    fields = dict.fromkeys(names(MemoryModule), wording.of_some)
    notes.missing += lacking("memory.modules[*]", modules, fields)
    for name, reason in wording.never.items():
        notes.lack(f"memory.{name}", reason)
    size, source = total or (known.memory_bytes, basics.MEMORY)
    return Memory(
        total_bytes=notes.found("memory.total_bytes", size, source, wording.no_total),
        modules=notes.found("memory.modules", modules, wording.source, wording.no_modules),
        channels=notes.found(
            "memory.channels",
            channels,
            "the names of slots and banks",
            wording.no_channels if modules else wording.no_modules,
        ),
        peak_bytes_per_s=notes.found(
            "memory.peak_bytes_per_s",
            ceiling.value if ceiling else None,
            f"{ceiling.formula}; {ceiling.source}" if ceiling else "",
            wording.no_peak,
        ),
        **{
            name: notes.found(f"memory.{name}", getattr(known, name), basics.SWAP, wording.no_swap)
            for name in ("swap_total_bytes", "swap_used_bytes")
        },
    )
