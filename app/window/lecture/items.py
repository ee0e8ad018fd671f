"""The items of a lecture as they stand on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.lecture.fallbacks import StandIns
from app.lecture.file import Item
from app.lecture.lecture_state import Turn
from app.lecture.options import Options, options_of, options_of_guess
from app.runs.selection import expected_s
from app.window.core.session import Session
from experiments.core.declare import Experiment
from experiments.core.parameters import check_memory, from_json, to_json
from experiments.core.problems import Problem, UserError
from experiments.core.teaching.lessons import Taught
from experiments.core.views import Heatmap, Plotted
from experiments.presentation.guesses.questions import Question, named
from machine.memory.host import available_bytes
from widgets.lecture.series import chosen
from widgets.plots.contents import label_column


@dataclass(frozen=True, slots=True)
class Prepared:
    """One item with its experiment and lesson; an unknown experiment is a `problem`.

    A question of the ten guesses stands in place of the lesson. Then a number stands in place of
    the plot, because the plot would show what the next items ask.
    """

    item: Item
    title: str
    experiment: Experiment[Any] | None = None
    taught: Taught | None = None
    question: Question | None = None
    options: Options | None = None
    problem: Problem | None = None

    @property
    def view(self) -> Plotted | None:
        """The view that the class sees."""
        if self.experiment is None or self.question is not None:
            return None
        return next(iter(self.experiment.plots), None)

    def turn(self) -> Turn:
        """Return its way, which is still to go."""
        return Turn(options=len(self.options.texts) if self.options else 0)

    def arms(self, rows: Iterable[Any]) -> list[str]:
        """Return the labels of the rows in the order in which they are revealed.

        Cells are one picture, and other views without labels too.
        """
        view, experiment = self.view, self.experiment
        column = label_column(view) if view is not None else None
        if view is None or experiment is None or column is None or isinstance(view, Heatmap):
            return []
        found = dict.fromkeys(str(getattr(row, column)) for row in rows)
        order = getattr(view, "order", ())
        held = self.taught.held_back if self.taught is not None else ()
        shown = sorted(
            set(chosen(experiment, view, found)),
            key=lambda arm: (
                order.index(arm) if arm in order else len(order) + list(found).index(arm)
            ),
        )
        return sorted(shown, key=lambda arm: arm in held)


def prepare(session: Session, item: Item) -> Prepared:
    """Return an item with all that is known of its experiment."""
    words = session.words
    try:
        experiment = session.catalogue.load(item.experiment)
    except UserError as trouble:
        return Prepared(item, item.title or item.experiment, problem=trouble.problem)
    if (question := named(item.guess)) is not None:
        asked = options_of_guess(question, words)
        title = item.title or asked.ask
        return Prepared(item, title, experiment, question=question, options=asked)
    title = item.title or words.say(f"{experiment.id}.question")
    lesson = None
    with contextlib.suppress(UserError):  # without it there are question, run and result
        lesson = session.catalogue.lesson(experiment)
    options = options_of(lesson.voted_on(session.machine), words) if lesson else None
    return Prepared(item, title, experiment, lesson, options=options)


def params_of(session: Session, prepared: Prepared) -> Any:
    """Return the parameters of a run. Raises UserError where it cannot be made on this machine."""
    experiment = prepared.experiment
    if experiment is None:
        assert prepared.problem is not None
        raise UserError(prepared.problem.key, **prepared.problem.values)
    if session.context.has_fake_machine:
        raise UserError("fake_machine_measured")
    entry = session.entries.get(experiment.id)
    if entry is None:
        raise UserError("lecture_machine_unread")
    if entry.need is not None:
        raise UserError(f"needs_{entry.need}")
    usual = entry.params
    if prepared.question is not None and session.machine is not None:
        usual = prepared.question.params(experiment, session.machine)
    merged = {**to_json(usual), **prepared.item.set}
    params = from_json(experiment.params, merged, session.machine)
    check_memory(experiment, params, available_bytes())
    return params


def stand_ins_of(session: Session, path: Path) -> StandIns:
    """Return what may stand in for the runs of a lecture; `path` is its file."""
    data, catalogue = session.context.folder, session.catalogue
    return StandIns(path, data, catalogue, session.runs, session.machine)


def seconds_of(session: Session, prepared: Prepared) -> float | None:
    """Return how long its run takes here; None where it cannot run, or that is unknown."""
    experiment = prepared.experiment
    if experiment is None or session.machine is None:
        return None
    try:
        params = params_of(session, prepared)
    except UserError:
        return None
    return expected_s(session.runs, session.machine, experiment, params)
