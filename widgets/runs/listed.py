"""What does the list of runs know of one? Words and numbers, ready to be shown and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """One number that a run found: what it is called, how it is shown, and its value."""

    label: str
    shown: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One line of the list. With a `problem` its file is damaged, and the rest is empty."""

    key: str  # names the run among all others
    at: str  # ISO-8601
    when: str = ""
    exact: str = ""  # the moment to the second
    title: str = ""  # the name that somebody gave it, or the question of its experiment
    question: str = ""  # where the title is a name
    machine: str = ""
    kind: str = ""  # quick or full
    settings: Sequence[str] = ()  # the parameters that are not as they would be by themselves
    all_settings: Sequence[str] = ()
    results: Sequence[Result] = ()
    finding: str = ""
    ending: str = ""  # how it ended, in a word, if it was not completed
    is_troubled: bool = False  # it did not end by the will of its user
    note: str = ""
    tags: Sequence[str] = ()
    is_pinned: bool = False
    problem: str = ""

    @property
    def is_bare(self) -> bool:
        """Is there nothing to say below its title?"""
        return not (self.ending or self.tags or self.question or self.note)

    @property
    def words(self) -> str:
        """All that is shown of it, in lower case, for a search."""
        parts = (
            self.title, self.question, self.when, self.exact, self.machine, self.kind,
            *self.settings, self.finding, self.ending, self.note, *self.tags, self.problem,
            *(f"{each.label} {each.shown}" for each in self.results), self.key,
        )  # fmt: skip
        return " ".join(parts).lower()
