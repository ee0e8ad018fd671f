"""Facts about the machine as a whole, in groups: maker, clock and power, memory, protection, disks.

A file of an older version has neither value nor reason for them: then the fact is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from experiments.core.units import decimal_bytes, show
from experiments.presentation.grouped import grouped
from machine.condition import PowerLimit, Temperature
from machine.devices import Disk
from machine.memory.setting import setting
from machine.processor.protection import protection
from widgets.map.panel.fact import Fact, FactMaker

BOOST = {"on": "map.boost_on", "off": "map.boost_off", "mixed": "map.boost_mixed"}
LIMITS = {
    "long_term": "map.power_long",
    "short_term": "map.power_short",
    "peak_power": "map.power_peak",
}
PLACES = {
    "system": "map.at_system",
    "boot": "map.at_boot",
    "home": "map.at_home",
    "removable": "map.at_removable",
    "other": "map.at_other",
}
MOST_DISKS = 4


class ConditionFacts(FactMaker):
    """Yields the facts of each group."""

    def groups(self) -> list[tuple[str, list[Fact]]]:
        """Return the key of each group's heading, and its facts; no group is empty."""
        found = (
            ("map.group_maker", self.of_maker()),
            ("map.group_clock", self.of_clock()),
            ("map.group_memory", self.of_pages()),
            ("map.group_protection", self.of_protection()),
            ("map.group_disks", self._of_disks()),
        )
        return [(key, merged) for key, facts in found if (merged := _merged(facts))]

    def of_maker(self) -> Iterator[Fact]:
        """Yield who made the computer, and its firmware."""
        system = self._machine.system
        yield from self._told("map.fact_maker", "system.maker")
        yield from self._told("map.fact_model", "system.model")
        yield from self._told("map.fact_board", "system.board")
        firmware = ", ".join(filter(None, (system.firmware, system.firmware_date)))
        yield from self._told("map.fact_firmware", "system.firmware", firmware or None)

    def of_clock(self) -> Iterator[Fact]:
        """Yield who sets the processor's clock, and what may slow it down."""
        cpu, clock, say = self._machine.cpu, self._machine.cpu.clock, self._words.say
        boost = say(BOOST[clock.boost]) if clock.boost else None
        is_plan = self._machine.os.kind == "windows"  # which sets clocks by power plans
        governor = "map.fact_power_plan" if is_plan else "map.fact_governor"
        yield from self._told(governor, "cpu.clock.governor")
        yield from self._told("map.fact_driver", "cpu.clock.driver")
        yield from self._told("map.fact_preference", "cpu.clock.energy_preference")
        yield from self._told("map.fact_boost", "cpu.clock.boost", boost)
        heat = ", ".join(map(self._temperature, cpu.temperatures)) or None
        yield from self._told("map.fact_heat", "cpu.temperatures", heat)
        cores, packages = cpu.throttling.cores, cpu.throttling.packages
        counts = {"cores": cores or 0, "packages": packages or 0}
        text = say("map.throttled", counts) if cores or packages else say("map.never")
        known = None if cores is None and packages is None else text
        yield from self._told("map.fact_throttled", "cpu.throttling.cores", known)
        limits = ", ".join(dict.fromkeys(map(self._limit_text, cpu.power_limits))) or None
        yield from self._told("map.fact_power", "cpu.power_limits", limits)

    def of_pages(self) -> Iterator[Fact]:
        """Yield slow modules, huge pages and swap."""
        memory, say = self._machine.memory, self._words.say
        if (speed := setting(self._machine)) is not None and speed.is_short:
            rates = (speed.set_transfers_per_s, speed.rated_transfers_per_s)
            now, rated = (f"{rate / 1e6:g}" for rate in rates)
            text = say("map.slowed", {"now": now, "rated": rated})
            yield self._fact("map.fact_look", "memory.modules", text)
        yield from self._told("map.fact_transparent", "memory.transparent_huge_pages")
        pages = [
            say(
                "map.huge_pages",
                {"total": page.total, "size": show(page.size_bytes, "bytes"), "free": page.free},
            )
            for page in memory.huge_pages
            if page.total
        ]
        none = say("map.none") if memory.huge_pages else None
        yield from self._told("map.fact_huge", "memory.huge_pages", ", ".join(pages) or none)
        total, used = memory.swap_total_bytes, memory.swap_used_bytes
        values = {"used": show(used or 0, "bytes"), "total": show(total or 0, "bytes")}
        swap = say("map.now_used", values) if total else say("map.none")
        if total and memory.swap_in_memory_bytes:
            swap = say("map.swap_zram", {"swap": swap})
        known = None if total is None else swap
        yield from self._told("map.fact_swap", "memory.swap_total_bytes", known)

    def of_protection(self) -> Iterator[Fact]:
        """Yield what the processor is vulnerable to; the tip names the rest."""
        told, path = protection(self._machine.cpu.vulnerabilities), "cpu.vulnerabilities"
        if self._machine.cpu.vulnerabilities:
            total = len(self._machine.cpu.vulnerabilities)
            vulnerable = ", ".join(told.vulnerable) or self._words.say("map.nothing")
            yield self._fact("map.fact_vulnerable", path, vulnerable)
            if told.unknown:
                yield self._fact("map.fact_untold", path, ", ".join(told.unknown))
            for key, some in (
                ("map.fact_mitigated", told.mitigated),
                ("map.fact_not_affected", told.not_affected),
            ):
                value = self._words.say("map.attacks", {"count": len(some), "total": total})
                yield Fact(label=self._words.say(key), value=value, source=", ".join(some))
        else:
            yield from self._told("map.fact_vulnerable", path, None)
        yield from self._told("map.fact_microcode", "cpu.microcode")

    def of_space(self, place: int) -> Iterator[Fact]:
        """Yield the file systems of a disk, and its wear."""
        disk, path = self._machine.storage[place], f"storage[{place}]"
        systems = "; ".join(self._spaces(disk)) or None
        yield from self._told("map.fact_file_systems", f"{path}.file_systems", systems)
        worn = disk.wear_fraction
        text = None if worn is None else self._words.say("map.worn", {"wear_fraction": worn})
        yield from self._told("map.fact_wear", f"{path}.wear_fraction", text)

    def _of_disks(self) -> Iterator[Fact]:
        disks = self._machine.storage
        for place, disk in enumerate(disks[:MOST_DISKS]):
            path = f"storage[{place}].file_systems"
            spaces = "; ".join(self._spaces(disk, without=("boot",))) or None
            for fact in self._told("map.fact_found", path, spaces):
                yield replace(fact, label=disk.name, is_hidden=False)
        if len(disks) > MOST_DISKS:
            more = self._words.say("map.more_disks", {"count": len(disks) - MOST_DISKS})
            yield Fact(label=more, value=self._words.say("map.on_their_own"))

    def _spaces(self, disk: Disk, without: Collection[str] = ()) -> Iterator[str]:
        for system in disk.file_systems:
            if system.place in without and len(disk.file_systems) > 1:
                continue
            place = PLACES.get(system.place or "", "map.at_other")
            name = " ".join(filter(None, (system.kind, self._words.say(place))))
            if system.total_bytes is None or system.free_bytes is None:
                yield name
            else:
                free, total = (
                    decimal_bytes(size).replace(" ", "\N{NO-BREAK SPACE}")
                    for size in (system.free_bytes, system.total_bytes)
                )
                yield self._words.say("map.space", {"name": name, "free": free, "total": total})

    def _temperature(self, one: Temperature) -> str:
        known = one.now_celsius
        now = "?" if known is None else show(round(known), "celsius")
        if one.critical_celsius is None:
            return self._words.say("map.heat", {"name": one.name, "now": now})
        limit = show(one.critical_celsius, "celsius")
        return self._words.say("map.heat_limited", {"name": one.name, "now": now, "limit": limit})

    def _limit_text(self, limit: PowerLimit) -> str:
        kind = LIMITS.get(limit.name or "", "")
        watts = show(limit.watts or 0, "watts")
        return self._words.say(kind, {"watts": watts}) if kind else watts


def _merged(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts; unknown ones with the same reason become one, last."""
    told = list(facts)
    known = [fact for fact in told if fact.value is not None]
    unknown = grouped(((fact.why, fact.how), fact) for fact in told if fact.value is None)
    for alike in unknown.values():
        first, *others = (fact.label for fact in alike)
        label = ", ".join((first, *(other[:1].lower() + other[1:] for other in others)))
        known.append(replace(alike[0], label=label))
    return known
