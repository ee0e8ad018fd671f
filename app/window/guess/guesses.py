"""Ten guesses in the window: the round lives as long as the window, its sheet until it is left."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.guesses import in_words, truths
from app.guesses.meanwhile import Meanwhile
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS
from experiments.core.problems import Problem
from experiments.core.teaching.lessons import Magnitude
from experiments.core.views import Ruler
from experiments.presentation.guesses.questions import Question, questions
from experiments.presentation.guesses.quick_round import Answered, Mark, Round, Source, Truth
from widgets.guess.page_data import Asked, Ended, Told, Why
from widgets.guess.sheet import GuessSheet

OF_RULER = "latency-numbers"  # the experiment with a ruler of times


class Guesses(QObject):
    """One round after the other."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.round = Round(questions())
        self.sheet: GuessSheet | None = None
        self.meanwhile: Meanwhile | None = None
        session.machine_changed.connect(self._measure)
        session.closing.connect(self._close)

    def open(self) -> None:
        """Show the sheet; the round goes on where it was left."""
        session = self._session
        key = "guess.from_file" if session.context.has_fake_machine else "guess.about"
        sheet = GuessSheet(session.words, session.look, self._window, remark=session.words.say(key))
        sheet.answered.connect(self._answer)
        sheet.went_on.connect(self._go_on)
        sheet.wanted_again.connect(self._begin_again)
        sheet.wanted_why.connect(self._open_experiment)
        sheet.closed.connect(self._leave)
        self.sheet = sheet
        self._show()
        sheet.open()

    def _show(self) -> None:
        """Show where the round stands."""
        sheet, shown = self.sheet, self.round.shown
        if sheet is None:
            return
        question = shown.question if shown is not None else self.round.question
        if question is None:
            sheet.end(self._ended())
            return
        predict = Magnitude(
            ask=in_words.ask(self._session.words, question),
            range=question.range,
            answer=question.value,
        )
        sheet.ask(Asked(place=self._place(), predict=predict))
        if shown is not None:
            sheet.tell(self._told(shown))
        else:
            self._measure()

    # --- the answer -----------------------------------------------------------------------------

    def _measure(self) -> None:
        """Measure the answer of the open question, where no run of this machine has it."""
        session, question = self._session, self.round.question
        if self.sheet is None or question is None or session.machine is None:
            return
        if not session.context.has_fake_machine:
            session.background.do_soon(
                partial(self._kept, question), partial(self._begin, question)
            )

    def _kept(self, question: Question) -> Truth | None:
        """Called in a thread."""
        session = self._session
        if session.machine is None:
            return None
        return truths.kept(question, session.catalogue, session.machine, session.runs)

    def _begin(self, question: Question, kept: Truth | None) -> None:
        session = self._session
        is_open = self.sheet is not None and self.round.question is question
        if kept is not None or not is_open or session.machine is None:
            return
        if self.meanwhile is None:
            self.meanwhile = Meanwhile(session.catalogue, session.machine)
        self.meanwhile.begin(question)

    def _answer(self, guess: float) -> None:
        question = self.round.question
        if question is None or self.sheet is None:
            return
        self.sheet.wait()
        measured = self.meanwhile.end() if self.meanwhile is not None else None
        self._session.background.do_soon(
            partial(self._truth, question, measured),
            partial(self._take, question, guess),
            failed=self._fail,
        )

    def _truth(self, question: Question, measured: Truth | None) -> Truth:
        """Called in a thread. Raises UserError where there is no recording."""
        return (
            self._kept(question) or measured or truths.recorded(question, self._session.catalogue)
        )

    def _take(self, question: Question, guess: float, truth: Truth) -> None:
        if self.round.question is not question:
            return
        answered = self.round.answer(guess, truth)
        if self.sheet is not None:
            self.sheet.tell(self._told(answered))

    def _fail(self, problem: Problem) -> None:
        """Leave the round: without an answer it cannot go on."""
        if self.sheet is not None:
            self.sheet.dismiss()
        self._session.troubled.emit(problem)

    # --- going on -------------------------------------------------------------------------------

    def _go_on(self) -> None:
        if self.round.shown is not None:
            self.round.go_on()
            self._show()

    def _begin_again(self) -> None:
        self.round = Round(questions())
        self._show()

    def _open_experiment(self, experiment: str) -> None:
        if self.sheet is not None:
            self.sheet.dismiss()
        self._session.go(EXPERIMENTS, experiment=experiment)

    def _leave(self) -> None:
        self.sheet = None
        if self.meanwhile is not None:
            self.meanwhile.end()

    def _close(self) -> None:
        if self.meanwhile is not None:
            self.meanwhile.close()
            self.meanwhile = None

    # --- in words -------------------------------------------------------------------------------

    def _place(self) -> str:
        values = {"place": self.round.place, "count": len(self.round.questions)}
        return self._session.words.say("guess.place", values)

    def _told(self, answered: Answered) -> Told:
        words, question, truth = self._session.words, answered.question, answered.truth
        return Told(
            guess=answered.guess,
            truth=truth.value,
            answer=in_words.answer(words, answered.question, answered.truth.value),
            verdict=in_words.verdict(words, answered),
            is_right=answered.mark in (Mark.SHARP, Mark.RIGHT),
            because=in_words.because(words, question),
            source=in_words.source(words, truth),
            is_of_another=truth.source is Source.RECORDED,
            why=self._why(question),
            is_last=len(self.round.answered) == len(self.round.questions),
        )

    def _why(self, question: Question) -> Why:
        values = {"question": self._session.words.say(f"{question.lesson}.question")}
        text = self._session.words.say("guess.why", values)
        return Why(text=text, experiment=question.lesson)

    def _ended(self) -> Ended:
        words, misses = self._session.words, self.round.misses()
        ruler = self._session.catalogue.load(OF_RULER)
        view = ruler.plots[0]
        assert isinstance(view, Ruler)

        def pin(name: str, answered: Answered, value: float) -> Any:
            took_s = answered.question.as_time(value)
            return ruler.tables[view.table](what=name, repeat=0, took_s=took_s)

        return Ended(
            score=in_words.score(words, self.round),
            experiment=ruler,
            ruler=view,
            truths=[
                pin(in_words.name_of_true(words, each), each, each.truth.value)
                for each in self.round.answered
            ],
            guesses=[
                pin(in_words.name(words, each.question), each, each.guess)
                for each in self.round.answered
                if each.guess is not None
            ],
            remark=in_words.remark(words, self.round),
            misses=[self._why_missed(each) for each in misses],
        )

    def _why_missed(self, answered: Answered) -> Why:
        values = {
            "name": in_words.name(self._session.words, answered.question),
            "times": in_words.factor(answered),
            "question": self._session.words.say(f"{answered.question.lesson}.question"),
        }
        text = self._session.words.say("guess.why_missed", values)
        return Why(text=text, experiment=answered.question.lesson)
