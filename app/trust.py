"""The words of a run's trust (experiments/core/judging/trust.py): the first line, and the badge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.core.judging.disturbed import MOSTLY_DISTURBED
from experiments.core.judging.statistics import TOO_FEW
from experiments.core.judging.trust import Trust, first_words
from experiments.core.words import Words
from experiments.engine import messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """The degree to which a whole run can be trusted."""

    kind: Literal["solid", "quick", "busy", "disturbed"]
    name: str
    beside: str  # how many rounds there were, and how many samples were repeated
    reason: str


def first_line(words: Words, trust: Trust, notes: Sequence[messages.Note]) -> str:
    """Return who was busy meanwhile and what that means for the result, "" for nothing."""
    first = first_words(trust, notes)
    return words.say(*first) if first is not None else ""


def badge_of(
    words: Words,
    finding: messages.FindingSent,
    cause: str,
    doubts: Sequence[str],
    *,
    quick: bool,
    beside: str,
) -> Badge:
    """Return the badge of a whole run; `cause` is its first line."""
    kind: Literal["solid", "quick", "busy", "disturbed"] = "quick" if quick else "solid"
    reason = tuple(doubts) if quick else (words.say("badges.solid_why"), *doubts)
    if finding.trust is not Trust.SOLID:
        kind = "busy" if finding.trust is Trust.BUSY else "disturbed"
        why = "few_left" if finding.message in (MOSTLY_DISTURBED, TOO_FEW) else kind
        reason = (cause, words.say(f"badges.{why}_why"), *doubts)
    name = words.say(f"badges.{kind}")
    return Badge(kind=kind, name=name, beside=beside, reason=" ".join(reason))


def doubts_of(words: Words, *, quick: bool, disturbed: int) -> Iterator[str]:
    """Yield that a run was quick, and how many of its samples were disturbed."""
    if quick:
        yield words.say("outcomes.quick")
    if disturbed:
        yield words.say("outcomes.disturbed", {"count": disturbed})


def counted(words: Words, tables: Mapping[str, Sequence[Any]], disturbed: int) -> str:
    """Return how many rounds there were, and how many samples were repeated."""
    of_tables = ({row.repeat for row in rows if hasattr(row, "repeat")} for rows in tables.values())
    rounds = max(map(len, of_tables), default=0)
    counts = {"badges.rounds": rounds, "badges.repeats": disturbed}
    return ", ".join(words.say(key, {"count": count}) for key, count in counts.items() if count)
