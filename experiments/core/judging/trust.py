"""Trust in a run: how much others took of the processors, held against its finding.

Suppose other programs or the host took a fraction b of the processors. Everything that they share
with the run (memory, the last cache, the clock, sibling threads) was then slower. The factor is
unknown, but at most about 1 / (1 - b). An effect stands if its interval lies beyond that
(`comparing.held`), or if the load worked against it. A count that load cannot make stands by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from experiments.core.declare import Finding
from experiments.core.judging.comparing import beside_load
from experiments.core.judging.disturbed import MOSTLY_DISTURBED
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW
from experiments.core.units import About, unit_of

UNTOLD = (CANNOT_TELL, TOO_FEW, MOSTLY_DISTURBED)  # messages that explain nothing
UNCLEAR = "unclear"  # in the name of a message: a part of it cannot be told
# The notes that doubt a run, and what each says of the processors.
DOUBTS = ("machine_was_busy", "time_was_stolen")
TAKEN = ("others_fraction", "stolen_fraction")
MOST_TAKEN = 0.95  # beyond it the factor says nothing
# What load changes; counts, sizes and settings it does not.
CHANGED = frozenset({"s", "ratio", "hz", "per_s", "bytes/s", "flop/s", "watts"})


class Trust(StrEnum):
    """The trust in a finding."""

    SOLID = "solid"  # everything claimed stands
    BUSY = "busy"  # the effects stand, their sizes may be off
    DISTURBED = "disturbed"  # what was asked cannot be told


class Noted(Protocol):
    """A note of a run."""

    @property
    def key(self) -> str:
        """The key of its words."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Its numbers."""


N = TypeVar("N", bound=Noted)


def doubt(notes: Iterable[N]) -> N | None:
    """Return the note that doubts a run, None where the machine was quiet."""
    return next((note for note in notes if note.key in DOUBTS), None)


def taken_fraction(notes: Iterable[Noted]) -> float:
    """Return the fraction of the processors that others took, 0 where the machine was quiet."""
    note = doubt(notes)
    told = [note.values.get(name) for name in TAKEN] if note is not None else []
    return min(MOST_TAKEN, sum(max(0.0, each) for each in told if isinstance(each, int | float)))


def slowed(taken: float) -> float:
    """Return how many times slower a shared part was at most, where others took that fraction."""
    return 1 / (1 - taken)


def weigh(analyse: Callable[[], Finding], taken: float) -> tuple[Finding, Trust]:
    """Return what `analyse` may claim beside that load, and how far it is to be trusted."""
    with beside_load(slowed(taken)):
        found = analyse()
    message = getattr(found, "message", "")  # that of a user's own may return anything
    if message == MOSTLY_DISTURBED or (taken and message in UNTOLD):
        return found, Trust.DISTURBED
    return found, Trust.BUSY if taken else Trust.SOLID


def first_words(trust: Trust, notes: Iterable[Noted]) -> tuple[str, Mapping[str, Any]] | None:
    """Return what is said first of a run, as key and values; None where all of it stands.

    A finding that stands comes with the bound of the slowdown. The bound holds for "the same", too.
    """
    if trust is Trust.SOLID:
        return None
    note = doubt(notes)
    if note is None:
        return f"{'stands' if trust is Trust.BUSY else 'because'}.{MOSTLY_DISTURBED}", {}
    if trust is not Trust.BUSY:
        return f"because.{note.key}", note.values
    most = About(slowed(taken_fraction(notes)))
    return f"stands.{note.key}", {**note.values, "most_slowdown": most}


def as_trusted(
    values: Mapping[str, Any], trust: Trust, units: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return values as they may be said: those of a busy run that load changes, with "about".

    `units` are those that are declared; others follow from the name.
    """
    if trust is not Trust.BUSY:
        return dict(values)
    declared = {name: unit_of(name) for name in values} | dict(units or {})
    return {
        name: About(value) if isinstance(value, float) and declared[name] in CHANGED else value
        for name, value in values.items()
    }


def is_told(message: str, trust: Trust, among: Collection[str] = UNTOLD) -> bool:
    """Does a finding answer what was asked?"""
    return trust is not Trust.DISTURBED and message not in among


def leaves_open(message: str, trust: Trust) -> bool:
    """Does a finding leave something open that more rounds may settle: all of it, or a part?

    A message says by its name that a part is unclear.
    """
    return not is_told(message, trust) or UNCLEAR in message.split("_")
