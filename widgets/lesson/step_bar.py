"""The row of a lesson's steps: where the learner is, and where a click leads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from experiments.core.words import Words
from widgets.controls.basics import dress, set_role
from widgets.controls.layouts import FlowLayout
from widgets.lesson.arrow_focus import MOVES, rove, step_to
from widgets.lesson.steps import Step
from widgets.style.look import Look
from widgets.style.theme import STEP

_NAMES = {
    Step.QUESTION: "lesson.step_question",
    Step.PREDICT: "lesson.step_predict",
    Step.RUN: "lesson.step_run",
    Step.OBSERVE: "lesson.step_observe",
    Step.EXPLAIN: "lesson.step_explain",
    Step.TRY: "lesson.step_try",
    Step.RESULT: "lesson.step_result",
}


class StepBar(QWidget):
    """One stop for Tab; arrow keys move between the steps that can be reached, Enter goes there."""

    wanted = Signal(Step)

    def __init__(self, words: Words, _look: Look) -> None:
        super().__init__()
        self._words = words
        self.buttons = {step: self._button(step) for step in Step}
        self.setLayout(FlowLayout(*self.buttons.values(), space=STEP))
        self.setAccessibleName(words.say("lesson.steps"))

    def show_steps(self, steps: Sequence[Step], current: Step, reachable: Collection[Step]) -> None:
        """Show these steps, of which one is `current`; the others can be reached or not yet."""
        say = self._words.say
        for step, made in self.buttons.items():
            made.setVisible(step in steps)
            made.setEnabled(step is current or step in reachable)
            set_role(made, "step-current" if step is current else "step")
            if step is current:
                state = say("lesson.step_is_current")
            else:
                state = say("lesson.step_is_open" if step in reachable else "lesson.step_is_later")
            made.setAccessibleDescription(state)
        had_focus = any(made.hasFocus() for made in self.buttons.values())
        rove(list(self.buttons.values()), self.buttons[current])
        if had_focus:
            self.buttons[current].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the steps."""
        shown = [made for made in self.buttons.values() if made.isVisibleTo(self)]
        if step_to(shown, event.key()) is None:
            super().keyPressEvent(event)

    def _button(self, step: Step) -> QPushButton:
        made = _StepButton(self._words.say(_NAMES[step]))
        dress(made, "step", clicked=lambda: self.wanted.emit(step))
        return made


class _StepButton(QPushButton):
    """Leaves the arrow keys to the row."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt would move the focus on to any other button."""
        if event.key() in MOVES:
            event.ignore()
        else:
            super().keyPressEvent(event)
