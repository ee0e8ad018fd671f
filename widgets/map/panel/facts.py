"""Facts about the parts of the map, each with its source or why it is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.core.units import show
from experiments.core.words import Words
from machine.memory.nodes import DOUBTED, EMPTY, host_nodes
from machine.model import Machine, Thread, is_virtual, missing_of, remarks, source_of
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.labels import ranges
from widgets.map.panel.device_facts import DeviceFacts
from widgets.map.panel.fact import Fact, shown


class Facts(DeviceFacts):
    """Yields the facts of one machine."""

    def __init__(self, machine: Machine, words: Words) -> None:
        super().__init__(machine, words)
        self._threads = {thread.id: thread for thread in machine.cpu.threads_list}

    def of(self, box: Box) -> list[Fact]:
        """Return known and unknown facts about the box."""
        match box.kind:
            case Kind.PACKAGE | Kind.DIE | Kind.CORE_KIND:
                return list(self._of_cores(box))
            case Kind.CORE | Kind.THREAD | Kind.OFF:
                return list(self._of_threads(box))
            case Kind.CACHE:
                return list(self._of_cache(box))
            case Kind.MEMORY:
                return list(self._of_memory())
            case Kind.NODE:
                return list(self._of_node(box.members[0]))
            case Kind.MODULE:
                return list(self._of_module(box))
            case Kind.UNREAD:
                return [self._nothing(box)]
        return list(self.of_device(box))

    def _nothing(self, box: Box) -> Fact:
        """Return why a kind of part is missing, or that none was found."""
        none = self._words.say("map.none")
        is_known = missing_of(self._machine, box.path) is None
        return self._fact("map.fact_found", box.path, none if is_known else None)

    def of_machine(self) -> list[Fact]:
        """Return the facts about the machine as a whole."""
        machine = self._machine
        cpu, os = machine.cpu, machine.os
        return [
            self._fact("map.fact_model", "cpu.model", cpu.model),
            self._fact("map.fact_cores", "cpu.cores", cpu.cores),
            self._fact("map.fact_threads", "cpu.threads", cpu.threads),
            self._fact("map.fact_usable", "cpu.usable_threads", cpu.usable_threads),
            self._fact("map.fact_clock", "cpu.clock.max_hz", shown(cpu.clock.max_hz, "hz")),
            self._memory_size(),
            *self._memory_limit(),
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
        cpu = self._machine.cpu
        threads = [self._threads[number] for number in box.threads if number in self._threads]
        if box.kind is Kind.PACKAGE:
            yield self._fact("map.fact_model", "cpu.model", cpu.model)
        if threads:
            cores = {thread.core for thread in threads}
            known = None if None in cores else len(cores)
            yield self._fact("map.fact_cores", "cpu.threads_list[*].core", known)
            yield self._fact("map.fact_thread_numbers", "cpu.threads_list", ranges(box.threads))
            yield self._usable(threads)
            yield self._near(threads)
        else:
            yield self._fact("map.fact_threads", "cpu.threads", cpu.threads)
        if box.kind is Kind.PACKAGE:
            hz = shown(cpu.clock.max_hz, "hz")
            yield self._fact("map.fact_clock", "cpu.clock.max_hz", hz)
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
            kinds = {
                "performance": "map.performance",
                "efficiency": "map.efficiency",
                "low-power": "map.low_power",
            }
            kind = self._words.say(kinds[first.kind])
            yield self._fact("map.fact_kind", "cpu.threads_list[*].kind", kind)

    def _of_cache(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        cache, path = self._machine.cpu.caches[place], f"cpu.caches[{place}]"
        is_data = cache.kind == "data"
        yield self._cache_size("map.fact_data" if is_data else "map.fact_size", box.members)
        if is_data and (beside := self._instruction_caches(cache.level, box.threads)):
            yield self._cache_size("map.fact_instructions", beside)
        if len(box.members) > 1:
            each = self._words.say("map.each_core")
            yield self._fact("map.fact_shared", f"{path}.threads", each)
        else:
            served = self._threads_named(cache.threads)
            yield self._fact("map.fact_shared", f"{path}.threads", served)
        yield self._fact("map.fact_ways", f"{path}.ways", cache.ways)
        yield self._fact("map.fact_line", f"{path}.line_bytes", shown(cache.line_bytes, "bytes"))

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
        memory = self._machine.memory
        yield self._memory_size()
        yield from self._memory_limit()
        modules = len(memory.modules) or None
        yield self._fact("map.fact_modules", "memory.modules", modules)
        yield self._fact("map.fact_channels", "memory.channels", memory.channels)
        peak = shown(memory.peak_bytes_per_s, "bytes/s")
        yield self._fact("map.fact_peak", "memory.peak_bytes_per_s", peak)
        yield self._fact("map.fact_nodes", "numa", len(host_nodes(self._machine.numa)) or None)
        yield from self._remark()
        yield from self.of_pages()

    def _remark(self) -> Iterator[Fact]:
        """Yield what contradicts the nodes, or what they lack."""
        for remark in remarks(self._machine):
            if remark.what in (DOUBTED, EMPTY):
                yield Fact(label=self._words.say("map.fact_look"), value=remark.why)

    def _of_node(self, place: int) -> Iterator[Fact]:
        node, path = self._machine.numa[place], f"numa[{place}]"
        size = shown(node.memory_bytes, "bytes")
        yield self._fact("map.fact_size", f"{path}.memory_bytes", size)
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
        module, path = modules[place], f"memory.modules[{place}]"
        slots = ", ".join(slot for n in box.members if (slot := modules[n].slot))
        yield self._fact("map.fact_slot", f"{path}.slot", slots or None)
        yield self._fact("map.fact_kind", f"{path}.kind", module.kind)
        yield self._fact("map.fact_size", f"{path}.size_bytes", shown(module.size_bytes, "bytes"))
        rate = shown(module.transfers_per_s, "per_s")
        yield self._fact("map.fact_transfers", f"{path}.transfers_per_s", rate)
        rated = shown(module.rated_transfers_per_s, "per_s")
        yield from self._told("map.fact_rated", f"{path}.rated_transfers_per_s", rated)

    def _threads_named(self, threads: Sequence[int]) -> str | None:
        """Return "thread 0" or "threads 0–3"."""
        if len(threads) == 1:
            return self._words.say("map.of_one_thread", {"thread": threads[0]})
        return self._words.say("map.of_threads", {"threads": ranges(threads)}) if threads else None

    # --- facts ---------------------------------------------------------------------------------

    def _memory_size(self) -> Fact:
        total = shown(self._machine.memory.total_bytes, "bytes")
        return self._fact("map.fact_memory", "memory.total_bytes", total)

    def _memory_limit(self) -> Iterator[Fact]:
        """Yield how much of the memory the control groups leave, if they limit it."""
        if limit := self._machine.memory.limit_bytes:
            yield self._fact("map.fact_memory_limit", "memory.limit_bytes", show(limit, "bytes"))

    def _usable(self, threads: list[Thread]) -> Fact:
        usable = [thread.id for thread in threads if thread.usable]
        say, path = self._words.say, "cpu.threads_list[*].usable"
        if all(thread.online is False for thread in threads):
            return self._fact("map.fact_usable", path, say("map.off"))
        if any(thread.usable is None for thread in threads):
            return self._fact("map.fact_usable", path, None)
        if len(usable) == len(threads):
            key = "map.one_usable" if len(threads) == 1 else "map.all_usable"
            return self._fact("map.fact_usable", path, say(key))
        return self._fact("map.fact_usable", path, ranges(usable) or say("map.none_usable"))

    def _near(self, threads: list[Thread]) -> Fact:
        nodes = sorted({thread.numa_node for thread in threads if thread.numa_node is not None})
        text = ", ".join(map(str, nodes)) or None
        return self._fact("map.fact_near", "cpu.threads_list[*].numa_node", text)
