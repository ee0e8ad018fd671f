"""What does each tile say? Utilisation large, saturation small, errors apart.

After Brendan Gregg's USE method. Where a value is not known, the reason stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.units import show
from experiments.words import Words
from machine.model import Machine, is_virtual
from widgets.live.history import Moment

UNITS = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}
MUCH_STOLEN_FRACTION = 0.05
LITTLE_AVAILABLE_FRACTION = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """The words of a tile. `number` is large; `known` is False where it says that it is not."""

    number: str
    detail: str = ""
    errors: str = ""
    attention: bool = False  # `detail` is something to have a look at
    known: bool = True


class Faces:
    """Puts samples into words."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._machine: Machine | None = None
        self._why: Mapping[str, str] = {}
        self._unsampled: Sequence[Mapping[str, str]] = ()

    def know_machine(self, machine: Machine | None) -> None:
        """Take in what machine this is."""
        self._machine = machine

    def know_missing(self, missing: Sequence[Mapping[str, str]]) -> None:
        """Take in what a sample says that it lacks."""
        self._why = {entry["what"]: entry["why"] for entry in missing}
        self._unsampled = [entry for entry in missing if "[" not in entry["what"]]

    def cores(self, moment: Moment) -> Face:
        """Say how many hardware threads are busy."""
        busy = [share for share in moment.threads.values() if share is not None]
        errors = self._words.say("live.errors_unsampled")
        if moment.busy_fraction is None:
            why = self._why.get("threads[*].busy") or self._why.get("threads", "")
            return self._unknown(why, errors)
        values = {"busy": f"{sum(busy):.1f}", "count": len(moment.threads)}
        parts = [self._words.say("live.threads_busy", values)]
        if moment.highest_hz is not None:
            parts.append(show(moment.highest_hz, "hz"))
        parts.append(self._words.say("live.waiting_unsampled"))
        return Face(number=percent(moment.busy_fraction), detail=self._joined(parts), errors=errors)

    def memory(self, moment: Moment) -> Face:
        """Say how much memory could not be given to another program."""
        errors = self._words.say("live.errors_unsampled")
        number = self._of(moment.memory, "used_bytes", "total_bytes")
        if number is None:
            return self._unknown(self._why.get("memory", ""), errors)
        parts, attention = [], False
        available, total = moment.memory.get("available_bytes"), moment.memory["total_bytes"]
        if available is not None and total:
            values = {"available": shown_bytes(available)}
            parts.append(self._words.say("live.available", values))
            attention = available < LITTLE_AVAILABLE_FRACTION * total
        if moment.memory.get("swap_total_bytes") == 0:
            parts.append(self._words.say("live.no_swap"))
        return Face(number=number, detail=self._joined(parts), errors=errors, attention=attention)

    def swap(self, moment: Moment) -> Face:
        """Say how much memory lies on the disk."""
        number = self._of(moment.memory, "swap_used_bytes", "swap_total_bytes")
        if number is None:
            return self._unknown(self._why.get("memory", ""))
        return Face(number=number, detail=self._words.say("live.swap_means"))

    def clock(self, moment: Moment) -> Face:
        """Say how fast the fastest thread is clocked, and the slowest."""
        low, high = moment.lowest_hz, moment.highest_hz
        if low is None or high is None:
            return self._unknown(self._why.get("threads[*].hz", ""))
        parts = [self._words.say("live.slowest_thread", {"lowest_hz": low})]
        if limit := self.highest_clock_hz():
            parts.append(self._words.say("live.clock_limit", {"limit_hz": limit}))
        return Face(number=show(high, "hz"), detail=self._joined(parts))

    def stolen(self, moment: Moment) -> Face:
        """Say how much of the time the host gave to others."""
        share = moment.stolen_fraction
        if share is None:
            return self._unknown(self._why.get("threads[*].steal_fraction", ""))
        much = share > MUCH_STOLEN_FRACTION
        detail = self._words.say("live.much_stolen" if much else "live.stolen_means")
        return Face(number=percent(share), detail=detail, attention=much)

    def highest_clock_hz(self) -> float | None:
        """Return the limit that the hardware names."""
        return None if self._machine is None else self._machine.cpu.clock.max_hz

    def may_be_robbed(self, moment: Moment) -> bool:
        """Is there a host that may take time away?"""
        virtual = self._machine is not None and is_virtual(self._machine)
        return virtual or bool(moment.stolen_fraction)

    def not_sampled(self) -> tuple[str, str]:
        """Return what no sample tells yet, and how to ask for it meanwhile; "" and "" for none."""
        if not self._unsampled:
            return "", ""
        names = {
            "disks": self._words.say("live.disks"),
            "network": self._words.say("live.network"),
            "gpus": self._words.say("live.gpus"),
            "threads": self._words.say("live.threads"),
        }
        by_reason: dict[str, list[str]] = {}
        for entry in self._unsampled:
            by_reason.setdefault(entry["why"], []).append(names.get(entry["what"], entry["what"]))
        text = " ".join(
            self._words.say("live.not_sampled", {"names": ", ".join(parts), "why": why})
            for why, parts in by_reason.items()
        )
        return text, "\n".join(
            self._words.say(
                "live.meanwhile",
                {"name": names.get(entry["what"], entry["what"]), "how": entry["how"]},
            )
            for entry in self._unsampled
        )

    def reading(self, moment: Moment | None, ago_s: float, value: str | None) -> str:
        """Say what a point of the last minute reads."""
        ago = self._words.say("live.now" if ago_s < 0.5 else "live.ago", {"seconds": round(ago_s)})
        if moment is None:
            return self._words.say("live.nobody_looked", {"ago": ago})
        shown = self._words.say("live.unknown") if value is None else value
        return self._words.say("live.reading", {"value": shown, "ago": ago})

    def thread_reading(self, moment: Moment | None, thread: int) -> str | None:
        """Say how busy one thread was; None where that is not known."""
        busy = None if moment is None else moment.threads.get(thread)
        if busy is None:
            return None
        return self._words.say("live.thread_busy", {"number": thread, "percent": percent(busy)})

    def _unknown(self, why: str, errors: str = "") -> Face:
        return Face(number=self._words.say("live.unknown"), detail=why, errors=errors, known=False)

    def _of(self, memory: Mapping[str, int | None], part: str, whole: str) -> str | None:
        of, total = memory.get(part), memory.get(whole)
        if of is None or not total:
            return None
        unit = shown_bytes(total).rpartition(" ")[2]
        values = {"used": f"{of / UNITS[unit]:.1f}", "total": shown_bytes(total)}
        return self._words.say("live.of", values)

    def _joined(self, parts: Sequence[str]) -> str:
        """Return the parts in a row; a number stays with its unit where the line breaks."""
        return re.sub(r"(\d) ", "\\1\N{NO-BREAK SPACE}", " · ".join(parts))


def percent(share: float) -> str:
    """Return a share without decimals, so that it stays as wide as it is."""
    return f"{share * 100:.0f} %"


def shown_bytes(count: float) -> str:
    """Return a size with one decimal, so that it does not jump as it grows."""
    unit = next((name for name, size in UNITS.items() if count >= size), "B")
    return f"{count / UNITS[unit]:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
