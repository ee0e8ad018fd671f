"""Measured numbers of the parts of a machine, and the experiments that measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.core.declare import Part

COMPARING = frozenset({"", "ratio", "fraction"})  # units of numbers that compare parts
INSIDE_A_CORE = (Part.FRONT_END, Part.PORTS, Part.TRANSLATION, Part.FILL_BUFFERS)
RATES = {  # of computing parts, where a time belongs to some task
    Part.CORES: frozenset({"flop/s"}),
    Part.GPU: frozenset({"flop/s", "bytes/s"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValue:
    """A number that was measured on this machine, in words."""

    label: str  # with the settings of the run if they were unusual
    text: str  # "1.41 ns"
    when: str  # "3 minutes ago"
    experiment: str
    unit: str = ""
    is_quick: bool = False
    is_rough: bool = False  # measured beside other programs
    about: str = ""  # what was timed or counted


def is_of_part(part: Part | None, unit: str) -> bool:
    """Return whether a number of this unit describes the part alone, not an experiment."""
    if part in INSIDE_A_CORE:  # counts and shares describe them
        return unit != "ratio"
    return unit in RATES[part] if part in RATES else unit not in COMPARING


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An experiment about a part, and its question.

    `fills`: it measures numbers of the part; the `missing` ones have not been measured yet.
    `heads`: one of them may stand at the part's title. `lack`: what it lacks here, or "".
    """

    experiment: str
    question: str
    fills: bool = True
    heads: bool = True
    lack: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Numbers and experiments by part; `possible` counts also the numbers still to be measured."""

    values: Mapping[Part, Sequence[KnownValue]] = field(default_factory=dict)
    invitations: Mapping[Part, Sequence[Invitation]] = field(default_factory=dict)
    possible: Mapping[Part, int] = field(default_factory=dict)
