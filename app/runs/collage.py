"""A class collage: what many people predicted of one experiment, and what their machines measured.

Reads run files as data. A file that cannot count is left out with a reason; no file ends the
reading.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from app.loaded_run import as_lesson_run, clear_values
from app.runs.library import machine_name
from app.runs.owner_note import Told, told_in
from app.runs.run_notes import read_notes
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.judging.trust import is_told
from experiments.core.problems import UserError
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import Choice, Magnitude, Taught
from experiments.core.units import digits
from experiments.engine.messages import Outcome
from experiments.engine.recording import ALTERED, Recording, read
from machine.text import plain

NAME_LETTERS = 60  # of a name or a processor: strangers wrote them

log = logging.getLogger(__name__)

Sentence = tuple[str, Mapping[str, Any]]  # key of the words, and values


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run that counts."""

    run: str
    at: str
    name: str  # as its owner gave it; "" without one
    machine: str
    guess: Guess | None
    right: float | None  # what the guess is held against: a number, or that of an option
    values: Mapping[str, float]
    is_mine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Collage:
    """All results of one experiment; `left` counts those left out, by the words of the reason."""

    experiment: Experiment[Any]
    lesson: Taught | None
    results: tuple[Result, ...]
    left: Mapping[str, int] = field(default_factory=dict)

    @property
    def predict(self) -> Choice | Magnitude | None:
        """The lesson's question, if a collage can show the answers."""
        asked = self.lesson.words.predict if self.lesson is not None else None
        return asked if isinstance(asked, Choice | Magnitude) else None

    @property
    def guessed(self) -> list[Result]:
        """The results with a prediction."""
        return [each for each in self.results if each.guess is not None]

    @property
    def here(self) -> Result | None:
        """The newest result of this machine."""
        return _newest(each for each in self.results if each.is_mine)

    @property
    def yours(self) -> Result | None:
        """The newest result here with a prediction."""
        return _newest(each for each in self.guessed if each.is_mine)

    def axes(self) -> tuple[str, str] | None:
        """Return the values along x and y: the key numbers that most results have.

        None where no result has two.
        """
        names = [key.value for key in self.experiment.keys]
        names += [value.name for value in self.experiment.values if value.name not in names]
        counts = {name: sum(name in each.values for each in self.results) for name in names}
        known = [name for name in names if counts[name]]
        known.sort(key=lambda name: -counts[name])  # stable: the keys stay first
        both = set(known[:2])
        has_both = len(both) > 1 and any(both <= each.values.keys() for each in self.results)
        return (known[1], known[0]) if has_both else None


@dataclass(frozen=True, slots=True)
class Gathered:
    """The collage of each experiment, the largest first, and the files that belong to none."""

    collages: Mapping[str, Collage]
    left: Mapping[str, int]


def gather(paths: Sequence[Path], catalogue: Catalogue, mine: Collection[str]) -> Gathered:
    """Read run files; a prediction may stand in the file or in the notes beside it.

    `mine` are the ids of the runs that were made on this machine.
    """
    found: dict[str, dict[str, Result]] = {}
    left: dict[str, Counter[str]] = {}
    lessons: dict[str, tuple[Experiment[Any], Taught | None] | None] = {}
    for path in paths:
        try:
            recording = read(path)
        except UserError:
            left.setdefault("", Counter())["collage.reasons.unreadable"] += 1
            continue
        started = recording.started
        name = started.experiment
        if name not in lessons:
            lessons[name] = _experiment(name, catalogue)
        known = lessons[name]
        if known is None:
            left.setdefault("", Counter())["collage.reasons.unknown_experiment"] += 1
            continue
        results, reasons = found.setdefault(name, {}), left.setdefault(name, Counter())
        if why := _why_not(recording, known[0]):
            reasons[why] += 1
            continue
        result = _result(path, recording, *known, is_mine=started.run in mine)
        before = results.get(started.run)
        reasons["collage.reasons.twice"] += before is not None
        if before is None or (before.guess is None and result.guess is not None):
            results[started.run] = result
    collages = {
        name: Collage(
            experiment=known[0],
            lesson=known[1],
            results=tuple(found[name].values()),
            left=+left[name],
        )
        for name, known in lessons.items()
        if known is not None
    }
    largest = sorted(collages, key=lambda name: -len(collages[name].results))
    return Gathered({name: collages[name] for name in largest}, left.get("", Counter()))


def sentences(collage: Collage, left: Mapping[str, int]) -> list[Sentence]:
    """Return what a collage says, the main thing first; `left` are the files of no experiment."""
    found = [_main(collage)]
    without = len(collage.results) - len(collage.guessed)
    judged = len(_judged(collage))
    if collage.predict is not None and collage.guessed:
        found += _some("collage.without", without)
        found += _some("collage.unjudged", len(collage.guessed) - judged)
    axes = collage.axes()
    if axes is None:
        found.append(("collage.no_numbers", {}))
    else:
        placed = sum(set(axes) <= each.values.keys() for each in collage.results)
        found += _some("collage.unplaced", len(collage.results) - placed)
    return [*found, *left_out(collage.left), *left_out(left)]


