"""Titles on the boxes of the map, the longest first; the first that fits is shown."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from experiments.core.units import show
from experiments.core.words import Words
from machine.model import Machine, MemoryModule, NumaNode, Thread, is_hidden
from machine.system.linux import format_list
from widgets.map.layout.boxes import Kind
from widgets.map.layout.device_labels import DeviceLabels, Titles
from widgets.map.layout.tree import Core, Node

CORE_KINDS = {
    "performance": ("map.performance_cores", "map.p_cores"),
    "efficiency": ("map.efficiency_cores", "map.e_cores"),
    "low-power": ("map.low_power_cores", "map.lp_cores"),
}


def ranges(threads: Iterable[int]) -> str:
    """Return threads as ranges: 0–3, 8."""
    return format_list(threads).replace("-", "–").replace(",", ", ")


class Labels(DeviceLabels):
    """The words on the boxes of one machine."""

    def __init__(self, words: Words, machine: Machine) -> None:
        super().__init__(words, machine)
        self.of = functools.cache(self._of)  # asked for in every style
        self._cache = functools.cache(self._sized)  # many are alike

    def _of(self, node: Node) -> Titles:
        """Return the titles of cores or groups of them, none where nothing frames them."""
        match node.kind:
            case Kind.PACKAGE:
                return self.package(node)
            case Kind.DIE:
                return self.die(node)
            case Kind.CORE_KIND:
                return self.core_kind(node)
        if node.cache is None:
            return ()
        return self.cache(self.machine.cpu.caches[node.cache].level or 0, (node.cache,))

    def count_cores(self, cores: Sequence[Core]) -> str:
        """Return "16 cores, 32 threads"; only the threads if the cores are unknown."""
        threads = self.count_threads(sum(len(core.threads) for core in cores))
        if any(core.number is None for core in cores):
            return threads
        counted = self.words.say("map.cores", {"count": len(cores)})
        return self.words.say("map.cores_and_threads", {"cores": counted, "threads": threads})

    def count_threads(self, count: int) -> str:
        """Return "2 threads"."""
        return self.words.say("map.threads", {"count": count})

    def package(self, node: Node) -> Titles:
        """Return the titles of a package."""
        name = self.package_name(node.number)
        counts = {"name": name, "cores": self.count_cores(node.cores)}
        return (self.words.say("map.package_titled", counts), name)

    def package_name(self, number: int | None) -> str:
        """Return "Package 0", or "Processor" where the system does not list packages."""
        if number is None:
            return self.words.say("map.processor")
        return self.words.say("map.package", {"number": number})

    def unknown_processor(self) -> tuple[Titles, tuple[str, ...]]:
        """Return titles and lines of a processor whose threads are unknown."""
        cpu = self.machine.cpu
        lines = [self.words.say("map.cores_unknown")]
        if cpu.threads is not None:
            lines.insert(0, self.count_threads(cpu.threads))
        return (self.words.say("map.processor"),), tuple(lines)

    def die(self, node: Node) -> Titles:
        """Return the titles of a die."""
        if node.number is None:
            return (self.words.say("map.die_unknown"),)
        return (self.words.say("map.die", {"number": node.number}), str(node.number))

    def core_kind(self, node: Node) -> Titles:
        """Return the titles of the cores of one kind."""
        keys = CORE_KINDS.get(node.core_kind or "", ("map.other_cores",))
        return tuple(self.words.say(key, {"count": len(node.cores)}) for key in keys)

    def cache(self, level: int, places: Sequence[int]) -> Titles:
        """Return the titles of one cache; its size is that of the first cache in `places`."""
        return self._cache(level, self.machine.cpu.caches[places[0]].size_bytes)

    def _sized(self, level: int, size_bytes: int | None) -> Titles:
        name = self.words.say("map.cache_level", {"level": level})
        if size_bytes is None:
            return self.words.say("map.cache_unsized", {"name": name}), name
        return self.words.say("map.cache_sized", {"name": name, "size_bytes": size_bytes}), name

    def private_caches(self, level: int, places: Sequence[int]) -> Titles:
        """Return the titles of the private caches of one level."""
        caches = self.machine.cpu.caches
        sizes = sorted({size for place in places if (size := caches[place].size_bytes)})
        name = self.words.say("map.cache_level", {"level": level})
        if not sizes:
            return self.words.say("map.cache_unsized", {"name": name}), name
        either = self.words.say("map.or").join(show(size, "bytes") for size in sizes)
        values = {"name": name, "sizes": either}
        return (
            self.words.say("map.cache_each", values),
            self.words.say("map.cache_sizes", values),
            name,
        )

    def off(self, threads: Sequence[Thread]) -> Titles:
        """Return the titles of threads that are switched off."""
        ids = ranges(thread.id for thread in threads)
        return self.words.say("map.off_titled", {"threads": ids}), self.words.say("map.off")

    def memory(self) -> tuple[Titles, tuple[str, ...]]:
        """Return titles of the memory with its channels, and lines for unknown facts."""
        say, memory = self.words.say, self.machine.memory
        name = say("map.memory")
        if memory.total_bytes is None:
            titles: Titles = (say("map.memory_unsized"), name)
        else:
            titles = (say("map.memory_sized", {"total_bytes": memory.total_bytes}), name)
        if memory.channels:
            channels = say("map.channels", {"count": memory.channels})
            return (f"{titles[0]} · {channels}", *titles), ()
        if memory.modules:
            return titles, (say("map.channels_unknown"),)
        is_told = is_hidden(self.machine, "memory.modules")
        return titles, (say("map.modules_hidden" if is_told else "map.modules_unknown"),)

    def node(self, node: NumaNode) -> Titles:
        """Return the titles of a NUMA node."""
        name = self.words.say("map.node", {"number": node.id})
        size = "" if node.memory_bytes is None else show(node.memory_bytes, "bytes")
        if node.threads:
            served = self.words.say("map.of_threads", {"threads": ranges(node.threads)})
        else:
            served = self.words.say("map.no_threads")
        full, sized = (" · ".join(filter(None, t)) for t in ((name, size, served), (name, size)))
        return full, sized, name, str(node.id)

    def module(self, module: MemoryModule, count: int = 1) -> Titles:
        """Return the titles of one memory module, or of several alike."""
        say = self.words.say
        if module.size_bytes == 0:
            return say("map.empty_slots", {"count": count}), say("map.empty")
        size = show(module.size_bytes, "bytes") if module.size_bytes else ""
        if size and count > 1:
            size = say("map.times", {"count": count, "what": size})
        kind = module.kind
        if kind and module.transfers_per_s and "-" not in kind:
            kind = f"{kind}-{module.transfers_per_s / 1e6:.0f}"  # as printed on the module
        texts = [text for text in (kind, size) if text]
        return (" · ".join(texts), size) if size else (kind or module.slot or "?",)

    def fold(self, key: str, count: int) -> Titles:
        """Return the titles of the box for folded parts; `key` names their kind. 0 folds again."""
        if not count:
            return self.words.say("map.fewer"), "–"
        if count == 1:
            return (self.words.say("map.one_more"),)
        return self.words.say(key, {"count": count}), self.words.say("map.more", {"count": count})
