"""Facts about how a GPU fares: heat, what holds its clock back, power, ECC, reach, repairs."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.core.units import show
from machine.devices import Gpu
from widgets.map.panel.condition_facts import ConditionFacts
from widgets.map.panel.fact import Fact, shown


class GpuFacts(ConditionFacts):
    """Yields what is known; what only some GPUs have is left out where it is not."""

    def of_health(self, gpu: Gpu, path: str) -> Iterator[Fact]:
        """Yield the facts of the GPU at `path`."""
        say = self._words.say
        yield from self._told("map.fact_heat", f"{path}.temperature_celsius", self._heat(gpu))
        held = [say(r.key) for r in gpu.clock_reasons or () if r.severity != "information"]
        if gpu.clock_reasons is not None:
            told = ", ".join(held) or say("map.clock_free")
            yield self._fact("map.fact_held_back", f"{path}.clock_reasons", told)
        if gpu.power_limit_watts is not None:
            yield self._fact("map.fact_power", f"{path}.power_limit_watts", self._power(gpu))
        if gpu.ecc is not None:
            state = say("map.boost_on" if gpu.ecc else "map.boost_off")
            if gpu.ecc_pending not in (None, gpu.ecc):
                state = say("map.changes_at_start", {"state": state})
            yield self._fact("map.fact_ecc", f"{path}.ecc", state)
        if gpu.resizable_bar is not None:
            reach = shown(gpu.bar_bytes, "bytes") or "?"
            told = say("map.whole_bar" if gpu.resizable_bar else "map.small_bar", {"reach": reach})
            yield self._fact("map.fact_bar", f"{path}.resizable_bar", told)
        if repairs := self._repairs(gpu):
            yield self._fact("map.fact_repairs", f"{path}.remapped_rows", repairs)

    def _heat(self, gpu: Gpu) -> str | None:
        now, limit = gpu.temperature_celsius, gpu.temperature_slowdown_celsius
        if now is None:
            return None
        if limit is None:
            return show(now, "celsius")
        values = {"now": show(now, "celsius"), "limit": show(limit, "celsius")}
        return self._words.say("map.slows_down", values)

    def _power(self, gpu: Gpu) -> str:
        limit = show(gpu.power_limit_watts or 0, "watts")
        least, most = gpu.power_min_watts, gpu.power_max_watts
        if least is None or not most:
            return limit
        values = {"limit": limit, "least": show(least, "watts"), "most": show(most, "watts")}
        return self._words.say("map.power_between", values)

    def _repairs(self, gpu: Gpu) -> str:
        say = self._words.say
        told = (
            say("map.rows_replaced", {"count": gpu.remapped_rows}) if gpu.remapped_rows else "",
            say("map.repair_waits") if gpu.remapping_pending else "",
            say("map.repair_failed") if gpu.remapping_failed else "",
        )
        return ", ".join(text for text in told if text)
