"""Title and explanation of a part of the map, and how many there are of its kind."""

from __future__ import annotations

from experiments.core.words import Words
from machine.model import Machine
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.labels import Labels
from widgets.map.panel.facts import Facts

EXPLAINED = {
    Kind.PACKAGE: "map.about_package",
    Kind.DIE: "map.about_die",
    Kind.CORE_KIND: "map.about_core_kind",
    Kind.CORE: "map.about_core",
    Kind.THREAD: "map.about_thread",
    Kind.OFF: "map.about_off",
    Kind.MEMORY: "map.about_memory",
    Kind.NODE: "map.about_node",
    Kind.MODULE: "map.about_module",
    Kind.GPU: "map.about_gpu",
    Kind.LINK: "map.about_link",
    Kind.NVLINK: "map.about_nvlink",
    Kind.SWITCH: "map.about_switch",
    Kind.SLICE: "map.about_slice",
    Kind.DISK: "map.about_disk",
    Kind.NETWORK: "map.about_network",
    Kind.FOLD: "map.about_fold",
}
CACHES_EXPLAINED = {1: "map.about_l1", 2: "map.about_l2", 3: "map.about_l3"}
UNREAD_EXPLAINED = {
    "gpus": "map.about_gpu",
    "storage": "map.about_disk",
    "network": "map.about_network",
}


class About:
    """Explains the parts of one machine; their facts are in `facts`."""

    def __init__(self, machine: Machine, words: Words) -> None:
        self._machine, self._words = machine, words
        self.facts = Facts(machine, words)
        self._labels = Labels(words, machine)
        self._threads = {thread.id: thread for thread in machine.cpu.threads_list}

    def title(self, box: Box) -> str:
        """Return the full title of a box."""
        say = self._words.say
        match box.kind:
            case Kind.CORE:
                number = self._threads[box.threads[0]].core
                if number is None:
                    return say("map.core_of", {"thread": box.threads[0]})
                return say("map.core", {"number": number})
            case Kind.THREAD:
                return say("map.thread", {"number": box.threads[0]})
            case Kind.CACHE:
                level = self._machine.cpu.caches[box.members[0]].level
                return say("map.cache_titled", {"level": level or "?"})
            case Kind.LINK:
                return say("map.c2c" if box.path.endswith("c2c_bytes_per_s") else "map.pcie_link")
            case Kind.GPU:
                return self._labels.gpu_name(self._machine.gpus[box.members[0]])
            case Kind.NVLINK | Kind.MEMORY:
                return box.titles[-1]
            case Kind.SLICE:
                return say("map.slice", {"name": box.titles[0]})
        return box.titles[0]

    def sentences(self, box: Box) -> str:
        """Return two sentences that explain this kind of part."""
        key = EXPLAINED.get(box.kind, "")
        if box.kind is Kind.CACHE:
            level = self._machine.cpu.caches[box.members[0]].level or 0
            key = CACHES_EXPLAINED.get(level, "map.about_l3")
        elif box.kind is Kind.UNREAD:
            key = UNREAD_EXPLAINED[box.path]
        elif box.kind is Kind.LINK and box.path.endswith("c2c_bytes_per_s"):
            key = "map.about_c2c"
        return self._words.say(key)

    def lines(self, box: Box) -> list[str]:
        """Return the title of a box and all its known facts."""
        facts = (f"{fact.label}: {fact.value}" for fact in self.facts.of(box) if fact.value)
        return [self.title(box), *facts]

    def count_alike(self, box: Box) -> int:
        """Return the number of caches with the level and size of this one."""
        caches = self._machine.cpu.caches
        if box.kind is not Kind.CACHE:
            return 1
        first = caches[box.members[0]]
        alike = [c for c in caches if (c.level, c.size_bytes) == (first.level, first.size_bytes)]
        return sum(cache.kind != "instruction" for cache in alike)
