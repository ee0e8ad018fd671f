"""Words of the tiles of disks and network.

One tile for all disks: their total traffic, and the busiest one. The network likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import ErrorState, Face, joined, lines, percent, total
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import Moment, Parts

MOST_NAMED = 12  # devices listed in the tip
LEAST_QUEUE = 0.05  # requests in flight: fewer count as none


class IoFaces:
    """Turns disk and network samples into words."""

    def __init__(self, words: Words, faces: Faces) -> None:
        self._words, self._faces = words, faces

    def disks(self, moment: Moment) -> Face:
        """Return the total traffic of the disks, the busiest one, and the waiting requests."""
        say = self._words.say

        def detail(other: str) -> str:
            busiest = max(moment.disks, key=lambda disk: (disk.get("busy") or 0.0, _carried(disk)))
            busy, queue = busiest.get("busy"), busiest.get("queue")
            parts = [other, self._named("live.busiest_disk", busiest, moment.disks)]
            if busy is not None:
                parts.append(say("live.busy_time", {"percent": percent(busy)}))
            waiting = self._faces.waited(moment, "io")
            if queue is not None:
                is_any = queue >= LEAST_QUEUE
                waiting = say("live.requests", {"count": f"{queue:.1f}"}) if is_any else ""
            return lines(joined(parts), joined([waiting]))

        flows = {"live.read": "read_bytes_per_s", "live.written": "write_bytes_per_s"}
        return self._face("disks", moment.disks, flows, detail)

    def network(self, moment: Moment) -> Face:
        """Return the total traffic of the interfaces, the busiest one, and dropped packets."""
        say = self._words.say

        def detail(other: str) -> str:
            busiest = max(moment.network, key=_carried)
            parts = [other, self._named("live.busiest_card", busiest, moment.network)]
            if peak := self._peak(busiest["name"]):
                parts.append(say("live.at_most", {"peak_bytes_per_s": peak}))
            dropped = total(moment.network, "dropped")
            if dropped is None:
                return lines(joined(parts), say("live.dropped_untold"))
            key = "live.dropped" if dropped else "live.none_dropped"
            return lines(joined(parts), say(key, {"count": f"{dropped:.0f}"}))

        flows = {"live.in": "received_bytes_per_s", "live.out": "sent_bytes_per_s"}
        return self._face("network", moment.network, flows, detail)

    def _face(
        self, what: str, parts: Parts, flows: Mapping[str, str], detail: Callable[[str], str]
    ) -> Face:
        """Return the face of all parts; `detail` is given the smaller of the two flows in words."""
        errors, state = self._errors(parts)
        number, other = self._flows({key: total(parts, name) for key, name in flows.items()})
        names = [*flows.values()]
        why = self._faces.reasons.why(f"{what}[*].{names[0]}", what)
        return Face(
            number=number or self._words.say("live.unknown"),
            detail=detail(other) if number else why,
            errors=errors,
            error_state=state,
            known=bool(number),
            tip=self._tip(parts, *names) if number else "",
        )

    def _named(self, key: str, busiest: Mapping[str, Any], parts: Parts) -> str:
        """Return the name of the busiest, said to be that of several."""
        name: str = busiest["name"]
        values = {"name": name, "count": len(parts)}
        return self._words.say(key, values) if len(parts) > 1 else name

    def _flows(self, flows: Mapping[str, float | None]) -> tuple[str, str]:
        """Return the larger of two flows in words, then the other; "" if unknown."""
        known = {key: value for key, value in flows.items() if value is not None}
        texts = [
            self._words.say(key, {"rate": show(known[key], "bytes/s")})
            for key in sorted(known, key=lambda key: -known[key])
        ]
        number, other = (*texts, "", "")[:2]
        return number, other

    def _errors(self, parts: Parts) -> tuple[str, ErrorState]:
        count = total(parts, "errors")
        if count:
            return self._words.say("live.errors", {"count": f"{count:.0f}"}), "some"
        if count is None:
            return "", "unknown"  # no counter exists
        if any(part.get("errors") is None for part in parts):
            return self._words.say("live.errors_untold"), "unknown"
        return self._words.say("live.no_errors"), "none"

    def _peak(self, name: str) -> float | None:
        machine = self._faces.machine
        cards = machine.network if machine is not None else ()
        return next((card.peak_bytes_per_s for card in cards if card.name == name), None)

    def _tip(self, parts: Parts, *names: str) -> str:
        if len(parts) < 2:
            return ""
        busiest = sorted(parts, key=_carried, reverse=True)[:MOST_NAMED]
        rates = ((part["name"], *(part.get(name) for name in names)) for part in busiest)
        return "\n".join(
            self._words.say(
                "live.of_each",
                {"name": name, "first": show(a or 0, "bytes/s"), "second": show(b or 0, "bytes/s")},
            )
            for name, a, b in rates
            if a is not None or b is not None
        )


def _carried(part: Mapping[str, Any]) -> float:
    return sum(value or 0.0 for name, value in part.items() if name.endswith("_bytes_per_s"))


def flow(parts: Parts, *names: str) -> float | None:
    """Return the larger of the flows with these names, over all parts; None if unknown."""
    known = [value for name in names if (value := total(parts, name)) is not None]
    return max(known, default=None)
