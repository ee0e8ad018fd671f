"""Words of each tile: utilisation large, saturation small, errors apart.

After Brendan Gregg's USE method. An unknown value is replaced by its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import (
    ErrorState,
    Face,
    Reasons,
    joined,
    lines,
    part_of,
    percent,
    shown_bytes,
)
from experiments.presentation.load.history import Moment
from machine.model import Machine, is_virtual

MUCH_STOLEN_FRACTION = 0.05
MOST_NAMED = 12  # sensors in the tip
LITTLE_AVAILABLE_FRACTION = 0.05
PLACES = {  # a note lists missing ones, by these words
    "disks": "live.disks",
    "network": "live.network",
    "gpus": "live.gpus",
    "threads": "live.threads",
    "threads[*].hz": "live.clocks",
    "heat": "live.heat",
}


class Faces:
    """Turns samples into words."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.machine: Machine | None = None
        self.is_recorded = False  # then its newest sample is not now
        self.reasons = Reasons()
        self._unsampled: Sequence[Mapping[str, str]] = ()

    def know_machine(self, machine: Machine | None) -> None:
        """Set the machine."""
        self.machine = machine

    def know_missing(self, missing: Sequence[Mapping[str, str]]) -> None:
        """Set what a sample lacks."""
        self.reasons = Reasons(missing)
        self._unsampled = [entry for entry in missing if entry["what"] in PLACES]

    def cores(self, moment: Moment) -> Face:
        """Return how many hardware threads are busy."""
        busy = [share for share in moment.threads.values() if share is not None]
        if moment.busy_fraction is None:
            return self.unknown(self.reasons.why("threads[*].busy", "threads"))
        values = {"busy": f"{sum(busy):.2f}", "count": len(moment.threads)}
        parts = [self._words.say("live.threads_busy", values)]
        if moment.highest_hz is not None:
            parts.append(show(moment.highest_hz, "hz"))
        parts.append(self.waited(moment, "cpu"))
        return Face(number=percent(moment.busy_fraction), detail=joined(parts))

    def memory(self, moment: Moment) -> Face:
        """Return how much memory is not available to programs."""
        memory = moment.memory
        number = part_of(self._words, memory.get("used_bytes"), memory.get("total_bytes"))
        if number is None:
            return self.unknown(self.reasons.why("memory"))
        parts, attention = [], False
        available = memory.get("available_bytes")
        if available is not None:
            values = {"available": shown_bytes(available)}
            parts.append(self._words.say("live.available", values))
            attention = available < LITTLE_AVAILABLE_FRACTION * memory["total_bytes"]
        if memory.get("swap_total_bytes") == 0:
            parts.append(self._words.say("live.no_swap"))
        detail = lines(joined(parts), joined([self.waited(moment, "memory")]))
        return Face(number=number, detail=detail, attention=attention)

    def swap(self, moment: Moment) -> Face:
        """Return how much memory is swapped out."""
        used, total = (moment.memory.get(f"swap_{name}_bytes") for name in ("used", "total"))
        number = part_of(self._words, used, total)
        if number is None:
            return self.unknown(self.reasons.why("memory"))
        return Face(number=number, detail=self._words.say("live.swap_means"))

    def clock(self, moment: Moment) -> Face:
        """Return the highest and the lowest clock of the threads."""
        low, high = moment.lowest_hz, moment.highest_hz
        if low is None or high is None:
            return self.unknown(self.reasons.why("threads[*].hz"))
        parts = [self._words.say("live.slowest_thread", {"lowest_hz": low})]
        if limit := self.highest_clock_hz():
            parts.append(self._words.say("live.clock_limit", {"limit_hz": limit}))
        return Face(number=show(high, "hz"), detail=joined(parts))

    def heat(self, moment: Moment) -> Face:
        """Return the temperature and power of the processor, and how often heat slowed it down."""
        say, heat = self._words.say, moment.heat or {}
        sensors = sorted(
            (each for each in heat.get("sensors", ()) if each.get("now_celsius") is not None),
            key=lambda sensor: -sensor["now_celsius"],
        )
        watts = heat.get("watts")
        parts = [None if watts is None else show(watts, "watts")]
        if sensors and (limit := sensors[0].get("critical_celsius")) is not None:
            parts.append(say("live.heat_limit", {"limit_celsius": limit}))
        if len(sensors) > 1:
            parts.append(say("live.hottest", {"count": len(sensors)}))
        unknown = ""
        if not sensors:
            unknown = self.reasons.why("heat.sensors", "heat.sensors[*].now_celsius", "heat")
        throttled, state = self._throttled(heat)
        return Face(
            number=show(sensors[0]["now_celsius"], "celsius") if sensors else say("live.unknown"),
            detail=lines(unknown, joined(parts), throttled if state == "none" else ""),
            errors=throttled if state == "some" else "",
            error_state=state,
            known=bool(sensors),
            tip="\n".join(
                say("live.heat_of", {"name": each["name"], "celsius": each["now_celsius"]})
                for each in sensors[:MOST_NAMED]
            ),
        )

    def _throttled(self, heat: Mapping[str, Any]) -> tuple[str, ErrorState]:
        """Return how often heat slowed the processor down since Live began."""
        counts = [heat.get(f"throttled_{parts}") for parts in ("cores", "packages")]
        known = [count for count in counts if count is not None]
        if not known:
            return "", "unknown"
        if not max(known):
            return self._words.say("live.not_throttled"), "none"
        return self._words.say("live.throttled", {"count": max(known)}), "some"

    def stolen(self, moment: Moment) -> Face:
        """Return the share of time that the host gave to others."""
        share = moment.stolen_fraction
        if share is None:
            return self.unknown(self.reasons.why("threads[*].steal_fraction"))
        much = share > MUCH_STOLEN_FRACTION
        detail = self._words.say("live.much_stolen" if much else "live.stolen_means")
        return Face(number=percent(share), detail=detail, attention=much)

    def highest_clock_hz(self) -> float | None:
        """Return the clock limit of the hardware."""
        return None if self.machine is None else self.machine.cpu.clock.max_hz

    def may_be_robbed(self, moment: Moment) -> bool:
        """Return whether a host may steal time."""
        virtual = self.machine is not None and is_virtual(self.machine)
        return virtual or bool(moment.stolen_fraction)

    def not_sampled(self) -> tuple[str, str]:
        """Return which values are not sampled, and how to get them; "" and "" for none."""
        if not self._unsampled:
            return "", ""
        names = {place: self._words.say(key) for place, key in PLACES.items()}
        by_reason: dict[str, list[str]] = {}
        for entry in self._unsampled:
            by_reason.setdefault(entry["why"], []).append(names[entry["what"]])
        text = " ".join(
            self._words.say("live.not_sampled", {"names": ", ".join(parts), "why": why})
            for why, parts in by_reason.items()
        )
        hows = ((names[entry["what"]], entry["how"]) for entry in self._unsampled)
        return text, "\n".join(
            self._words.say("live.meanwhile", {"name": name, "how": how}) for name, how in hows
        )

    def when(self, ago_s: float) -> str:
        """Return the time from a point of the minute to the newest sample, in words."""
        now, ago = "live.now", "live.ago"
        if self.is_recorded:
            now, ago = "live.last_sample", "live.earlier"
        return self._words.say(now if ago_s < 0.5 else ago, {"seconds": round(ago_s)})

    def reading(self, moment: Moment | None, ago_s: float, value: str | None) -> str:
        """Return the reading at a point of the minute."""
        ago = self.when(ago_s)
        if moment is None:
            return self._words.say("live.nobody_looked", {"ago": ago})
        shown = self._words.say("live.unknown") if value is None else value
        return self._words.say("live.reading", {"value": shown, "ago": ago})

    def thread_reading(self, moment: Moment | None, thread: int) -> str | None:
        """Return how busy one thread was; None if unknown."""
        busy = None if moment is None else moment.threads.get(thread)
        if busy is None:
            return None
        return self._words.say("live.thread_busy", {"number": thread, "percent": percent(busy)})

    def waited(self, moment: Moment, resource: str) -> str:
        """Return the share of time that tasks waited for a resource: its saturation."""
        share = moment.memory.get(f"{resource}_pressure_fraction")
        if share is None:
            return self._words.say("live.waiting_untold")
        if not share:
            return self._words.say("live.nobody_waits")
        return self._words.say("live.waited", {"percent": percent(share)})

    def unknown(self, why: str) -> Face:
        """Return the face of an unknown value, with the reason."""
        return Face(number=self._words.say("live.unknown"), detail=why, known=False)
