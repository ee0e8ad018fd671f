"""A round of guesses: what was asked, guessed and true. No clock, no window, no process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from experiments.core.teaching.lessons import LIKELY, SHARP
from experiments.presentation.guesses.questions import Question

MISSES = 3  # so many lessons are offered at the end


class Source(StrEnum):
    """The origin of a true answer, the best first."""

    KEPT = "kept"  # an earlier run of this machine
    MEASURED = "measured"  # measured on this machine while the person thought
    RECORDED = "recorded"  # the recording that comes with the experiment: another machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A true answer in SI units; an `About` where other programs disturbed it."""

    value: float
    source: Source
    at: str = ""  # when it was measured, ISO-8601
    machine: str = ""  # the processor that it was measured on


class Mark(StrEnum):
    """The nearness of a guess."""

    SHARP = "sharp"
    RIGHT = "right"
    FAR = "far"


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its guess, None where it was skipped, and the true answer."""

    question: Question
    guess: float | None
    truth: Truth

    @property
    def factor(self) -> float:
        """The ratio of guess and truth, the larger to the smaller: 1 or more.

        It is 1 where the question was skipped.
        """
        if self.guess is None:
            return 1.0
        return max(self.guess / self.truth.value, self.truth.value / self.guess)

    @property
    def is_above(self) -> bool:
        """Is the guess greater than the truth?"""
        return self.guess is not None and self.guess > self.truth.value

    @property
    def mark(self) -> Mark | None:
        """The nearness of the guess; None where it was skipped."""
        if self.guess is None:
            return None
        if self.factor <= SHARP:
            return Mark.SHARP
        return Mark.RIGHT if self.factor <= LIKELY else Mark.FAR


class Round:
    """The questions of a round, each answered once and in order."""

    def __init__(self, questions: Sequence[Question]) -> None:
        assert questions
        self.questions = tuple(questions)
        self.answered: list[Answered] = []
        self._is_shown = False  # the answer of the last one is still looked at

    @property
    def is_begun(self) -> bool:
        """Was a question answered?"""
        return bool(self.answered)

    @property
    def shown(self) -> Answered | None:
        """The answer that is looked at, None while a question is open."""
        return self.answered[-1] if self._is_shown else None

    @property
    def question(self) -> Question | None:
        """The question that is open, None at the end and while an answer is looked at."""
        place = len(self.answered)
        return None if self._is_shown or place == len(self.questions) else self.questions[place]

    @property
    def place(self) -> int:
        """The number of the question that is open, or whose answer is looked at; from 1."""
        return len(self.answered) + (not self._is_shown)

    @property
    def is_over(self) -> bool:
        """Are all answered, and the last answer was looked at?"""
        return len(self.answered) == len(self.questions) and not self._is_shown

    def answer(self, guess: float | None, truth: Truth) -> Answered:
        """Answer the open question; None skips it."""
        question = self.question
        assert question is not None
        self.answered.append(Answered(question, guess, truth))
        self._is_shown = True
        return self.answered[-1]

    def go_on(self) -> None:
        """Go from an answer to the next question, or to the end."""
        self._is_shown = False

    def count(self, *marks: Mark) -> int:
        """Return how many guesses came so near."""
        return sum(each.mark in marks for each in self.answered)

    def misses(self) -> tuple[Answered, ...]:
        """Return the farthest guesses that were not sharp, each with a lesson of its own."""
        far = (each for each in self.answered if each.mark in (Mark.RIGHT, Mark.FAR))
        return _of_own_lessons(sorted(far, key=lambda each: each.factor, reverse=True))


def _of_own_lessons(answered: Iterable[Answered]) -> tuple[Answered, ...]:
    first: dict[str, Answered] = {}
    for each in answered:
        first.setdefault(each.question.lesson, each)
    return tuple(first.values())[:MISSES]
