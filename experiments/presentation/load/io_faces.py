"""Words of the tiles of disks and network.

One tile for all disks: their total traffic, and the busiest one. The network likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import ErrorState, Face, joined, lines, percent, total
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import Moment

MOST_NAMED = 12  # devices listed in the tip
LEAST_QUEUE = 0.05  # requests in flight: fewer count as none


class IoFaces:
    """Turns disk and network samples into words."""

    def __init__(self, words: Words, faces: Faces) -> None:
        self._words, self._faces = words, faces

    def disks(self, moment: Moment) -> Face:
        """Return the total traffic of the disks, the busiest one, and the waiting requests."""
        say = self._words.say
        flows = {
            "live.read": total(moment.disks, "read_bytes_per_s"),
            "live.written": total(moment.disks, "write_bytes_per_s"),
        }
        errors, state = self._errors(moment.disks)
        number, other = self._flows(flows)
        if not number:
            return self._unknown("disks", "read_bytes_per_s", errors, state)
        busiest = max(moment.disks, key=lambda disk: (disk.get("busy") or 0.0, _carried(disk)))
        busy, queue = busiest.get("busy"), busiest.get("queue")
        named = {"name": busiest["name"], "count": len(moment.disks)}
        who = say("live.busiest_disk", named) if len(moment.disks) > 1 else busiest["name"]
        parts = [other, who]
        if busy is not None:
            parts.append(say("live.busy_time", {"percent": percent(busy)}))
        waiting = self._faces.waited(moment, "io")
        if queue is not None:
            is_any = queue >= LEAST_QUEUE
            waiting = say("live.requests", {"count": f"{queue:.1f}"}) if is_any else ""
        return Face(
            number=number,
            detail=lines(joined(parts), joined([waiting])),
            errors=errors,
            error_state=state,
            tip=self._tip(moment.disks, "read_bytes_per_s", "write_bytes_per_s"),
        )

    def network(self, moment: Moment) -> Face:
        """Return the total traffic of the interfaces, the busiest one, and dropped packets."""
        say = self._words.say
        flows = {
            "live.in": total(moment.network, "received_bytes_per_s"),
            "live.out": total(moment.network, "sent_bytes_per_s"),
        }
        errors, state = self._errors(moment.network)
        number, other = self._flows(flows)
        if not number:
            return self._unknown("network", "received_bytes_per_s", errors, state)
        busiest = max(moment.network, key=_carried)
        named = {"name": busiest["name"], "count": len(moment.network)}
        parts = [other, busiest["name"]]
        if len(moment.network) > 1:
            parts = [other, say("live.busiest_card", named)]
        if peak := self._peak(busiest["name"]):
            parts.append(say("live.at_most", {"peak_bytes_per_s": peak}))
        dropped = total(moment.network, "dropped")
        waiting = say("live.dropped_untold")
        if dropped is not None:
            key = "live.dropped" if dropped else "live.none_dropped"
            waiting = say(key, {"count": f"{dropped:.0f}"})
        return Face(
            number=number,
            detail=lines(joined(parts), waiting),
            errors=errors,
            error_state=state,
            tip=self._tip(moment.network, "received_bytes_per_s", "sent_bytes_per_s"),
        )

    def _flows(self, flows: Mapping[str, float | None]) -> tuple[str, str]:
        """Return the larger of two flows in words, then the other; "" if unknown."""
        known = {key: value for key, value in flows.items() if value is not None}
        texts = [
            self._words.say(key, {"rate": show(known[key], "bytes/s")})
            for key in sorted(known, key=lambda key: -known[key])
        ]
        number, other = (*texts, "", "")[:2]
        return number, other

    def _errors(self, parts: Sequence[Mapping[str, Any]]) -> tuple[str, ErrorState]:
        count = total(parts, "errors")
        if count:
            return self._words.say("live.errors", {"count": f"{count:.0f}"}), "some"
        if count is None:
            return "", "unknown"  # no counter exists
        if any(part.get("errors") is None for part in parts):
            return self._words.say("live.errors_untold"), "unknown"
        return self._words.say("live.no_errors"), "none"

    def _unknown(self, what: str, name: str, errors: str, state: ErrorState) -> Face:
        why = self._faces.reasons.why(f"{what}[*].{name}", what)
        unknown = self._words.say("live.unknown")
        return Face(number=unknown, detail=why, errors=errors, error_state=state, known=False)

    def _peak(self, name: str) -> float | None:
        machine = self._faces.machine
        cards = machine.network if machine is not None else ()
        return next((card.peak_bytes_per_s for card in cards if card.name == name), None)

    def _tip(self, parts: Sequence[Mapping[str, Any]], *names: str) -> str:
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


def flow(parts: Sequence[Mapping[str, Any]], *names: str) -> float | None:
    """Return the larger of the flows with these names, over all parts; None if unknown."""
    known = [value for name in names if (value := total(parts, name)) is not None]
    return max(known, default=None)
