"""The words that the sheet of ten guesses shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.teaching.lessons import Magnitude
from experiments.core.views import Ruler


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """A button that opens the experiment which explains an answer."""

    text: str
    experiment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question; `predict` has its text and its slider."""

    place: str  # "3 of 10"
    predict: Magnitude


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer of a question, with the guess in SI units, None where it was skipped."""

    guess: float | None
    truth: float
    answer: str
    verdict: str
    is_right: bool  # within a factor of ten
    because: str
    source: str
    is_of_another: bool  # the answer is of another machine
    why: Why
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a round: true answers and guesses as pins of a ruler."""

    score: str
    experiment: Experiment[Any]  # has the table and the words of the ruler
    ruler: Ruler
    truths: Sequence[Any]  # rows of that table
    guesses: Sequence[Any]
    remark: str
    misses: Sequence[Why]
