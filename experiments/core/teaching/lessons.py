"""Lessons: the words of `lesson.en.toml`, and what the `lesson.py` beside it computes of a run.

The words name functions (`right`, `when`, `reached`), so that no expression is read from a file. A
function takes a `LessonRun`. Further functions are optional. `numbers(run, guess)` gives more
values for the texts. `predicted_range(machine)` and `predicted_points(machine)` set range and
points of a prediction, and `motion(run, pointed)` moves the drawing. `HELD_BACK` names the bars,
lines or lanes that a run shows last.
"""

from __future__ import annotations

import importlib
import math
import re
import tomllib
from collections.abc import Callable
from typing import Any

import msgspec

from experiments.core.declare import Experiment, specs
from experiments.core.judging.trust import Trust, as_trusted, is_told
from experiments.core.problems import UserError
from experiments.core.shelves import LESSON, Home
from experiments.core.teaching.diagram import Diagram, read_diagram
from experiments.core.teaching.lesson_run import Guess, LessonRun
from experiments.core.teaching.motion import Motion, Pointed
from experiments.core.units import Rounded, show, unit_of
from experiments.core.views import Lines
from experiments.core.words import asked, fill
from machine.convert import convert
from machine.model import Machine
from machine.record import Record

MODULE = "lesson"
LIKELY = 10.0  # the right order of magnitude
SHARP = 2.0
MOST_CODE_LINES = 12
GAP, MOST_GAPS = 12 * "_", 3  # what stands for a number on a worksheet, and how often
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


