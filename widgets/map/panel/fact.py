"""A fact on the map: a value with its source, or why it is missing."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.core.units import show
from experiments.core.words import Words
from machine.model import Machine, is_hidden, missing_of, source_of
from widgets.map.layout.labels import Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact. If `value` is None, `why` is the reason and `how` the way to get it."""

    label: str
    value: str | None
    source: str = ""
    why: str = ""
    how: str = ""
    is_hidden: bool = False  # by the virtual machine


class FactMaker:
    """Makes single facts of one machine."""

    def __init__(self, machine: Machine, words: Words) -> None:
        self._machine, self._words = machine, words
        self._labels = Labels(words, machine)

    def _fact(self, label: str, path: str, value: str | int | None) -> Fact:
        name = self._words.say(label)
        if value is not None:
            return Fact(label=name, value=str(value), source=source_of(self._machine, path) or "")
        missing = missing_of(self._machine, path)
        return Fact(
            label=name,
            value=None,
            why=missing.why if missing else self._words.say("map.nobody_tells"),
            how=missing.how if missing else "",
            is_hidden=is_hidden(self._machine, path),
        )


def shown(value: float | None, unit: str) -> str | None:
    """Return a value with its unit, None for None."""
    return None if value is None else show(value, unit)
