"""The samples of the sustained load, as rows and views that every plot can draw.

The trace of a checkup stands for a run: clocks, temperatures and watts of the processor and of each
GPU over time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from app.checkup.in_words import part_name
from experiments import api as x
from experiments.checkup.probes.sustained.experiment import EXPERIMENT as SUSTAINED
from experiments.core.words import Words

Trace = Sequence[Mapping[str, Any]]  # entries of experiments.checkup.result.Result.trace


class Params(x.Params):
    """A trace is looked at: nothing is set."""


class Clock(x.Row):
    """The clock of a part at a time."""

    t_s: float
    part: str
    clock_hz: float


class Heat(x.Row):
    """Its temperature."""

    t_s: float
    part: str
    heat_celsius: float


class Power(x.Row):
    """Its power."""

    t_s: float
    part: str
    power_watts: float


# By the end of a name in a trace: the table, and its column.
TABLES: Mapping[str, tuple[type[Any], str]] = {
    "hz": (Clock, "clock_hz"),
    "celsius": (Heat, "heat_celsius"),
    "watts": (Power, "power_watts"),
}
VIEWS = tuple(
    x.Lines(column, name, x.Axis("t_s"), x.Axis(column), series="part")
    for name, (_, column) in TABLES.items()
)
EXPERIMENT = replace(
    SUSTAINED,
    params=Params,
    tables={name: table for name, (table, _) in TABLES.items()},
    views=VIEWS,
)
_NAME = re.compile(rf"(gpu\d+|cpu|core)_({'|'.join(TABLES)})")


def seen(words: Words, trace: Trace, view: x.Lines) -> list[Any]:
    """Return the rows of a view of a trace, in the order of its parts."""
    table, column = TABLES[view.table]
    names = dict.fromkeys(name for entry in trace for name in entry)
    return [
        table(t_s=t_s, part=_part(words, found[1]), **{column: value})
        for name in names
        if (found := _NAME.fullmatch(name)) and found[2] == view.table
        for entry in trace
        for t_s, value in _numbers(entry, name)
    ]


def _part(words: Words, name: str) -> str:
    said = part_name(words, "cpu" if name == "core" else name)
    return said[:1].upper() + said[1:]


def _numbers(entry: Mapping[str, Any], name: str) -> Iterator[tuple[float, float]]:
    """Yield time and value; a stranger's file may hold anything."""
    told = entry.get("t_s"), entry.get(name)
    if all(isinstance(each, int | float) and math.isfinite(each) for each in told):
        yield float(told[0] or 0.0), float(told[1] or 0.0)
