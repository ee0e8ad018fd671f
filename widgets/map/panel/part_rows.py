"""Rows of the parts table: every part of a machine with all its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from experiments.core.words import Words
from machine.model import Machine
from widgets.map.layout.boxes import Box, Kind, Measure
from widgets.map.layout.device_labels import joined
from widgets.map.layout.inside import lay_out_core, measured_core
from widgets.map.layout.layout import lay_out
from widgets.map.panel.about import About

HUGE = 4000.0, 1e6  # a size at which little is folded
DEEPER = "    "  # indent per nesting level


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """One part in words; `depth` is its nesting level, `box` its box, None for the whole."""

    box: Box | None
    name: str
    facts: str
    measured: str = ""
    depth: int = 0

    def cell(self, at: int) -> str:
        """Return the text of a column."""
        return (DEEPER * self.depth + self.name, self.facts, self.measured)[at]


def _whole(words: Words, about: About) -> Iterator[PartRow]:
    """Yield the machine as a whole, and each group of its facts."""
    groups = [("map.this_machine", about.facts.of_machine()), *about.facts.groups()]
    for place, (key, facts) in enumerate(groups):
        if told := joined(fact.text for fact in facts):
            yield PartRow(box=None, name=words.say(key), facts=told, depth=min(place, 1))


def rows_of(
    machine: Machine,
    words: Words,
    measure: Measure,
    about: About,
    measured: Callable[[Box], str],
) -> list[PartRow]:
    """Return every part in reading order, also those that a map would fold."""
    folds: frozenset[str] = frozenset()
    layout = lay_out(machine, words, measure, *HUGE)
    while more := {box.id for box in layout.boxes if box.kind is Kind.FOLD} - folds:
        folds |= more
        layout = lay_out(machine, words, measure, *HUGE, folds)
    depths: dict[str | None, int] = {None: -1}
    rows = list(_whole(words, about))
    inside = measured_core(machine)
    whole = replace(layout, boxes=())
    core = lay_out_core(machine, words, measure, *HUGE, inside) if inside else whole
    units = [
        replace(box, parent=f"core:{inside[0]}") for box in core.boxes if box.kind is Kind.UNIT
    ]
    shown = [box for box in layout.boxes if box.kind is not Kind.FOLD]
    places = [n for n, box in enumerate(shown, 1) if {*box.threads} == {*inside}]
    shown[places[-1] if places else 0 : places[-1] if places else 0] = units
    for box in shown:
        depths[box.id] = depths.get(box.parent, -1) + 1
        rows.append(
            PartRow(
                box=box,
                name=about.title(box),
                facts=joined(fact.text for fact in about.facts.of(box)),
                measured=measured(box),
                depth=depths[box.id],
            )
        )
    return rows
