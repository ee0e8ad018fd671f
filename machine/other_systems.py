"""The parts of a machine on Windows and macOS: each system is asked, then its answers are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from machine.facts import Notes, Reason
from machine.model import Cpu, Memory, OperatingSystem
from machine.record import names
from machine.system import basics

_UNREAD = Reason(
    "This version of Coreopsis reads it on Linux, Windows and macOS only.",
    "Look into the manual of this system.",
)


def parts(notes: Notes) -> Iterator[tuple[str, Any]]:
    """Yield the same parts of the running machine as on Linux."""
    known = basics.ask()
    if sys.platform == "win32":
        from machine.windows import answers, machine

        yield from machine.parts(answers.ask(), known, notes)
    elif sys.platform == "darwin":
        from machine.mac import answers as mac_answers
        from machine.mac import machine as mac

        yield from mac.parts(mac_answers.ask(), known, notes)
    else:
        yield from _unread(known, notes)


def _unread(known: basics.Basics, notes: Notes) -> Iterator[tuple[str, Any]]:
    notes.sources["os"] = "Python's platform module"
    notes.lack("os.distribution", _UNREAD)
    yield (
        "os",
        OperatingSystem(kind=sys.platform, release=known.release, architecture=known.architecture),
    )
    for name in ("system", "virtualization", "container", "numa", "pci", "storage", "network"):
        notes.lack(name, _UNREAD)
    for name in names(Cpu):
        notes.lack(f"cpu.{name}", _UNREAD)
    yield "cpu", Cpu()
    for name in names(Memory):
        if name != "total_bytes":
            notes.lack(f"memory.{name}", _UNREAD)
    total_bytes = known.memory_bytes
    yield (
        "memory",
        Memory(total_bytes=notes.found("memory.total_bytes", total_bytes, basics.MEMORY, _UNREAD)),
    )
