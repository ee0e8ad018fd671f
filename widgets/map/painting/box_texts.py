"""Texts of the boxes besides their titles: numbers, invitations, and the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.core.declare import Part
from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.known import KnownValue, is_of_part
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.device_labels import joined
from widgets.map.painting.state import State

RATE = "bytes/s"
INVITATION = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxText:
    """Texts of one box, each the longest first.

    `value` is its number, `rate` its bandwidth beside the peak, `now` what it does, `bar` how full
    it is.
    """

    value: tuple[str, ...] = ()
    rate: tuple[str, ...] = ()
    rate_role: str = "value"
    now: tuple[str, ...] = ()
    now_role: str = "detail"
    bar: tuple[str, ...] = ()
    below: tuple[str, ...] = ()  # numbers, one a line


class BoxTexts:
    """Makes the texts of boxes from the state of the map."""

    def __init__(self, words: Words, state: State) -> None:
        self._words, self._state = words, state

    def in_state(self, state: State) -> BoxTexts:
        """Return the texts in another state."""
        return BoxTexts(self._words, state)

    def numbers(self, box: Box) -> Sequence[KnownValue]:
        """Return the known numbers of a box."""
        if box.part is None or not box.bears_value:
            return ()
        return self._state.values.get(box.part, ())

    def of(self, box: Box) -> BoxText:
        """Return the texts of a box."""
        live = self._state.live_of(box.id)
        rate, role = self._rate(box)
        return BoxText(
            value=self._value(box),
            rate=rate,
            rate_role=role,
            now=live.texts if live else box.states,
            now_role="fault" if live and live.is_lost else "detail",
            bar=(live.bar_texts if live else ()) or box.bar_titles,
            below=self._below(box),
        )

    def _value(self, box: Box) -> tuple[str, ...]:
        if not self._state.shows_values:
            return ()
        first = self.headline(box)
        if first is not None and box.kind is Kind.UNIT:
            return ()  # its numbers stand below
        if first is None:
            return (INVITATION,) if self._asks(box) and not box.ceiling else ()
        if box.part is Part.CORES:  # a number alone would be unclear
            return (f"{first.label} {first.text}", first.text)
        return (first.text,)

    def _below(self, box: Box) -> tuple[str, ...]:
        """Return the numbers of a part of a core: it has room for them."""
        if box.kind is not Kind.UNIT or not self._state.shows_values:
            return ()
        return tuple(f"{one.text}  {one.label}" for one in self.numbers(box))

    def headline(self, box: Box) -> KnownValue | None:
        """Return the most important number of a box."""
        return next((one for one in self.numbers(box) if self._is_headline(box, one)), None)

    def measured(self, box: Box) -> str:
        """Return all numbers of a box in one line, or that none is measured yet."""
        if self.is_unmeasured(box):
            return self._words.say("map.not_measured")
        return joined(f"{one.text} {one.label}" for one in self.numbers(box))

    def is_unmeasured(self, box: Box) -> bool:
        """Return whether a box can have numbers and has none yet."""
        return box.bears_value and box.part in self._state.asked and not self.numbers(box)

    def _is_headline(self, box: Box, one: KnownValue) -> bool:
        """Return whether a number can stand alone beside the title."""
        is_rate = one.unit == RATE
        if box.kind in (Kind.LINK, Kind.NVLINK):
            return is_rate and not box.ceiling
        return is_of_part(box.part, one.unit) and not (is_rate and box.ceiling)

    def _rate(self, box: Box) -> tuple[tuple[str, ...], str]:
        """Return the texts of a bandwidth, and their role."""
        if not box.ceiling:
            return (), "value"
        say, ceiling = self._words.say, show(box.ceiling, RATE)
        known = [one for one in self.numbers(box) if one.unit == RATE]
        if known and self._state.shows_values:
            measured = known[0].text
            return (say("map.of", {"measured": measured, "ceiling": ceiling}), measured), "value"
        if self._state.shows_values and self._asks(box):
            asked = say("map.of", {"measured": INVITATION, "ceiling": ceiling})
            return (asked, INVITATION), "invitation"
        return (say("map.at_most", {"peak_bytes_per_s": box.ceiling}), ceiling), "detail"

    def _asks(self, box: Box) -> bool:
        known = any(is_of_part(box.part, one.unit) for one in self.numbers(box))
        return box.asks and box.part in self._state.asked and not known
