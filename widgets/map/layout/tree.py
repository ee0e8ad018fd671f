"""Tree of the processor: packages, dies, shared caches, cores and threads.

A cache that serves one core belongs to that core; one that serves more closes a group of cores.
Instruction caches are left out: data does not pass through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.presentation.grouped import grouped
from machine.model import Machine, Thread
from widgets.map.layout.boxes import Kind

MOST_GROUPS = 384  # LIMIT: more, as only a damaged machine has, would take seconds to lay out
Places = Mapping[int, Mapping[int, Sequence[int]]]  # thread to level to indices in cpu.caches


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Core:
    """A core, or without a number a thread of unknown core. `caches`: level to indices."""

    number: int | None
    threads: tuple[Thread, ...]
    caches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def ids(self) -> frozenset[int]:
        """The threads of this core."""
        return frozenset(thread.id for thread in self.threads)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """Cores or groups of them; `kind` if it has a frame, `cache` if they share one."""

    cores: tuple[Core, ...]
    children: tuple[Node, ...] = ()
    kind: Kind | None = None
    number: int | None = None
    core_kind: str | None = None
    cache: int | None = None

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads of all these cores."""
        return tuple(sorted(thread.id for core in self.cores for thread in core.threads))


def packages(machine: Machine) -> list[Node]:
    """Return the packages, each with its cores in groups."""
    places = _places(machine)
    grouping, cores = _Grouping(machine, places), _cores(machine, places)
    found = [
        grouping.package(number, members)
        for number, members in sorted(
            _parted(cores, lambda core: _first(core, "package")),
            key=lambda package: (package[0] is None, package[0] or 0),
        )
    ]
    if sum(map(_count, found)) > MOST_GROUPS:
        return [_framed(Kind.PACKAGE, None, Node(cores=tuple(cores)))]
    return found


def switched_off(machine: Machine) -> list[Thread]:
    """Return the threads that are switched off and whose core is unknown."""
    return [thread for thread in machine.cpu.threads_list if _is_nowhere(thread)]


def private_caches(nodes: Iterable[Node]) -> dict[int, tuple[int, ...]]:
    """Return the caches that serve one core each, by level."""
    cores = (core for node in nodes for core in node.cores)
    found = grouped((level, n) for core in cores for level, ns in core.caches.items() for n in ns)
    return {level: tuple(found[level]) for level in sorted(found)}


def _is_nowhere(thread: Thread) -> bool:
    return thread.online is False and thread.core is None


def _places(machine: Machine) -> Places:
    found: dict[int, dict[int, list[int]]] = {}
    for place, cache in enumerate(machine.cpu.caches):
        if cache.kind != "instruction" and cache.level:
            for thread in cache.threads:
                found.setdefault(thread, {}).setdefault(cache.level, []).append(place)
    return found


def _cores(machine: Machine, places: Places) -> list[Core]:
    groups = grouped(
        (("thread", thread.id) if thread.core is None else thread.core, thread)
        for thread in machine.cpu.threads_list
        if not _is_nowhere(thread)
    )
    return [
        Core(
            number=threads[0].core,
            threads=tuple(sorted(threads, key=lambda thread: thread.id)),
            caches=_private(machine, places, frozenset(thread.id for thread in threads)),
        )
        for threads in groups.values()
    ]


def _private(machine: Machine, places: Places, ids: frozenset[int]) -> dict[int, tuple[int, ...]]:
    found: dict[int, dict[int, None]] = {}
    for thread in ids:
        for level, here in places.get(thread, {}).items():
            for place in here:
                if ids.issuperset(machine.cpu.caches[place].threads):
                    found.setdefault(level, {})[place] = None
    return {level: tuple(sorted(found[level])) for level in sorted(found)}


class _Grouping:
    """Groups cores by the caches they share."""

    def __init__(self, machine: Machine, places: Places) -> None:
        self._machine, self._places = machine, places
        self._levels = sorted({level for here in places.values() for level in here}, reverse=True)

    def package(self, number: int | None, cores: Sequence[Core]) -> Node:
        dies = _parted(cores, lambda core: _first(core, "die"))
        if len(dies) < 2:
            return _framed(Kind.PACKAGE, number, self._grouped(cores, self._levels))
        inside = [
            _framed(Kind.DIE, die, self._grouped(members, self._levels)) for die, members in dies
        ]
        return _framed(Kind.PACKAGE, number, _joined(inside))

    def _grouped(self, cores: Sequence[Core], levels: Sequence[int]) -> Node:
        """Return the cores in groups that share a cache, the outermost level first."""
        kinds = _parted(cores, lambda core: _first(core, "kind"))
        if len(kinds) > 1 and not self._any_spans([members for _, members in kinds], levels):
            return _joined(
                [
                    _framed(Kind.CORE_KIND, None, self._grouped(members, levels), core_kind=kind)
                    for kind, members in kinds
                ]
            )
        if not levels:
            return Node(cores=tuple(cores))
        nodes = []
        for place, members in _parted(cores, lambda core: self._shared(core, levels[0])):
            inside = self._grouped(members, levels[1:])
            here = {_first(core, "kind") for core in members}
            if len(here) == 1 < len(kinds):
                inside = _framed(Kind.CORE_KIND, None, inside, core_kind=here.pop())
            if place is not None:
                inside = Node(cores=inside.cores, children=(inside,), cache=place)
            nodes.append(inside)
        return _joined(nodes)

    def _shared(self, core: Core, level: int) -> int | None:
        """Return the cache of this level that this core shares with others."""
        for thread in core.threads:
            for place in self._places.get(thread.id, {}).get(level, ()):
                if not core.ids.issuperset(self._machine.cpu.caches[place].threads):
                    return place
        return None

    def _any_spans(self, groups: Iterable[Sequence[Core]], levels: Sequence[int]) -> bool:
        """Return whether a cache of these levels serves cores of several groups."""
        seen: set[int | None] = set()
        for cores in groups:
            here = {self._shared(core, level) for core in cores for level in levels} - {None}
            if here & seen:
                return True
            seen |= here
        return False


def _count(node: Node) -> int:
    return 1 + sum(map(_count, node.children))


def _framed(kind: Kind, number: int | None, inside: Node, core_kind: str | None = None) -> Node:
    return Node(
        cores=inside.cores, children=(inside,), kind=kind, number=number, core_kind=core_kind
    )


def _joined(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    return Node(cores=tuple(c for node in nodes for c in node.cores), children=tuple(nodes))


def _first(core: Core, name: str) -> Any:
    values = (getattr(thread, name) for thread in core.threads)
    return next((value for value in values if value is not None), None)


def _parted(cores: Iterable[Core], key: Callable[[Core], Any]) -> list[tuple[Any, list[Core]]]:
    """Return the cores grouped by key, in the order of each group's first core."""
    return list(grouped((key(core), core) for core in cores).items())