class _Text(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a lesson."""


class Option(_Text, frozen=True):
    """An answer to choose; a wrong answer is a belief that a person may hold."""

    text: str
    belief: str = ""


class Choice(_Text, frozen=True, tag_field="kind", tag="choice"):
    """Choose one answer; `right` returns the number of the right one."""

    ask: str
    options: tuple[Option, ...]
    right: str


class Magnitude(_Text, frozen=True, tag_field="kind", tag="magnitude"):
    """Set a number on a logarithmic scale; `answer` names the value that it is held against.

    Within a factor of `likely` a guess is right, within one of `sharp` it is sharp.
    """

    ask: str
    range: tuple[float, float]
    answer: str
    likely: float = LIKELY
    sharp: float = SHARP


class Sketch(_Text, frozen=True, tag_field="kind", tag="sketch"):
    """Drag points on the axes of a view.

    `right` takes the run and the points, and returns the heights there, None where not measured.
    """

    ask: str
    view: str
    points: tuple[float, ...]
    range: tuple[float, float]
    right: str
    likely: float = LIKELY
    sharp: float = SHARP


class Rank(_Text, frozen=True, tag_field="kind", tag="rank"):
    """Put items in order; `right` returns their numbers in the right one."""

    ask: str
    items: tuple[str, ...]
    right: str


class Marker(_Text, frozen=True, tag_field="kind", tag="marker"):
    """Put a mark on an axis; `answer` names the value that it is held against."""

    ask: str
    view: str
    range: tuple[float, float]
    answer: str
    likely: float = 1.5
    sharp: float = 1.1


Predict = Choice | Magnitude | Sketch | Rank | Marker


class Observe(_Text, frozen=True):
    """A question that a click on the plot of `view` answers; `right` returns the `Spot`."""

    ask: str
    hint: str
    view: str
    right: str


class Branch(_Text, frozen=True):
    """A text for where `when` holds, beside the usual text or, with its headline, in its place."""

    when: str
    text: str
    instead: bool = False
    headline: str = ""


class Misconception(_Text, frozen=True):
    """A common belief, and why it is wrong."""

    belief: str
    answer: str


class Confirm(_Text, frozen=True):
    """The view that confirms the explanation, and what to see there."""

    view: str
    text: str


class Transfer(_Text, frozen=True):
    """A question that another experiment answers."""

    ask: str
    to: str


class Explain(_Text, frozen=True):
    """The explanation.

    A learner who did not guess reads `headline` without its first sentence, or `headline_skipped`.
    `{opening}` in a text stands for the sentences that several texts begin with.
    """

    headline: str
    text: str
    misconception: Misconception
    confirm: Confirm
    why_not_double: str
    transfer: Transfer
    headline_skipped: str = ""
    opening: str = ""
    branches: tuple[Branch, ...] = ()


class Goal(_Text, frozen=True):
    """A task to try; `reached` says of a run whether it did.

    With `start` it is an exercise: only a copy's run beside the original can reach it. The copy may
    begin with the `start.py` that lies beside the lesson.
    """

    goal: str
    reached: str
    start: bool = False


class Source(_Text, frozen=True):
    """The source of a fact of the lesson."""

    fact: str
    source: str


class Lesson(_Text, frozen=True, rename={"goals": "try"}):
    """All words of a lesson.

    `vote` is what a class chooses among where `predict` needs a hand to draw it.
    """

    context: str
    predict: Predict
    observe: Observe
    explain: Explain
    goals: tuple[Goal, ...]
    sources: tuple[Source, ...]
    code: str = ""
    vote: Choice | None = None
    diagram: dict[str, str] = {}  # labels of the drawing; `about` says in a sentence what it shows
    motion: dict[str, str] = {}  # texts of the motion; `title` stands above it


class Mark(Record, kw_only=False):
    """A guess compared with the measured value."""

    is_right: bool
    is_sharp: bool
    off: float | None = None  # what was measured over what was said, where that is farthest from 1
    in_place: int | None = None  # of an order: how many items stood in their place


class Background(Record, kw_only=False):
    """The context and the code of a question; either may be ""."""

    context: str = ""
    code: str = ""


class Explained(Record, kw_only=False):
    """An explanation with the numbers of a run."""

    headline: str
    text: str
    beside: tuple[str, ...]  # what holds on this machine
    belief: str
    answer: str
    confirm: str
    why_not_double: str
    transfer: str


class Gap(Record, kw_only=False):
    """A sentence whose numbers are left out, and the whole sentence."""

    text: str
    answer: str


class Taught:
    """A lesson with its words and functions."""

    def __init__(
        self, words: Lesson, functions: Any, diagram: Diagram | None, unit: str = ""
    ) -> None:
        """Take what the folder of an experiment has; `unit` is that of a sketch's heights."""
        self.words, self.diagram, self._functions, self._unit = words, diagram, functions, unit

    @property
    def held_back(self) -> tuple[str, ...]:
        """The bars, lines or lanes that a run shows last, because they surprise."""
        held: tuple[str, ...] = getattr(self._functions, "HELD_BACK", ())
        return held

    @property
    def kind(self) -> Any:
        """The kind of its prediction, as a guess names it."""
        return kind_of(self.words.predict)

    def predict_on(self, machine: Machine | None) -> Predict:
        """Return what is asked on a machine, which may set its range and its points."""
        if machine is None:
            return self.words.predict
        names = ("range", "points")
        setters = {name: getattr(self._functions, f"predicted_{name}", None) for name in names}
        of_machine = {name: set_(machine) for name, set_ in setters.items() if set_ is not None}
        return msgspec.structs.replace(self.words.predict, **of_machine)

    @property
    def stands_on(self) -> Background:
        """The background of the question, the same on page, slide and handout."""
        return Background(_one_line(self.words.context), self.words.code.strip("\n"))

    def voted_on(self, machine: Machine | None) -> Predict:
        """Return what a class is asked on a machine."""
        return self.words.vote or self.predict_on(machine)

    def right_vote(self, run: LessonRun) -> Any:
        """Return what the votes of a class are held against; None if unknown."""
        vote = self.words.vote
        return self.call(vote.right, run) if vote is not None else self.right(run)

    def accepts(self, guess: Guess) -> bool:
        """Is it an answer to this question? One may be older than the lesson."""
        predict, count = self.words.predict, 1
        if isinstance(predict, Choice):
            return guess.kind == self.kind and guess.at in [
                (float(place),) for place in range(len(predict.options))
            ]
        if isinstance(predict, Rank):
            return guess.kind == self.kind and sorted(guess.at) == [*range(len(predict.items))]
        if isinstance(predict, Sketch):
            count = len(predict.points)
        is_whole = guess.kind == self.kind and len(guess.at) == count
        return is_whole and all(0 < each < math.inf for each in guess.at)

    def call(self, name: str, *given: Any) -> Any:
        """Return what a function of the lesson says."""
        function: Callable[..., Any] = getattr(self._functions, name)
        return function(*given)

    def values(self, run: LessonRun, guess: Guess | None) -> dict[str, Any]:
        """Return all that the texts may name: values of the run, numbers, and the guess."""
        numbers = getattr(self._functions, "numbers", None)
        named = {**run.values, **(numbers(run, guess) if numbers else {})}
        named = as_trusted(named, run.trust)
        if guess is not None:
            named["guess"] = self.told(guess)
        return named

    def told(self, guess: Guess) -> str:
        """Return a guess in words."""
        predict = self.words.predict
        if isinstance(predict, Choice):
            return predict.options[int(guess.at[0])].text
        if isinstance(predict, Magnitude | Marker):
            return show(guess.at[0], unit_of(predict.answer))
        if isinstance(predict, Rank):
            return ", ".join(predict.items[int(each)] for each in guess.at)
        return ", ".join(show(each, self._unit) for each in guess.at)

    def right(self, run: LessonRun) -> Any:
        """Return what the guess is held against: a number, heights or an order; None if unknown."""
        predict = self.predict_on(run.machine)
        if isinstance(predict, Magnitude | Marker):
            return self.values(run, None).get(predict.answer)
        if isinstance(predict, Sketch):
            return self.call(predict.right, run, predict.points)
        return self.call(predict.right, run)

    def told_right(self, run: LessonRun) -> str:
        """Return what was measured in the words of a guess, "" where that is unknown."""
        right = self.right(run)
        if right is None:
            return ""
        if isinstance(self.words.predict, Sketch):
            return ", ".join("–" if each is None else show(each, self._unit) for each in right)
        at = right if isinstance(self.words.predict, Rank) else (right,)
        return self.told(Guess(kind=self.kind, at=tuple(map(float, at))))

    def judge(self, guess: Guess, run: LessonRun) -> Mark | None:
        """Hold a guess against what was measured; None where that is unknown."""
        if run.trust is Trust.DISTURBED:
            return None
        predict, right = self.words.predict, self.right(run)
        if right is None:
            return None
        if isinstance(predict, Choice):
            return Mark(is_right := list(guess.at) == [right], is_right)
        if isinstance(predict, Rank):
            in_place = sum(one == other for one, other in zip(guess.at, right, strict=True))
            return Mark(is_right := list(guess.at) == list(right), is_right, in_place=in_place)
        pairs = zip(guess.at, right if isinstance(predict, Sketch) else [right], strict=True)
        ratios = [measured / said for said, measured in pairs if measured is not None]
        if not ratios:
            return None
        off = max(ratios, key=_factor)
        return Mark(_factor(off) <= predict.likely, _factor(off) <= predict.sharp, off)

    def motion(self, run: LessonRun, pointed: Pointed | None = None) -> Motion | None:
        """Return what moves, with the times of a run; None where nothing does, or none is known."""
        moves = getattr(self._functions, "motion", None)
        return moves(run, pointed) if moves is not None else None

    def motion_texts(self, run: LessonRun) -> dict[str, str]:
        """Return the texts of the motion with the numbers of a run."""
        values = _rounded(self.values(run, None))
        return {key: fill(_one_line(text), values) for key, text in self.words.motion.items()}

    def explain(self, run: LessonRun, guess: Guess | None) -> Explained | None:
        """Return the explanation of a run; None where it cannot tell, or a number is missing."""
        if not is_told(run.message, run.trust):
            return None
        explain, values = self.words.explain, _rounded(self.values(run, guess))
        headline, text, beside = self._chosen(run, guess)
        told = [
            fill(each, values)
            for each in (
                headline,
                text,
                explain.misconception.belief,
                explain.misconception.answer,
                explain.confirm.text,
                explain.why_not_double,
                explain.transfer.ask,
                *beside,
            )
        ]
        if any("{" in text for text in told):
            return None
        head, text, belief, answer, confirm, why, transfer, *rest = map(_one_line, told)
        return Explained(head, text, tuple(rest), belief, answer, confirm, why, transfer)

    def gaps(self, run: LessonRun) -> tuple[Gap, ...]:
        """Return sentences of the explanation to fill in, with at most MOST_GAPS numbers in all.

        None where the run cannot tell.
        """
        if not is_told(run.message, run.trust):
            return ()
        values = _rounded(self.values(run, None))
        numbers = {name for name, value in values.items() if is_number(value)}
        left_out = values | dict.fromkeys(numbers, GAP)
        headline, text, beside = self._chosen(run, None)
        found: list[Gap] = []
        seen: set[str] = set()
        for sentence in _SENTENCE.split(_one_line(" ".join((headline, text, *beside)))):
            names = numbers.intersection(asked(sentence))
            if names - seen and len(seen | names) <= MOST_GAPS:
                found.append(Gap(fill(sentence, left_out), fill(sentence, values)))
                seen |= names
        return tuple(found)

    def _chosen(self, run: LessonRun, guess: Guess | None) -> tuple[str, str, list[str]]:
        """Return the headline, the text and the remarks that suit a run, without its numbers."""
        explain = self.words.explain
        held = [each for each in explain.branches if self.call(each.when, run)]
        instead = next((each for each in held if each.instead), None)
        skipped = explain.headline_skipped or _SENTENCE.split(explain.headline, maxsplit=1)[-1]
        usual = skipped if guess is None else explain.headline
        beside = [each.text for each in held if not each.instead]
        if instead is None:
            return usual, explain.text, beside
        return instead.headline or usual, instead.text, beside


def kind_of(predict: Predict) -> Any:
    """Return the kind of a prediction, as it stands in the lesson's file."""
    return predict.__struct_config__.tag


def taught(experiment: Experiment[Any], home: Home) -> Taught | None:
    """Return the lesson in an experiment's folder; None where none is written. Raises UserError."""
    if not home.has_lesson:
        return None
    try:
        tree = tomllib.loads((home.folder / LESSON).read_text(encoding="utf-8"))
        explain = tree.get("explain")
        opening = explain.get("opening", "") if isinstance(explain, dict) else ""
        words = convert(_opened(tree, opening), Lesson)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, OSError) as error:
        raise UserError("lesson_unreadable", id=experiment.id, reason=str(error)) from None
    package, _, _ = home.module.rpartition(".")
    functions = importlib.import_module(f"{package}.{MODULE}")
    if lacking := [name for name in _named(words) if not hasattr(functions, name)]:
        reason = f"lesson.py has no {', '.join(lacking)}"
        raise UserError("lesson_unreadable", id=experiment.id, reason=reason)
    return Taught(words, functions, read_diagram(home.folder), _unit(experiment, words.predict))


