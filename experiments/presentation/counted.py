"""Puts a run's counts of the processor into words: evidence for a finding, and numbers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.core.declare import Experiment, specs
from experiments.core.judging.disturbed import counting, counts_of
from experiments.core.judging.ways import columns_of, ways
from experiments.core.tables import in_words
from experiments.core.units import show
from experiments.core.views import Bars, Lines
from experiments.core.words import Words
from machine.processor.counters import EVENTS


class Counted(NamedTuple):
    """An event in words, of the way with the fewest and that with the most."""

    event: str
    called: str
    values: Mapping[str, str]  # least, least_way, most, most_way


def events_of(
    words: Words, experiment: Experiment[Any], tables: Mapping[str, Sequence[Any]]
) -> tuple[Counted, ...]:
    """Return each event that was counted for the ways of the headline, for one operation each.

    For one sample where the experiment does not say how many operations a sample does.
    """
    view = experiment.plots[0]
    if not isinstance(view, Bars | Lines):
        return ()
    found: dict[str, dict[tuple[object, ...], list[float]]] = {}
    is_of_one = True
    for row in counting(tables.get(view.table, ())):
        if (counts := counts_of(row)) is None:
            continue
        (way,) = ways(view, [row])
        is_of_one = is_of_one and counts.operations > 0
        for event, count in counts.events.items():
            of_way = found.setdefault(event, {}).setdefault(way, [])
            of_way.append(count / (counts.operations or 1))
    key = "counted.per_operation" if is_of_one else "counted.per_sample"

    def told(event: str, of: Mapping[tuple[object, ...], list[float]]) -> Counted:
        medians = {way: statistics.median(each) for way, each in of.items()}
        least, most = (min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__))
        values = {
            "least": show(medians[least], count=2),
            "least_way": _way(words, experiment, view, least),
            "most": show(medians[most], count=2),
            "most_way": _way(words, experiment, view, most),
        }
        each = words.say(f"counted.{event}")
        return Counted(event, words.say(key, {"event": each}), values)

    return tuple(told(event, found[event]) for event in EVENTS if event in found)


def evidence(words: Words, experiment: Experiment[Any], found: Sequence[Counted]) -> str:
    """Return the sentence about the event that the effect is made of, "" where none was counted."""
    for each in found:
        if each.event == experiment.confirmed_by:
            is_one = each.values["least_way"] == each.values["most_way"]
            key = "counted.one_way" if is_one else "counted.evidence"
            return words.say(key, {"called": each.called, **each.values})
    return ""


def in_range(words: Words, each: Counted) -> str:
    """Return the numbers of an event: those of both ways, or of the only one."""
    if each.values["least_way"] == each.values["most_way"]:
        return each.values["most"]
    return words.say("counted.range", each.values)


def running_fraction(tables: Mapping[str, Sequence[Any]]) -> float:
    """Return the least share of its time for which a counter ran; 1 where none was shared."""
    found = (counts_of(row) for rows in tables.values() for row in rows)
    return min((each.running_fraction for each in found if each is not None), default=1.0)


def _way(
    words: Words, experiment: Experiment[Any], view: Bars | Lines, way: tuple[object, ...]
) -> str:
    """Return a way as it is called: its series and size, or its bar."""
    declared = specs(experiment.tables[view.table])
    return ", ".join(
        in_words(words, experiment.id, name, declared[name].unit, value)
        for name, value in zip(columns_of(view), way, strict=True)
    )
