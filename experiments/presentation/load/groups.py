"""Order of the hardware threads: by package, die, kind and core."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from machine.model import Machine, Thread
from machine.record import Record


class Group(Record):
    """Neighbouring threads; an attribute that is the same in the whole machine is None."""

    threads: tuple[int, ...]
    package: int | None = None
    die: int | None = None
    kind: str | None = None


def group_threads(machine: Machine | None, ids: Iterable[int]) -> tuple[Group, ...]:
    """Return the threads `ids` in the order of the topology, those of a core together."""
    known = {} if machine is None else {t.id: t for t in machine.cpu.threads_list}
    threads = sorted((known.get(number, Thread(id=number)) for number in ids), key=_place)
    varies = {
        name: len({getattr(thread, name) for thread in threads}) > 1
        for name in ("package", "die", "kind")
    }
    return tuple(
        Group(
            threads=tuple(thread.id for thread in together),
            package=package if varies["package"] else None,
            die=die if varies["die"] else None,
            kind=kind if varies["kind"] else None,
        )
        for (package, die, kind), together in groupby(
            threads, key=lambda thread: (thread.package, thread.die, thread.kind)
        )
    )


_KINDS = {"performance": 0, "efficiency": 1, "low-power": 2}


def _place(thread: Thread) -> tuple[int, ...]:
    unknown = 1 << 30
    package, die, core = (
        unknown if value is None else value for value in (thread.package, thread.die, thread.core)
    )
    return package, die, _KINDS.get(thread.kind or "", 3), core, thread.id
