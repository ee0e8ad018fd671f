"""Holds the predictions of runs against what they measured; that reads their files."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable
from typing import Any

from app.loaded_run import lesson_run_of, load
from app.runs.library import Kept
from experiments.core.catalogue import Catalogue
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import Choice, Mark, Rank, Taught
from experiments.core.units import digits
from experiments.core.words import Words
from widgets.runs.listed import Prediction

FAIRLY_SURE = 2  # as a Guess says how sure it is; from there on a miss is a surprise
AT_ONCE_S = 1.0  # then the list shows what was found so far
UNTRUE = (UserError, ArithmeticError, ValueError, LookupError)  # what a foreign file may lead to

Asked = tuple[str, Guess]


class Predictions:
    """Judges each prediction once. `judge` belongs into a thread, `of` only looks up."""

    def __init__(self, words: Words, catalogue: Catalogue) -> None:
        self._words, self._catalogue = words, catalogue
        self._lessons: dict[str, Taught | None] = {}
        self._judged: dict[Asked, Prediction | None] = {}

    def of(self, run: Kept) -> Prediction | None:
        """Return the prediction of a run; None if it has none, or it was not judged yet."""
        asked = _asked(run)
        return None if asked is None else self._judged.get(asked)

    def waiting(self, runs: Iterable[Kept]) -> list[Kept]:
        """Return the runs whose predictions were not judged yet."""
        return [run for run in runs if (asked := _asked(run)) and asked not in self._judged]

    def judge(self, runs: Iterable[Kept], stop: threading.Event) -> None:
        """Judge the predictions of some of these runs, for about AT_ONCE_S."""
        end_s = time.monotonic() + AT_ONCE_S
        for run in runs:
            if (asked := _asked(run)) is not None:
                self._judged[asked] = self._judge(run, asked[1])
            if stop.is_set() or time.monotonic() > end_s:
                return

    def _judge(self, run: Kept, guess: Guess) -> Prediction | None:
        say = self._words.say
        lesson = self._lesson(run.experiment)
        if lesson is None or not lesson.accepts(guess):
            return None
        told = lesson.told(guess)
        said = say("runs.said", {"guess": told})
        with contextlib.suppress(*UNTRUE):
            measured = lesson_run_of(load(run.path, self._catalogue, is_opened=True).run_state)
            mark = lesson.judge(guess, measured) if measured is not None else None
            if measured is not None and mark is not None:
                is_surprise = not mark.is_right and (guess.sure or 0) >= FAIRLY_SURE
                off = "runs.surprise" if is_surprise else "runs.off"
                right = lesson.told_right(measured)
                return Prediction(
                    guess=told,
                    said=said,
                    right=right,
                    was=say("runs.was", {"right": right}),
                    verdict=say("runs.hit" if mark.is_right else off),
                    miss=self._miss(mark, guess),
                    counts=self._counts(lesson),
                    is_surprise=is_surprise,
                )
        return Prediction(guess=told, said=said)

    def _miss(self, mark: Mark, guess: Guess) -> str:
        """Return by how much a guess missed; an answer that was chosen is right or not."""
        if mark.in_place is not None:
            return self._words.say("runs.in_place", {"count": mark.in_place, "all": len(guess.at)})
        if mark.off is None or (times := digits(max(mark.off, 1 / mark.off), 2)) == digits(1.0, 2):
            return ""
        key = "runs.too_low" if mark.off > 1 else "runs.too_high"
        return self._words.say("runs.by_up_to" if len(guess.at) > 1 else key, {"times": times})

    def _counts(self, lesson: Taught) -> str:
        """Return what counts as a hit."""
        predict = lesson.words.predict
        if isinstance(predict, Choice | Rank):
            return ""
        return self._words.say("runs.hit_within", {"times": digits(predict.likely, 2)})

    def _lesson(self, experiment_id: str) -> Taught | None:
        if experiment_id not in self._lessons:
            self._lessons[experiment_id] = None
            with contextlib.suppress(UserError):  # said on the page of the experiment
                experiment: Any = self._catalogue.load(experiment_id)
                self._lessons[experiment_id] = self._catalogue.lesson(experiment)
        return self._lessons[experiment_id]


def _asked(run: Kept) -> Asked | None:
    guess = run.run_notes.guess
    return None if guess is None or run.problem is not None else (run.path.name, guess)
