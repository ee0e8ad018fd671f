"""How far a run is to be trusted: what disturbed it, and its badge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.core.disturbed import MOSTLY_DISTURBED
from experiments.core.words import Words
from experiments.engine import messages

DISTURBANCES = ("machine_was_busy", "time_was_stolen")  # notes of what makes a run doubtful


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """How far a whole run is to be trusted."""

    kind: Literal["solid", "quick", "disturbed"]
    name: str
    beside: str  # how many rounds there were, and how many samples were repeated
    reason: str


def disturbance(
    words: Words,
    finding: messages.FindingSent,
    notes: Sequence[messages.Note],
    *,
    is_most: bool = False,
) -> str:
    """Return what disturbed a run so much that its result may be off, "" for nothing.

    `is_most`: most of its samples were disturbed.
    """
    for note in notes:
        if note.key in DISTURBANCES:
            return words.say(f"because.{note.key}", note.values)
    is_most |= finding.message == MOSTLY_DISTURBED
    return words.say(f"because.{MOSTLY_DISTURBED}") if is_most else ""


def badge_of(words: Words, cause: str, doubts: Sequence[str], *, quick: bool, beside: str) -> Badge:
    """Return the badge of a whole run; `cause` is what disturbed it."""
    kind: Literal["solid", "quick", "disturbed"] = "quick" if quick else "solid"
    reason = tuple(doubts) if quick else (words.say("badges.solid_why"), *doubts)
    if cause:
        kind, reason = "disturbed", (cause, *doubts)
    name = words.say(f"badges.{kind}")
    return Badge(kind=kind, name=name, beside=beside, reason=" ".join(reason))


def doubts_of(words: Words, *, quick: bool, disturbed: int) -> Iterator[str]:
    """Yield that a run was quick, and how many of its samples were disturbed."""
    if quick:
        yield words.say("outcomes.quick")
    if disturbed:
        key = "one_disturbed" if disturbed == 1 else "disturbed"
        yield words.say(f"outcomes.{key}", {"count": disturbed})


def counted(words: Words, tables: Mapping[str, Sequence[Any]], disturbed: int) -> str:
    """Return how many rounds there were, and how many samples were repeated."""
    rounds = max((len(_rounds(rows)) for rows in tables.values()), default=0)
    counts = (
        ("badges.one_round", "badges.rounds", rounds),
        ("badges.one_repeat", "badges.repeats", disturbed),
    )
    said = (words.say(one if n == 1 else more, {"count": n}) for one, more, n in counts if n)
    return ", ".join(said)


def _rounds(rows: Sequence[Any]) -> set[object]:
    return {row.repeat for row in rows if hasattr(row, "repeat")}
