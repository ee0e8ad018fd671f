"""One run as the list shows and sorts it, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a run: its name, its text, and its value."""

    label: str
    shown: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A prediction before a run and the measured answer, in words.

    If the run has no clear answer, `right`, `was` and `verdict` are empty.
    """

    guess: str  # such as "14×"
    said: str  # such as "said 14×"
    right: str = ""  # such as "158×"
    was: str = ""  # such as "was 158×"
    verdict: str = ""  # "hit" or "off", in words
    miss: str = ""  # such as "11 times too low"
    counts: str = ""  # what counts as a hit, in a sentence
    is_surprise: bool = False  # off, and said with confidence

    @property
    def judged(self) -> str:
        """The verdict, and by how much the guess missed."""
        return " · ".join(filter(None, (self.verdict, self.miss)))


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
    prediction: Prediction | None = None
    marks: Sequence[str] = ()  # words for what is drawn as a sign, such as the pin
    words: str = field(init=False)  # all its texts in lower case, for the search

    def __post_init__(self) -> None:
        """Join the texts once, in the thread that makes the run."""
        guess = self.prediction
        parts = (
            self.title, self.question, self.when, self.exact, self.machine, self.kind,
            *self.settings, self.finding, self.ending, self.note, *self.tags, self.problem,
            *(f"{each.label} {each.shown}" for each in self.results), *self.marks,
            *((guess.said, guess.was, guess.judged) if guess is not None else ()), self.key,
        )  # fmt: skip
        object.__setattr__(self, "words", " ".join(parts).lower())

    @property
    def is_bare(self) -> bool:
        """Return whether the line below its title is empty."""
        return not (self.ending or self.tags or self.question or self.note)

    @property
    def is_surprise(self) -> bool:
        """Was its prediction confident, and clearly off?"""
        return self.prediction is not None and self.prediction.is_surprise
