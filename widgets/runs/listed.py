"""One run as the list shows and sorts it, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a run: its name, its text, and its value."""

    label: str
    shown: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One row of the list. With a `problem` its file is damaged and the rest is empty."""

    key: str  # identifies the run
    at: str  # ISO-8601
    when: str = ""
    exact: str = ""  # date and time to the second
    title: str = ""  # its name, otherwise the question of its experiment
    question: str = ""  # if the title is a name
    machine: str = ""
    kind: str = ""  # quick or full
    settings: Sequence[str] = ()  # the parameters that differ from the defaults
    all_settings: Sequence[str] = ()
    results: Sequence[Result] = ()
    finding: str = ""
    ending: str = ""  # how it ended, in a word, if it was not completed
    is_troubled: bool = False  # it ended against the user's will
    note: str = ""
    tags: Sequence[str] = ()
    is_pinned: bool = False
    problem: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether the line below its title is empty."""
        return not (self.ending or self.tags or self.question or self.note)

    @property
    def words(self) -> str:
        """All its texts in lower case, for the search."""
        parts = (
            self.title, self.question, self.when, self.exact, self.machine, self.kind,
            *self.settings, self.finding, self.ending, self.note, *self.tags, self.problem,
            *(f"{each.label} {each.shown}" for each in self.results), self.key,
        )  # fmt: skip
        return " ".join(parts).lower()
