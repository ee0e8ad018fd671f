"""The answers that a class votes on, and which of them was right."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.guesses import in_words
from app.lecture.lecture_state import LETTERS
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.lessons import Choice, Magnitude, Predict, Taught
from experiments.core.units import show, unit_of
from experiments.core.words import Words
from experiments.presentation.guesses.questions import Question

ROUND = (1.0, 2.0, 5.0, 10.0)  # what numbers are rounded to, before their power of ten


@dataclass(frozen=True, slots=True)
class Options:
    """A question with at most four answers; `numbers` are their values for a magnitude."""

    ask: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    value: str = ""  # of the run, which answers; "" where its lesson does

    def right(self, taught: Taught | None, run: LessonRun) -> int | None:
        """Return the number of the right answer; None where the run does not show it."""
        right: Any = None
        if self.value:
            right = run.values.get(self.value)
        elif taught is not None:
            right = taught.right_vote(run)
        if not isinstance(right, int | float) or not math.isfinite(right):
            return None
        if not self.numbers:
            return int(right) if 0 <= right < len(self.texts) else None
        if right <= 0:
            return None
        return min(range(len(self.numbers)), key=lambda n: abs(math.log(self.numbers[n] / right)))


def options_of(predict: Predict, words: Words) -> Options | None:
    """Return what a class can vote on; None for a prediction that needs a hand to draw it."""
    if isinstance(predict, Choice):
        texts = tuple(option.text for option in predict.options[: len(LETTERS)])
        return Options(predict.ask, texts)
    if isinstance(predict, Magnitude):
        numbers = spread(*predict.range)
        return Options(predict.ask, _about(words, numbers, unit_of(predict.answer)), numbers)
    return None


def options_of_guess(question: Question, words: Words) -> Options:
    """Return what a class votes on where a question of the ten guesses is asked."""
    texts = _about(words, question.vote, question.unit)
    return Options(in_words.ask(words, question), texts, question.vote, question.value)


def _about(words: Words, numbers: Iterable[float], unit: str) -> tuple[str, ...]:
    return tuple(words.say("lecture.about", {"value": show(each, unit)}) for each in numbers)


def spread(low: float, high: float) -> tuple[float, ...]:
    """Return four numbers from `low` to `high`, in equal steps on a logarithmic scale.

    They are chosen without the answer: each is rounded to 1, 2 or 5, and the nearest is right.
    """
    ratio = (high / low) ** (1 / (len(LETTERS) - 1))
    return tuple(dict.fromkeys(_rounded(low * ratio**step) for step in range(len(LETTERS))))


def _rounded(value: float) -> float:
    power = math.floor(math.log10(value))
    digit = min(ROUND, key=lambda each: abs(math.log(value / (each * 10.0**power))))
    return float(f"{digit:g}e{power}")
