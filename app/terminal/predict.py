"""`coreopsis run ID --predict`: asks for a prediction, and explains the run afterwards."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from rich.padding import Padding
from rich.text import Text

from app.context import Context
from app.evidence import Evidence, evidence_of, evidence_of_recording, shipped
from app.loaded_run import LoadedRun
from experiments.core.declare import Experiment
from experiments.core.teaching.lesson_run import Guess, lesson_run
from experiments.core.teaching.lessons import Choice, Rank, Sketch, Taught
from experiments.core.units import show, unit_of
from experiments.core.views import Lines
from experiments.engine import messages
from machine.model import Machine

_TIMES = {"ps": 1e-12, "ns": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_COUNTS = {**_PREFIXES, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_UNITS: Mapping[str, Mapping[str, float]] = {  # by the unit of the answer, "" for all others
    "s": _TIMES,
    "per_s": _COUNTS | {f"{name}/s": factor for name, factor in _COUNTS.items()},
    "bytes/s": _COUNTS
    | {f"{name}B{end}": factor for name, factor in _PREFIXES.items() for end in ("", "/s")},
    "": {**_TIMES, "%": 0.01, "×": 1.0, "x": 1.0},
}
_NUMBER = re.compile(r"(\d{1,15}(?:[.,]\d{1,9})?(?:[eE][+-]?\d{1,3})?)\s*(\S*)")
LETTERS = "ABCDEFGHIJ"
T = TypeVar("T")


class EndOfInput(Exception):
    """There is nothing more to read: the input has ended, or its terminal has closed."""


class Lesson:
    """The lesson of one experiment in the terminal."""

    def __init__(self, context: Context, experiment: Experiment[Any], lesson: Taught) -> None:
        self._context, self._experiment, self._lesson = context, experiment, lesson

    def ask(self, machine: Machine) -> Guess | None:
        """Ask for a prediction and how sure it is; None if it is skipped or gets no answer.

        It is about the machine whose numbers will be shown.
        """
        self._show_question()
        predict = self._lesson.predict_on(machine)
        if isinstance(predict, Choice):
            self._list(option.text for option in predict.options)
            at = self._choice(len(predict.options))
        elif isinstance(predict, Rank):
            self._list(predict.items)
            at = self._order(len(predict.items))
        elif isinstance(predict, Sketch):
            at = self._heights(predict)
        else:
            unit = unit_of(predict.answer)
            at = self._number("lesson.guess", predict.range, unit)
        if at is None:
            self._say("lesson.skipped")
            return None
        return Guess(kind=self._lesson.kind, at=at, sure=self._sure())

    def explain(
        self,
        guess: Guess | None,
        params: Any,
        tables: Mapping[str, Sequence[Any]],
        finding: messages.FindingSent | None,
    ) -> None:
        """Print the explanation of a run, with its numbers."""
        context, lesson = self._context, self._lesson
        run = finding and lesson_run(params, tables, context.machine, finding)
        read = partial(shipped, context.catalogue, self._experiment)
        self._tell(evidence_of(context.words, lesson, run, guess, read) if run else None)

    def explain_recording(self, guess: Guess | None, recorded: LoadedRun, why: str) -> None:
        """Print the explanation of a recording that took the place of a run."""
        words = self._context.words
        self._tell(evidence_of_recording(words, self._lesson, recorded, guess, why))

    def _tell(self, found: Evidence | None) -> None:
        context, lesson, experiment = self._context, self._lesson, self._experiment
        print_, say = context.console.print, context.words.say
        print_()
        if found is None:
            self._say("lesson.cannot_tell")
            return
        if found.band:
            print_(Text(found.why))
            print_(Text(found.band, style="bold reverse"))
        told, explain = found.explained, lesson.words.explain
        print_(Text(told.headline, style="bold"))
        print_()
        view = say(f"{experiment.id}.views.{explain.confirm.view}")
        for text in (
            told.text,
            *told.beside,
            say("lesson.belief", {"belief": told.belief, "answer": told.answer}),
            say("lesson.confirm", {"view": view, "text": told.confirm}),
            told.why_not_double,
            say("lesson.next", {"ask": told.transfer, "to": explain.transfer.to}),
        ):
            print_(Text(text))
            print_()

    def _show_question(self) -> None:
        words, print_ = self._lesson.words, self._context.console.print
        print_(Text(self._context.words.say(f"{self._experiment.id}.question"), style="bold"))
        print_(Text(words.context))
        if words.code:
            print_(Padding(Text(words.code.strip("\n"), style="dim"), (1, 0, 1, 4)))
        print_(Text(words.predict.ask))

    def _list(self, texts: Any) -> None:
        for letter, text in zip(LETTERS, texts, strict=False):
            self._context.console.print(Text(f"  {letter}  {text}"))

    def _choice(self, count: int) -> tuple[float, ...] | None:
        letters = LETTERS[:count]

        def read(text: str) -> tuple[float, ...] | None:
            place = letters.find(text.upper()) if len(text) == 1 else -1
            return None if place < 0 else (place,)

        asked = self._context.words.say("lesson.choose", {"letters": ", ".join(letters)})
        return self._answer(asked, read, letters[0])

    def _order(self, count: int) -> tuple[float, ...] | None:
        letters = LETTERS[:count]

        def read(text: str) -> tuple[float, ...] | None:
            typed = re.sub(r"[\s,]", "", text.upper())
            is_all = sorted(typed) == sorted(letters)
            return tuple(map(letters.index, typed)) if is_all else None

        asked = self._context.words.say("lesson.order", {"example": letters[::-1]})
        return self._answer(asked, read, letters[::-1])

    def _heights(self, predict: Sketch) -> tuple[float, ...] | None:
        views = (view for view in self._experiment.plots if isinstance(view, Lines))
        view = next(view for view in views if view.key == predict.view)
        unit = unit_of(view.y.column)
        heights: list[float] = []
        for point in predict.points:
            place = show(point, unit_of(view.x.column))
            found = self._number("lesson.guess_at", predict.range, unit, place=place)
            if found is None:
                return None
            heights += found
        return tuple(heights)

    def _number(
        self, key: str, limits: tuple[float, float], unit: str, **values: str
    ) -> tuple[float, ...] | None:
        low, high = (show(limit, unit) for limit in limits)

        def read(text: str) -> tuple[float, ...] | None:
            number = read_number(text, limits, unit)
            return None if number is None else (number,)

        asked = self._context.words.say(key, {"low": low, "high": high, **values})
        return self._answer(asked, read, low)

    def _sure(self) -> int | None:
        asked = self._context.words.say("lesson.sure")
        at = self._answer(
            asked, lambda text: (int(text),) if text in ("1", "2", "3") else None, "1"
        )
        return None if at is None else int(at[0])

    def _answer(
        self, asked: str, read: Callable[[str], tuple[float, ...] | None], example: str
    ) -> tuple[float, ...] | None:
        """Ask until an answer can be read; None for an empty one, and at the end of the input."""
        try:
            return answer(self._context, asked, read, example)
        except EndOfInput:
            return None

    def _say(self, key: str, **values: str) -> None:
        self._context.console.print(Text(self._context.words.say(key, values)))


def read_number(text: str, limits: tuple[float, float], unit: str) -> float | None:
    """Return a typed number in the SI `unit`, such as 2 for "2000 ms".

    None for what is no such number, or lies beyond the limits.
    """
    units = _UNITS.get(unit, _UNITS[""])
    found = _NUMBER.fullmatch(text)
    if found is None or (found[2] and found[2] not in units):
        return None
    number = float(found[1].replace(",", ".")) * units.get(found[2], 1.0)
    return number if limits[0] <= number <= limits[1] else None


def answer(context: Context, asked: str, read: Callable[[str], T | None], example: str) -> T | None:
    """Ask until an answer can be read; None for an empty line. Raises EndOfInput."""
    while True:
        context.console.print(Text(asked))
        if not (text := _typed()):
            return None
        if (found := read(text)) is not None:
            return found
        context.console.print(Text(context.words.say("lesson.again", {"example": example})))


def _typed() -> str:
    """Return the next line of the input. Raises EndOfInput."""
    try:
        line = sys.stdin.readline()
    except (AttributeError, OSError, ValueError):  # there is none, it is closed, or no text
        line = ""
    if not line:
        raise EndOfInput
    return line.strip()


def lesson_of(context: Context, experiment: Experiment[Any]) -> Lesson | None:
    """Return the lesson of an experiment; None, and says why, where there is none."""
    if (why := context.catalogue.lacks_lesson(experiment)) is not None:
        context.console.print(Text(context.sentence(why)))
    found = context.catalogue.lesson(experiment)
    return None if found is None else Lesson(context, experiment, found)
