"""The column that explains a run, made beforehand: when the run ends, it is only filled."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.runs.library import Kept
from app.trust import first_line
from app.window.core.target import EXPERIMENTS
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import verdict_of
from app.window.lesson.model import LessonModel
from app.window.lesson.moving import Moving
from app.window.lesson.plots import LessonPlots
from experiments.core.judging.trust import Trust
from experiments.core.teaching.glossary import Glossary
from experiments.core.teaching.lessons import Taught
from widgets.controls.basics import button, column, label, row
from widgets.controls.layouts import FlowLayout
from widgets.experiment.action_button import ActionButton
from widgets.experiment.verdict import VerdictBlock
from widgets.lesson.explanation import Explanation
from widgets.lesson.own_words import OwnWords
from widgets.lesson.remembered_guess import GuessNote
from widgets.lesson.side import LessonSide
from widgets.lesson.steps import Step
from widgets.style.theme import STEP


class Explaining(QObject):
    """Holds the explanation, the result in short below it, and the ways on."""

    def __init__(
        self,
        model: PageModel,
        lesson: LessonModel,
        do: ExperimentActions,
        plots: LessonPlots,
        glossary: Glossary,
    ) -> None:
        super().__init__()
        self._model, self._lesson, self._plots = model, lesson, plots
        say, look = model.words.say, model.session.look
        self._guess = GuessNote(model.words, look)
        quiet = row(ActionButton(do.recording), None)
        self._explanation = Explanation(model.words, look, self._guess, quiet)
        self._explanation.confirm_wanted.connect(self._point_out)
        self._explanation.experiment_wanted.connect(
            lambda to: model.session.go(EXPERIMENTS, experiment=to)
        )
        self.short = VerdictBlock(glossary, look)
        self._in_short = QWidget()
        self._in_short.setLayout(
            column(label(say("lesson.in_short"), "soft"), self.short, space=4 * STEP)
        )
        self._try = button(say("lesson.try_it"), "main", clicked=lambda: lesson.go(Step.TRY))
        self._again = ActionButton(do.run)
        self._own = OwnWords(model.words, look, do.worksheet)
        self._own.written.connect(self._keep_own_words)
        model.session.closing.connect(self._own.keep)
        self._of: Kept | None = None  # the run that own words are about
        ways = FlowLayout(self._try, self._again, ActionButton(do.plot))
        self.side = LessonSide(say("lesson.column"))
        self.side.show_parts((self._explanation, self._in_short, self._own, ways))
        # Words are read first: plots and the result in short come in the turn after their paint.
        self.moving = Moving(model, lesson, plots)
        self._soon = QTimer(self.side, interval=0, singleShot=True)
        self._soon.timeout.connect(self._show_rest)

    @property
    def first(self) -> QWidget:
        """The widget that takes the keyboard; without an explanation, the button for another run.

        Space on a button would leave what moves.
        """
        if self.moving.moves:
            return self.moving.player
        return self._try if self._lesson.is_explained_by_itself else self._again

    def show(self, taught: Taught) -> None:
        """Explain the shown run; what belongs to the explanation follows in the next turn."""
        experiment, explain = self._model.experiment, taught.words.explain
        assert experiment is not None
        say = self._model.words.say
        evidence, guess = self._lesson.evidence, self._lesson.guess
        self._explanation.show_explained(
            evidence.explained if evidence is not None else None,
            view=say(f"{experiment.id}.views.{explain.confirm.view}"),
            to=explain.transfer.to,
            title=say(f"{explain.transfer.to}.question"),
            sources=taught.words.sources,
            lead=self._lead(),
            band="\n".join(filter(None, (evidence.why, evidence.band))) if evidence else "",
        )
        unheard = None if self._lesson.is_explained_by_itself else guess  # by the headline
        self._guess.setVisible(unheard is not None)
        if unheard is not None:
            self._guess.show_guess(taught.told(unheard), unheard.sure)
        self._in_short.hide()
        self._show_own_words()
        self.side.verticalScrollBar().setValue(0)
        self._soon.start()

    def _lead(self) -> str:
        """Return who was busy during the shown run, "" for no program.

        If a recording explains in its place, a busy run counts as disturbed: it gives no answer.
        """
        run_state = self._model.run_state
        finished = run_state.finished if run_state is not None else None
        if run_state is None or finished is None or finished.finding is None:
            return ""
        trust = finished.finding.trust
        if not self._lesson.is_explained_by_itself and trust is Trust.BUSY:
            trust = Trust.DISTURBED
        return first_line(self._model.words, trust, run_state.notes)

    def _show_own_words(self) -> None:
        """Show what was written about this run; a run that is not kept has no room for it."""
        kept = self._lesson.kept
        if kept is None or self._of is None or kept.run != self._of.run:
            self._own.show_text(kept.run_notes.own_words if kept is not None else "")
        self._of = kept
        self._own.setVisible(kept is not None)

    def _keep_own_words(self, text: str) -> None:
        if self._of is not None:
            self._lesson.keep_own_words(self._of, text)

    def put_off(self) -> None:
        """Let nothing follow: another step or run is shown."""
        self._soon.stop()
        self.moving.hide()

    def _show_rest(self) -> None:
        self._plots.show(Step.EXPLAIN)
        if (taught := self._lesson.taught) is not None:
            self.moving.show(taught)
            if self._try.hasFocus():
                self.first.setFocus()
        if self._lesson.is_explained_by_itself:
            self.short.show_verdict(verdict_of(self._model.report()))
            self._in_short.show()

    def _point_out(self) -> None:
        if (taught := self._lesson.taught) is not None:
            self._plots.point_to(taught.words.explain.confirm.view)