def left_out(left: Mapping[str, int]) -> list[Sentence]:
    """Return how many results were left out, reason by reason; `reason` is a key too."""
    counted = (_some("collage.left", count, reason=reason) for reason, count in left.items())
    return [each for found in counted for each in found]


def band(collage: Collage) -> tuple[float, float] | None:
    """Return the least and the greatest number that was measured of what was asked."""
    measured = [each.right for each in collage.results if each.right is not None]
    is_number = isinstance(collage.predict, Magnitude)
    return (min(measured), max(measured)) if measured and is_number else None


def _main(collage: Collage) -> Sentence:
    judged, predict = _judged(collage), collage.predict
    if collage.lesson is None:
        return "collage.no_question", {}
    if predict is None:
        return "collage.other_kind", {}
    if not collage.guessed:
        return "collage.no_prediction", {}
    if not judged:
        return "collage.none_judged", {}
    if isinstance(predict, Choice):
        right = sum(guess == measured for guess, measured in judged)
        if len(judged) == 1:
            return ("collage.one_right" if right else "collage.one_wrong"), {}
        return "collage.right", {"right": right, "count": len(judged)}
    off = [measured / guess for guess, measured in judged]
    low = [each for each in off if each > predict.sharp]
    high = [1 / each for each in off if 1 / each > predict.sharp]
    close = [predict.sharp] * (len(off) - len(low) - len(high))
    key, group = max(
        ("collage.low", low),
        ("collage.high", high),
        ("collage.close", close),
        key=lambda each: len(each[1]),
    )
    times = digits(median(group), 2)
    values = {"of_them": len(group), "count": len(off), "times": times}
    return key, values


def _judged(collage: Collage) -> list[tuple[float, float]]:
    """Return each guess with what its machine measured, where that is known."""
    return [
        (each.guess.at[0], each.right)
        for each in collage.results
        if each.guess is not None and each.right is not None
    ]


def _some(key: str, count: int, **values: Any) -> list[Sentence]:
    """Return the sentence of a key with a count; none for none."""
    return [(key, {"count": count, **values})] if count else []


def _newest(results: Any) -> Result | None:
    return max(results, key=lambda each: each.at, default=None)


def _experiment(name: str, catalogue: Catalogue) -> tuple[Experiment[Any], Taught | None] | None:
    try:
        experiment = catalogue.load(name)
        return experiment, catalogue.lesson(experiment)
    except UserError:
        return None


def _why_not(recording: Recording, experiment: Experiment[Any]) -> str:
    """Return the key of why a run cannot count, "" if it can."""
    if recording.started.experiment_version != experiment.version:
        return "collage.reasons.other_version"
    if ALTERED in recording.notes:
        return "collage.reasons.altered"
    finished = recording.finished
    if finished.outcome is not Outcome.COMPLETED or finished.finding is None:
        return "collage.reasons.not_completed"
    return ""


def _result(
    path: Path,
    recording: Recording,
    experiment: Experiment[Any],
    lesson: Taught | None,
    *,
    is_mine: bool,
) -> Result:
    notes, started = read_notes(path), recording.started
    told = Told(guess=notes.guess, name=notes.name).or_else(told_in(recording))
    guess = told.guess
    values = clear_values(recording.finished.finding)
    return Result(
        run=started.run,
        at=started.at,
        name=plain(told.name, NAME_LETTERS),
        machine=plain(machine_name(started), NAME_LETTERS),
        guess=guess if guess is not None and lesson is not None and lesson.accepts(guess) else None,
        right=_right(recording, experiment, lesson) if lesson is not None else None,
        values={name: value for name, value in values.items() if math.isfinite(value)},
        is_mine=is_mine,
    )


def _right(recording: Recording, experiment: Experiment[Any], lesson: Taught) -> float | None:
    """Return the answer that a run gives, None where it gives none."""
    finding, predict = recording.finished.finding, lesson.words.predict
    if finding is None or not is_told(finding.message, finding.trust):
        return None
    if not isinstance(predict, Choice | Magnitude):
        return None
    started, finished = recording.started, recording.finished
    try:
        run = as_lesson_run(experiment, started, finished, recording.tables(experiment))
        right = lesson.right(run) if run is not None else None
    except UserError:
        return None
    except Exception:  # a stranger's file must not end the collage, whatever the lesson makes of it
        log.warning("no answer in run %s", plain(recording.started.run), exc_info=True)
        return None
    if isinstance(predict, Choice):
        return right if right in range(len(predict.options)) else None
    return right if right is not None and 0 < right < math.inf else None
