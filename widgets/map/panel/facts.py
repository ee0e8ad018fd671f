"""Facts about the parts of the map, each with its source or why it is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from experiments.core.units import show
from experiments.core.words import Words
from machine.memory.nodes import DOUBTED, EMPTY, host_nodes
from machine.model import Machine, Thread, is_virtual, missing_of, remarks, source_of
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.labels import ranges
from widgets.map.panel.device_facts import DeviceFacts
from widgets.map.panel.fact import Fact

KINDS = {
    "performance": "map.performance",
    "efficiency": "map.efficiency",
    "low-power": "map.low_power",
}


class Facts(DeviceFacts):
    """Yields the facts of one machine."""

    def __init__(self, machine: Machine, words: Words) -> None:
        super().__init__(machine, words)
        self._threads = {thread.id: thread for thread in machine.cpu.threads_list}
        self._makers: dict[Kind, Callable[[Box], Iterator[Fact]]] = {
            **dict.fromkeys((Kind.PACKAGE, Kind.DIE, Kind.CORE_KIND), self._of_cores),
            **dict.fromkeys((Kind.CORE, Kind.OPEN_CORE, Kind.THREAD, Kind.OFF), self._of_threads),
            Kind.CACHE: self._of_cache,
            Kind.MEMORY: lambda _: self._of_memory(),
            Kind.NODE: self._of_node,
            Kind.MODULE: self._of_module,
            Kind.GPU: self._of_gpu,
            Kind.SLICE: self._of_slice,
            **dict.fromkeys((Kind.LINK, Kind.SWITCH), self._of_link),
            Kind.NVLINK: lambda _: self._of_nvlink(),
            Kind.DISK: self._of_disk,
            Kind.NETWORK: self._of_network,
            Kind.UNREAD: self._nothing,
        }

    def of(self, box: Box) -> list[Fact]:
        """Return known and unknown facts about the box."""
        return list(self._makers[box.kind](box)) if box.kind in self._makers else []

    def _nothing(self, box: Box) -> Iterator[Fact]:
        """Yield why a kind of part is missing, or that none was found."""
        none = self._words.say("map.none")
        is_known = missing_of(self._machine, box.path) is None
        yield self._fact("map.fact_found", box.path, none if is_known else None)

    def of_machine(self) -> list[Fact]:
        """Return the facts about the machine as a whole."""
        os = self._machine.os
        return [
            self._fact("map.fact_model", "cpu.model"),
            self._fact("map.fact_cores", "cpu.cores"),
            self._fact("map.fact_threads", "cpu.threads"),
            self._fact("map.fact_usable", "cpu.usable_threads"),
            self._fact("map.fact_clock", "cpu.clock.max_hz"),
            *self._memory_size(),
            self._fact("map.fact_system", "os.distribution", os.distribution or os.kind),
            self._runs_on(),
        ]

    def _runs_on(self) -> Fact:
        """Return the container and the virtual machine that the program runs in, if any."""
        machine, say = self._machine, self._words.say
        outer = None
        if machine.virtualization is not None:
            kind = {"kind": machine.virtualization}
            outer = say("map.is_virtual", kind) if is_virtual(machine) else say("map.is_real")
        fact = self._fact("map.fact_virtual", "virtualization", outer)
        if machine.container in (None, "none"):
            return fact
        inner = say("map.is_container", {"kind": machine.container})
        both = say("map.has_inside", {"outer": outer, "inner": inner}) if outer else inner
        sources = filter(None, (fact.source, source_of(machine, "container")))
        return Fact(label=fact.label, value=both, source=", ".join(sources))

    # --- one kind of part after the other ------------------------------------------------------

    def _of_cores(self, box: Box) -> Iterator[Fact]:
        threads = [self._threads[number] for number in box.threads if number in self._threads]
        if box.kind is Kind.PACKAGE:
            yield self._fact("map.fact_model", "cpu.model")
        if threads:
            cores = {thread.core for thread in threads}
            known = None if None in cores else len(cores)
            yield self._fact("map.fact_cores", "cpu.threads_list[*].core", known)
            yield self._fact("map.fact_thread_numbers", "cpu.threads_list", ranges(box.threads))
            yield self._usable(threads)
            yield self._near(threads)
        else:
            yield self._fact("map.fact_threads", "cpu.threads")
        if box.kind is Kind.PACKAGE:
            yield self._fact("map.fact_clock", "cpu.clock.max_hz")
            yield from self.of_clock()

    def _of_threads(self, box: Box) -> Iterator[Fact]:
        threads = [self._threads[number] for number in box.threads]
        first = threads[0]
        if box.kind is Kind.THREAD:
            core = (
                None if first.core is None else self._words.say("map.core", {"number": first.core})
            )
            yield self._fact("map.fact_core", "cpu.threads_list[*].core", core)
        else:
            yield self._fact("map.fact_thread_numbers", "cpu.threads_list", ranges(box.threads))
        if box.kind is Kind.OFF:
            return
        yield self._usable(threads)
        if first.package is not None:
            name = self._labels.package_name(first.package)
            yield self._fact("map.fact_package", "cpu.threads_list[*].package", name)
        yield self._near(threads)
        if first.kind is not None:
            kind = self._words.say(KINDS[first.kind])
            yield self._fact("map.fact_kind", "cpu.threads_list[*].kind", kind)

    def _of_cache(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        cache, path = self._machine.cpu.caches[place], f"cpu.caches[{place}]"
        is_data = cache.kind == "data"
        yield self._cache_size("map.fact_data" if is_data else "map.fact_size", box.members)
        if is_data and (beside := self._instruction_caches(cache.level, box.threads)):
            yield self._cache_size("map.fact_instructions", beside)
        served = self._threads_named(cache.threads)
        if len(box.members) > 1:
            served = self._words.say("map.each_core")
        yield self._fact("map.fact_shared", f"{path}.threads", served)
        yield self._fact("map.fact_ways", f"{path}.ways")
        yield self._fact("map.fact_line", f"{path}.line_bytes")

    def _cache_size(self, label: str, places: Sequence[int]) -> Fact:
        sizes = sorted({self._machine.cpu.caches[p].size_bytes or 0 for p in places} - {0})
        size = self._words.say("map.or").join(show(s, "bytes") for s in sizes) or None
        return self._fact(label, f"cpu.caches[{places[0]}].size_bytes", size)

    def _instruction_caches(self, level: int | None, threads: Sequence[int]) -> list[int]:
        """Return the instruction caches of this level and these threads; they have no boxes."""
        return [
            place
            for place, cache in enumerate(self._machine.cpu.caches)
            if (cache.kind, cache.level) == ("instruction", level)
            and not set(threads).isdisjoint(cache.threads)
        ]

    def _of_memory(self) -> Iterator[Fact]:
        yield from self._memory_size()
        modules = len(self._machine.memory.modules) or None
        yield self._fact("map.fact_modules", "memory.modules", modules)
        yield self._fact("map.fact_channels", "memory.channels")
        yield self._fact("map.fact_peak", "memory.peak_bytes_per_s")
        yield self._fact("map.fact_nodes", "numa", len(host_nodes(self._machine.numa)) or None)
        yield from self._remark()
        yield from self.of_pages()

    def _remark(self) -> Iterator[Fact]:
        """Yield what contradicts the nodes, or what they lack."""
        for remark in remarks(self._machine):
            if remark.what in (DOUBTED, EMPTY):
                yield Fact(label=self._words.say("map.fact_look"), value=remark.why)

    def _of_node(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        node, path = self._machine.numa[place], f"numa[{place}]"
        yield self._fact("map.fact_size", f"{path}.memory_bytes")
        threads = ranges(node.threads) if node.threads else self._words.say("map.none")
        yield self._fact("map.fact_thread_numbers", f"{path}.threads", threads)
        distances = ", ".join(map(str, node.distances)) or None
        yield self._fact("map.fact_distances", f"{path}.distances", distances)
        if node.allowed is False:
            denied = self._words.say("map.not_allowed")
            yield self._fact("map.fact_usable", f"{path}.allowed", denied)
        for cache in node.side_caches:
            key = "map.direct_mapped" if cache.is_direct_mapped else "map.side_cache"
            size = show(cache.size_bytes, "bytes") if cache.size_bytes else "?"
            yield self._fact("map.fact_side_cache", path, self._words.say(key, {"size": size}))
        yield from self._remark()

    def _of_module(self, box: Box) -> Iterator[Fact]:
        modules, place = self._machine.memory.modules, box.members[0]
        path = f"memory.modules[{place}]"
        slots = ", ".join(slot for n in box.members if (slot := modules[n].slot))
        yield self._fact("map.fact_slot", f"{path}.slot", slots or None)
        yield self._fact("map.fact_kind", f"{path}.kind")
        yield self._fact("map.fact_size", f"{path}.size_bytes")
        yield self._fact("map.fact_transfers", f"{path}.transfers_per_s")
        yield from self._told("map.fact_rated", f"{path}.rated_transfers_per_s")

    def _threads_named(self, threads: Sequence[int]) -> str | None:
        """Return "thread 0" or "threads 0–3"."""
        if len(threads) == 1:
            return self._words.say("map.of_one_thread", {"thread": threads[0]})
        return self._words.say("map.of_threads", {"threads": ranges(threads)}) if threads else None

    # --- facts ---------------------------------------------------------------------------------

    def _memory_size(self) -> Iterator[Fact]:
        """Yield the size of the memory, and how much the control groups leave of it."""
        yield self._fact("map.fact_memory", "memory.total_bytes")
        if self._machine.memory.limit_bytes:
            yield self._fact("map.fact_memory_limit", "memory.limit_bytes")

    def _usable(self, threads: list[Thread]) -> Fact:
        usable = [thread.id for thread in threads if thread.usable]
        say = self._words.say
        told: str | None = ranges(usable) or say("map.none_usable")
        if all(thread.online is False for thread in threads):
            told = say("map.off")
        elif any(thread.usable is None for thread in threads):
            told = None
        elif len(usable) == len(threads):
            told = say("map.one_usable" if len(threads) == 1 else "map.all_usable")
        return self._fact("map.fact_usable", "cpu.threads_list[*].usable", told)

    def _near(self, threads: list[Thread]) -> Fact:
        nodes = sorted({thread.numa_node for thread in threads if thread.numa_node is not None})
        text = ", ".join(map(str, nodes)) or None
        return self._fact("map.fact_near", "cpu.threads_list[*].numa_node", text)
