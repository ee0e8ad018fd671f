"""Title and explanation of a part of the map, and how many there are of its kind."""

from __future__ import annotations

from experiments.core.words import Words
from machine.model import Machine
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.inside import CLOSE
from widgets.map.layout.labels import Labels
from widgets.map.panel.facts import Facts

CACHES = {1: "l1", 2: "l2"}  # any other level is explained as the last
UNREAD = {"gpus": "gpu", "storage": "disk", "network": "network"}


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
            case Kind.CORE | Kind.OPEN_CORE:
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
        what = str(box.part if box.kind is Kind.UNIT else box.kind)
        if box.id == CLOSE:
            return self._words.say("map.inside_hint")
        if box.kind is Kind.OPEN_CORE:
            what = "core"
        if box.kind is Kind.CACHE:
            what = CACHES.get(self._machine.cpu.caches[box.members[0]].level or 0, "l3")
        elif box.kind is Kind.UNREAD:
            what = UNREAD[box.path]
        elif box.kind is Kind.LINK and box.path.endswith("c2c_bytes_per_s"):
            what = "c2c"
        return self._words.say(f"map.about_{what}")

    def lines(self, box: Box) -> list[str]:
        """Return the title of a box and all its known facts."""
        return [self.title(box), *filter(None, (fact.text for fact in self.facts.of(box)))]

    def count_alike(self, box: Box) -> int:
        """Return the number of caches with the level and size of this one."""
        caches = self._machine.cpu.caches
        if box.kind is not Kind.CACHE:
            return 1
        first = caches[box.members[0]]
        alike = [c for c in caches if (c.level, c.size_bytes) == (first.level, first.size_bytes)]
        return sum(cache.kind != "instruction" for cache in alike)
