"""A fact on the map: a value with its source, or why it is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments.core.units import show, unit_of
from experiments.core.words import Words
from machine.model import Machine, is_hidden, missing_of, source_of
from widgets.map.layout.labels import Labels

READ: Any = object()  # the value at the path, in the unit that its name ends in


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact. If `value` is None, `why` is the reason and `how` the way to get it."""

    label: str
    value: str | None
    source: str = ""
    why: str = ""
    how: str = ""
    is_hidden: bool = False  # by the virtual machine

    @property
    def text(self) -> str:
        """The fact in one line, "" if its value is not known."""
        return f"{self.label}: {self.value}" if self.value else ""


class FactMaker:
    """Makes single facts of one machine."""

    def __init__(self, machine: Machine, words: Words) -> None:
        self._machine, self._words = machine, words
        self._labels = Labels(words, machine)

    def _fact(self, label: str, path: str, value: str | int | None = READ) -> Fact:
        name = self._words.say(label)
        if value is READ:
            value = _read(self._machine, path)
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

    def _told(self, label: str, path: str, value: str | None = READ) -> Iterator[Fact]:
        """Yield the fact, unless there is neither a value nor a reason."""
        fact = self._fact(label, path, value)
        if fact.value is not None or missing_of(self._machine, path) is not None:
            yield fact


def value_at(machine: Machine, path: str) -> Any:
    """Return the value at a path such as `gpus[0].l2_bytes`."""
    value: Any = machine
    for name in re.findall(r"\w+", path):
        value = value[int(name)] if name.isdecimal() else getattr(value, name)
    return value


def _read(machine: Machine, path: str) -> str | int | None:
    value, unit = value_at(machine, path), unit_of(path.rpartition(".")[2])
    return show(value, unit) if unit and value is not None else value


def shown(value: float | None, unit: str) -> str | None:
    """Return a value with its unit, None for None."""
    return None if value is None else show(value, unit)
