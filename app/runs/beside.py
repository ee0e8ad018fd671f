"""Compares a copy with its original in a sentence: faster, slower, no difference, or unclear."""

from __future__ import annotations

import math
from typing import Any

from app.report import label
from app.runs.comparison import Compared, ComparedValue
from experiments.core.declare import Experiment
from experiments.core.judging.comparing import WITHIN
from experiments.core.units import unit_of
from experiments.core.words import Words

TIMES = frozenset({"s"})  # less is faster
RATES = frozenset({"bytes/s", "flop/s", "hz", "per_s"})  # more is faster
CYCLES = "_cycles"  # ends the name of a time that has no unit


def verdict_of(words: Words, experiment: Experiment[Any], compared: Compared) -> str:
    """Return what changed, by the times and rates of two runs whose rounds alternated.

    The numbers that are read first decide, if they are times or rates; else all of them. Less than
    WITHIN is no difference: two processes that run the same code lie that far apart.
    """
    judged = [value for value in compared.values if value.verdict and value.a and value.b]
    gains = {value.name: gain for value in judged if (gain := _gain(experiment, value))}
    read_first = {key.value for key in experiment.keys}
    names = [name for name in gains if name in read_first] or [*gains]
    found = {value.name: value.verdict for value in judged if value.name in names}
    differing = [
        name for name in names
        if found[name] in ("higher", "lower") and abs(math.log(gains[name])) > math.log1p(WITHIN)
    ]  # fmt: skip
    if not names:
        return words.say("beside.not_timed")
    if not differing:
        key = "beside.same" if {*found.values()} == {"same"} else "beside.cannot_tell"
        return words.say(key)
    most = max(differing, key=lambda name: abs(math.log(gains[name])))
    if len({gains[name] > 1 for name in differing}) == 2:
        return words.say("beside.both_ways")
    key = "beside.faster" if gains[most] > 1 else "beside.slower"
    gain = max(gains[most], 1 / gains[most])
    values = {"name": label(words, experiment, most), "times": f"{gain:.2g}"}
    return words.say(key, values)


def _gain(experiment: Experiment[Any], value: ComparedValue) -> float | None:
    """Return how many times faster B is by a value, None if it is neither time nor rate."""
    units = {each.name: each.unit for each in experiment.values}
    unit = units.get(value.name, unit_of(value.name))
    assert value.a
    assert value.b
    if unit in TIMES or value.name.endswith(CYCLES):
        return value.a / value.b
    return value.b / value.a if unit in RATES else None
