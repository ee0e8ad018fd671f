"""The sheet of ten guesses. Arrow keys move the slider, Enter answers and goes on, Esc leaves."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import (
    announce,
    button,
    column,
    discard,
    holding,
    label,
    row,
    set_role,
)
from widgets.controls.layouts import scrolling
from widgets.guess.page_data import Asked, Ended, Told, Why
from widgets.lesson.magnitude import MagnitudeInput
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 960
ANSWER_PX = 170  # height that an answer needs, at zoom 1
LEAST_PX, MOST_PX = 300, 440  # of the ruler; with the most, each of twenty pins has its flag
BESIDE_RULER_PX = 296  # height of all else on the sheet of the end, and around it
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class GuessSheet(Overlay):
    """One page for a question and its answer, and one for the end."""

    answered = Signal(float)  # the guess, in SI units
    went_on = Signal()
    wanted_again = Signal()  # another round
    wanted_why = Signal(str)  # open this experiment

    def __init__(self, words: Words, look: Look, parent: QWidget, *, remark: str) -> None:
        """Make the sheet; `remark` stands above every question."""
        super().__init__(parent, width_px=WIDTH_PX)
        self._words, self._look = words, look
        self.add_head(words.say("guess.title"), words.say("overlay.close"), look)
        self._remark = label(remark, "soft", wrap=True)
        self.content.addWidget(self._remark)
        self._area: QWidget | None = None
        self._page: QuestionPage | EndPage | None = None
        self.question: QuestionPage | None = None

    def ask(self, asked: Asked) -> None:
        """Show a question that is open."""
        page = self.question = QuestionPage(asked, self._words, self._look)
        page.answered.connect(self.answered)
        page.went_on.connect(self.went_on)
        page.wanted_why.connect(self.wanted_why)
        self._remark.show()
        self._show(page)

    def wait(self) -> None:
        """Show that the answer is looked up: the guess stays as it is."""
        if self.question is not None:
            self.question.wait()
            self.setFocus()  # for Esc: what had the keys is disabled

    def tell(self, told: Told) -> None:
        """Show the answer of the question that is shown."""
        if self.question is not None:
            self.question.tell(told)

    def end(self, ended: Ended) -> None:
        """Show the end of the round."""
        self.question = None
        self._remark.hide()  # the ruler needs the room
        page = EndPage(ended, self._words, self._look, self._window.height())
        page.wanted_again.connect(self.wanted_again)
        page.wanted_why.connect(self.wanted_why)
        self._show(page)
        announce(self, ended.score)

    def open(self) -> None:
        """Show the sheet, and give the keys to what is done next."""
        super().open()
        if self._page is not None:
            self._page.focus_first()

    def _show(self, page: QuestionPage | EndPage) -> None:
        if self._area is not None:
            discard(self._area)
        self._area = scrolling(page, self._words.say("guess.title"))  # with large text
        self.content.addWidget(self._area)
        self._area.show()
        self._page = page
        page.focus_first()


class QuestionPage(QWidget):
    """A question with its slider; below, what answers it, and then the answer."""

    answered = Signal(float)
    went_on = Signal()
    wanted_why = Signal(str)

    def __init__(self, asked: Asked, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look, self._why = words, look, ""
        self.input = MagnitudeInput(asked.predict, words, look)
        self.answer = button(words.say("guess.answer"), "main", clicked=self._answer)
        self.input.answered.connect(lambda: self.answer.setEnabled(True))
        self.input.slider.installEventFilter(self)
        self.answer.setEnabled(False)
        self.go_on = button("", "main", clicked=self.went_on.emit)
        self.truth, self.verdict = label("", "title"), label("", "head", wrap=True)
        self.because, self.source = label("", wrap=True), label("", "soft", wrap=True)
        self.why = button("", "link", clicked=lambda: self.wanted_why.emit(self._why))
        told = (self.truth, self.verdict, self.because, self.source, row(self.why, None))
        self._told = holding(column(*told))
        self._told.hide()
        self._below = holding(column(self._told, None))
        self.go_on.hide()
        head = label(asked.place, "soft"), label(asked.predict.ask, "head", wrap=True)
        buttons = row(self.answer, self.go_on, None)
        self.setLayout(column(*head, self.input, self._below, buttons, space=3 * STEP))
        look.follow(self._fit)

    def focus_first(self) -> None:
        """Let keys move the slider, or go on from an answer."""
        if self.go_on.isHidden():
            self.input.focus_first()
        else:
            self.go_on.setFocus()

    def wait(self) -> None:
        """Fix the guess; its hint goes, and nothing moves."""
        self.input.setMinimumHeight(self.input.height())
        self.input.set_fixed(True)
        self.answer.setEnabled(False)

    def tell(self, told: Told) -> None:
        """Show the answer in place of the button that asked for it."""
        self.input.set_at(None if told.guess is None else (told.guess,))
        self.wait()
        self.input.slider.show_truth(told.truth)
        self.truth.setText(told.answer)
        self.verdict.setText(told.verdict)
        self.because.setText(told.because)
        self.source.setText(told.source)
        set_role(self.verdict, "guess-right" if told.is_right else "head")
        set_role(self.source, "doubt" if told.is_of_another else "soft")
        self._why = told.why.experiment
        self.why.setText(told.why.text)
        self.go_on.setText(self._words.say("guess.end" if told.is_last else "guess.next"))
        self._told.show()
        self.answer.hide()
        self.go_on.show()
        self.focus_first()
        announce(self, f"{told.answer} {told.verdict} {told.because} {told.source}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Enter answer once the slider was moved."""
        is_enter = isinstance(event, QKeyEvent) and event.key() in ENTER
        if is_enter and event.type() == QEvent.Type.KeyPress and self.answer.isEnabled():
            self._answer()
            return True
        return super().eventFilter(watched, event)

    def _answer(self) -> None:
        if (at := self.input.at()) is not None:
            self.answered.emit(at[0])

    def _fit(self) -> None:
        """Keep room for the answer, so that nothing moves when it comes."""
        self._below.setMinimumHeight(round(ANSWER_PX * self._look.theme.zoom))