def _opened(tree: Any, opening: str) -> Any:
    """Return the texts of a lesson with the sentences that several begin with in their place."""
    match tree:
        case dict():
            return {key: _opened(branch, opening) for key, branch in tree.items()}
        case list():
            return [_opened(branch, opening) for branch in tree]
        case str():
            return tree.replace("{opening}", str(opening))
    return tree


def _factor(ratio: float) -> float:
    """Return how many times apart two numbers are, whichever is larger."""
    return max(ratio, 1 / ratio)


def _unit(experiment: Experiment[Any], predict: Predict) -> str:
    """Return the unit of what is drawn in a sketch."""
    for view in experiment.plots:
        if isinstance(predict, Sketch) and isinstance(view, Lines) and view.key == predict.view:
            return specs(experiment.tables[view.table])[view.y.column].unit
    return ""


def _named(words: Lesson) -> list[str]:
    """Return the functions that the words name."""
    right = getattr(words.predict, "right", None)
    named = [words.observe.right, *([right] if right else [])]
    named += [words.vote.right] if words.vote is not None else []
    named += [branch.when for branch in words.explain.branches]
    return named + [goal.reached for goal in words.goals]


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Return values as a text says them, in two digits; sizes in bytes are exact."""
    return {
        name: Rounded(value) if type(value) is float and unit_of(name) != "bytes" else value
        for name, value in values.items()
    }


def is_number(value: object) -> bool:
    """Return whether a text shows this value as a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_line(text: str) -> str:
    return " ".join(text.split())
