"""Fills the column of a lesson, and what stands beside it, step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLayout, QPushButton, QStackedWidget, QWidget

from app.runs.selection import expected_s
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.page_model import PageModel
from app.window.lesson.explaining import Explaining
from app.window.lesson.model import LessonModel
from app.window.lesson.moving import Moving
from app.window.lesson.plots import LessonPlots
from experiments.core.declare import specs
from experiments.core.teaching.glossary import Glossary
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import Marker, Sketch, Taught
from experiments.core.units import DURATION, show, unbroken, unit_of
from experiments.core.views import Lines
from widgets.controls.basics import announce, button, label
from widgets.controls.layouts import FlowLayout
from widgets.experiment.verdict import VerdictBlock
from widgets.lesson.confidence import ConfidenceInput
from widgets.lesson.prediction import prediction_input
from widgets.lesson.prediction_input import PredictionInput
from widgets.lesson.question import QuestionBlock
from widgets.lesson.remembered_guess import GuessNote
from widgets.lesson.side import LessonSide
from widgets.lesson.steps import Step

Part = QWidget | QLayout
IN_COLUMN = (Step.QUESTION, Step.PREDICT, Step.OBSERVE, Step.EXPLAIN)  # all others show numbers


class LessonController(QObject):
    """Rebuilds the column when the step, the run or the answer is another one."""

    def __init__(
        self,
        model: PageModel,
        lesson: LessonModel,
        do: ExperimentActions,
        plots: LessonPlots,
        glossary: Glossary,
    ) -> None:
        super().__init__()
        self._model, self._lesson, self._do, self._plots = model, lesson, do, plots
        self._words, self._look = model.words, model.session.look
        self._asking = LessonSide(self._words.say("lesson.column"))
        self._explaining = Explaining(model, lesson, do, plots, glossary)
        self.side = QStackedWidget()
        for side in (self._asking, self._explaining.side):
            self.side.addWidget(side)
        self._question: QuestionBlock | None = None
        self._shown: tuple[Any, ...] | None = None
        self._input: PredictionInput | None = None
        self._sure: ConfidenceInput | None = None
        self._waiting: Sequence[QWidget] = ()
        self._starting: dict[QWidget, QAction] = {}  # buttons that start a run
        self._first: QWidget | None = None  # what the keyboard goes to
        self._told = label("", wrap=True)  # what is said of a place that was picked
        self._tries = 0
        self._wants_focus = False
        plots.picked.connect(self._take_pick)
        plots.pointed_out.connect(self._take_plot)
        for action in (do.run, do.quick):  # before the page measures
            action.triggered.connect(self._take_before_run)

    @property
    def moving(self) -> Moving:
        """The motion below the plots of an explanation."""
        return self._explaining.moving

    @property
    def is_shown(self) -> bool:
        """Does the column of the lesson belong to this step?"""
        return self._lesson.taught is not None and self._lesson.step in IN_COLUMN

    @property
    def question(self) -> QWidget | None:
        """The widget in place of the plots, while nothing is drawn there."""
        taught, step = self._lesson.taught, self._lesson.step
        is_drawn = taught is not None and isinstance(taught.words.predict, Sketch | Marker)
        is_asked = step is Step.QUESTION or (step is Step.PREDICT and not is_drawn)
        return self._question if is_asked else None

    @property
    def short(self) -> VerdictBlock | None:
        """The result in short, while it stands below an explanation."""
        is_explained = self._lesson.step is Step.EXPLAIN
        return self._explaining.short if is_explained else None

    def refresh(self) -> None:
        """Show the step; the same state again changes nothing."""
        lesson, taught = self._lesson, self._lesson.taught
        if taught is None:
            self.forget()
            return
        found = (lesson.run, lesson.evidence, lesson.guess, lesson.is_answered)
        asked = (taught, lesson.step, lesson.instead)
        wanted = (*asked, *found)
        if wanted == self._shown:
            self._allow()
            return
        before = self._shown
        is_another = before is None or before[: len(asked)] != asked
        if before is None or before[0] is not taught:
            self._show_question(taught)
        self._shown, self._input, self._sure, self._first = wanted, None, None, None
        self._waiting, self._starting = (), {}
        self._tries = 0
        self._explaining.put_off()
        build: dict[Step, Callable[[Taught], Sequence[Part]]] = {
            Step.QUESTION: self._ask_first,
            Step.PREDICT: self._predict,
            Step.OBSERVE: self._observe,
        }
        if lesson.step is Step.EXPLAIN:
            self._explaining.show(taught)
            self.side.setCurrentWidget(self._explaining.side)
        else:
            self._plots.show(lesson.step)
        if lesson.step in build:
            self._asking.show_parts(build[lesson.step](taught))
            self.side.setCurrentWidget(self._asking)
        self._wants_focus = is_another
        self.take_focus()

    def take_focus(self) -> None:
        """Give the keyboard to a step that was not shown before, once its column is seen."""
        if self._wants_focus and self.side.isVisible():
            self._wants_focus = False
            self.focus()

    def forget(self) -> None:
        """Take everything off the plots: other sides of the page use them too."""
        if self._shown is not None:
            self._shown = None
            self._explaining.put_off()
            self._plots.leave()

    def focus(self) -> bool:
        """Focus what one would use next; False where there is nothing."""
        if self._lesson.step is Step.PREDICT and self._plots.focus_handles():
            return True
        if self._lesson.step is Step.OBSERVE and self._plots.focus_asked():
            return True
        is_explained = self._lesson.step is Step.EXPLAIN
        first = self._explaining.first if is_explained else self._first
        if self._input is not None and not self._lesson.is_answered:
            self._input.focus_first()
        elif first is not None:
            first.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return self._input is not None or first is not None

    def _show_question(self, taught: Taught) -> None:
        self._question = QuestionBlock(self._words, self._look)
        on = taught.stands_on
        self._question.show_question(on.context, on.code)

    # --- the steps ----------------------------------------------------------------------------

    def _ask_first(self, taught: Taught) -> Sequence[Part]:
        say = self._words.say
        if self._lesson.is_answered:
            known, reachable = self._lesson.steps[::-1], self._lesson.reachable
            furthest = next((step for step in known if step in reachable), Step.RUN)
            go = self._button("lesson.go_on", partial(self._lesson.go, furthest), "main")
            return (label(say("lesson.answered"), "head", wrap=True), go)
        guess = self._button("lesson.predict", partial(self._lesson.go, Step.PREDICT), "main")
        self._first = guess
        first = "lesson.guess_before_replay" if self._lesson.instead else "lesson.guess_first"
        return (
            label(say(first), "head", wrap=True),
            label(say("lesson.why_guess"), wrap=True),
            *self._instead(),
            FlowLayout(guess, self._button("lesson.skip", self._skip), *self._doctor()),
        )

    def _predict(self, taught: Taught) -> Sequence[Part]:
        say, predict = self._words.say, self._lesson.predict
        units, count = self._units(taught), len(getattr(predict, "items", ()))
        order = random.sample(range(count), count)
        made = prediction_input(predict, self._words, self._look, units, order)
        sure = ConfidenceInput(self._words, self._look)
        self._input, self._sure = made, sure
        is_fixed, guess = self._lesson.is_answered, self._lesson.guess
        if guess is not None:
            made.set_at(guess.at)
            sure.set_sure(guess.sure)
        made.set_fixed(is_fixed)
        sure.set_fixed(is_fixed)
        at = guess.at if guess is not None else getattr(made, "start", ())
        self._plots.begin_prediction(predict, at, is_fixed=is_fixed)
        parts: list[Part] = [label(predict.ask, "head", wrap=True), made]
        if is_fixed:
            words = label(say("lesson.already_predicted"), "soft", wrap=True)
            return (*parts, words, sure)
        buttons: list[QWidget] = []
        if self._lesson.instead:
            play = button(self._do.run.text(), "main", clicked=self._do.run.trigger)
            self._starting = {play: self._do.run}
        else:  # the quick run comes first: its answer follows the guess within seconds
            quick = button(self._run_text(is_quick=True), "main", clicked=self._do.quick.trigger)
            full = button(self._run_text(is_quick=False), clicked=self._do.run.trigger)
            self._starting = {quick: self._do.quick, full: self._do.run}
        buttons += self._starting
        if self._lesson.earlier_run is not None:
            buttons.append(self._button("lesson.show_earlier", self._show_earlier))
        self._waiting = [*buttons]  # for an answer; Skip never waits
        buttons.append(self._button("lesson.skip", self._skip))
        made.answered.connect(self._take_input)
        self._allow()
        return (*parts, sure, *self._instead(), FlowLayout(*buttons))

    def _observe(self, taught: Taught) -> Sequence[Part]:
        say, explain = self._words.say, partial(self._lesson.go, Step.EXPLAIN)
        if self._lesson.has_observed:
            return (
                label(taught.words.observe.ask, "head", wrap=True),
                label(say("lesson.observed"), wrap=True),
                self._button("lesson.explain", explain, "main"),
            )
        self._told = label("", wrap=True)
        self._told.hide()
        self._give_up_button = self._button("lesson.cannot_see", self._give_up)
        self._explain_button = self._button("lesson.explain", explain, "main")
        self._explain_button.hide()
        ask = say("lesson.look_first", {"ask": taught.words.observe.ask})
        parts: list[Part] = [
            label(ask, "head", wrap=True),
            label(say("lesson.click_place"), wrap=True),
            self._told,
        ]
        if (guess := self._lesson.guess) is not None:
            note = GuessNote(self._words, self._look)
            note.show_guess(taught.told(guess), guess.sure)
            parts.append(note)
        parts += self._instead()
        return (*parts, FlowLayout(self._give_up_button, self._explain_button))

    # --- what happens -------------------------------------------------------------------------

    def _take_answer(self) -> None:
        made, taught = self._input, self._lesson.taught
        at = made.at() if made is not None else None
        if at is None or taught is None:
            self._lesson.answer(None)
            return
        sure = self._sure.sure() if self._sure is not None else None
        self._lesson.answer(Guess(kind=taught.kind, at=tuple(map(float, at)), sure=sure))

    def _take_before_run(self) -> None:
        """Take the prediction that stands there, by whatever way the run was asked for."""
        if self._lesson.step is Step.PREDICT and not self._lesson.is_answered:
            self._take_answer()

    def _skip(self) -> None:
        self._lesson.answer(None)
        if self._model.plays_instead and self._lesson.earlier_run is None:
            self._do.run.trigger()
        else:
            self._lesson.show_earlier()

    def _show_earlier(self) -> None:
        self._take_answer()
        self._lesson.show_earlier()

    def _take_plot(self, at: tuple[float, ...]) -> None:
        """Take what was drawn on the plot into the numbers beside it."""
        if self._input is not None:
            self._input.set_at(at)
            self._allow()

    def _take_input(self) -> None:
        """Draw on the plot what was typed beside it."""
        if self._input is not None:
            self._plots.follow(self._input.at())
            self._allow()

    def _allow(self) -> None:
        """Allow running and looking only after an answer; what cannot run never can."""
        has_answer = self._input is not None and self._input.at() is not None
        for each in self._waiting:
            starts = self._starting.get(each)
            each.setEnabled(has_answer and (starts is None or starts.isEnabled()))

    def _run_text(self, *, is_quick: bool) -> str:
        """Return what the button says, with the time that a run takes here."""
        action = self._do.quick if is_quick else self._do.run
        text, entry, experiment = action.text(), self._model.entry, self._model.experiment
        session = self._model.session
        if entry is None or entry.params is None or experiment is None or session.machine is None:
            return text
        params = experiment.reduced(entry.params) if is_quick else entry.params
        seconds = expected_s(session.runs, session.machine, experiment, params, quick=is_quick)
        return f"{text}  {show(seconds, DURATION)}"

    def _take_pick(self, is_right: bool) -> None:
        """Say whether the right place was picked; after a second wrong pick it is shown."""
        taught = self._lesson.taught
        if taught is None or self._lesson.step is not Step.OBSERVE:
            return
        say = self._words.say
        self._tries += 1
        if is_right:
            text = say("lesson.seen")
        elif self._tries == 1:
            text = say("lesson.look_again", {"hint": taught.words.observe.hint})
            self._plots.zoom_to_right()
        else:
            text = say("lesson.it_is_here")
        self._tell_place(text)
        if is_right or self._tries > 1:
            self._end_question()

    def _give_up(self) -> None:
        self._tell_place(self._words.say("lesson.it_is_here"))
        self._end_question()

    def _tell_place(self, text: str) -> None:
        self._told.setText(text)
        self._told.show()
        announce(self.side, text)

    def _end_question(self) -> None:
        """Light the right place, and offer the explanation."""
        self._plots.show_right()
        self._lesson.observe()
        self._explain_button.show()
        self._give_up_button.hide()
        self._explain_button.setFocus()

    # --- pieces -------------------------------------------------------------------------------

    def _instead(self) -> Sequence[Part]:
        """Return what says that a recording is played or shown, nothing where a run is."""
        told = self._lesson.instead
        return (label(unbroken(told), "attention", wrap=True),) if told else ()

    def _doctor(self) -> Sequence[QPushButton]:
        """Return the button that leads to why no GPU works here, where one is lacking."""
        ask = self._model.session.asked_for_doctor.emit
        return (self._button("doctor.page.why", ask),) if self._model.lacks_gpu else ()

    def _button(self, key: str, act: Callable[[], object], role: str = "plain") -> QPushButton:
        return button(self._words.say(key), role, clicked=act)

    def _units(self, taught: Taught) -> tuple[str, str]:
        """Return the units of a prediction: along the axis, and of what is said."""
        predict, experiment = taught.words.predict, self._model.experiment
        if isinstance(predict, Sketch) and experiment is not None:
            view = next(view for view in experiment.plots if view.key == predict.view)
            assert isinstance(view, Lines)
            columns = specs(experiment.tables[view.table])
            return columns[view.x.column].unit, columns[view.y.column].unit
        return "", unit_of(getattr(predict, "answer", ""))