class EndPage(QWidget):
    """The score, the ruler with true answers above and guesses below, and where to go on."""

    wanted_again = Signal()
    wanted_why = Signal(str)

    def __init__(self, ended: Ended, words: Words, look: Look, high_px: int) -> None:
        """Make the page for a window that is so high: the ruler takes what is left."""
        super().__init__()
        from widgets.plots.drawing import Beside
        from widgets.plots.plot import Plot

        self._look, self._high_px = look, high_px
        self.ruler = Plot(ended.experiment, ended.ruler, words, look)
        self.ruler.setAccessibleName(words.say("guess.ruler"))
        beside = Beside(words.say("guess.true_pin"), words.say("guess.my_pin"), ended.guesses)
        self.ruler.draw(ended.truths, {}, beside=beside)
        self.misses = [self._link(why) for why in ended.misses]
        self.again = button(words.say("guess.again"), "main", clicked=self.wanted_again.emit)
        links = (row(each, None) for each in self.misses)
        self.setLayout(
            column(
                row(label(ended.score, "head", wrap=True), self.again, grows=0),
                self.ruler,
                label(ended.remark, wrap=True),
                column(*links, space=STEP),
                space=3 * STEP,
                grows=1,
            )
        )
        look.follow(self._fit)

    def focus_first(self) -> None:
        """Let keys read the ruler; on a button, a second Enter would begin anew."""
        self.ruler.setFocus()

    def _link(self, why: Why) -> QWidget:
        return button(why.text, "link", clicked=partial(self.wanted_why.emit, why.experiment))

    def _fit(self) -> None:
        zoom = self._look.theme.zoom
        left_px = self._high_px - BESIDE_RULER_PX * zoom
        self.ruler.setMinimumHeight(round(min(max(LEAST_PX * zoom, left_px), MOST_PX * zoom)))
