"""A question asked before something is lost, with named buttons, one of which changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from widgets.controls.basics import button, label
from widgets.controls.choices import Check
from widgets.controls.layouts import FlowLayout
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 560


@dataclass(frozen=True, slots=True)
class Answer:
    """One button: the name of the answer, its text, and its role (see basics.button)."""

    name: str
    text: str
    role: str = "plain"


class Question(Overlay):
    """Waits for an answer without blocking. Emits `answered` once."""

    answered = Signal(str, bool)  # the answer's name; remember it?

    def __init__(
        self,
        parent: QWidget,
        look: Look,
        question: str,
        explained: str,
        answers: Sequence[Answer],
        remember: str,
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self.setAccessibleName(question)
        self.setAccessibleDescription(explained)
        self._answer, self._remembered = answers[-1].name, False
        self.content.addWidget(label(question, "head", wrap=True))
        if explained:
            self.content.addWidget(label(explained, wrap=True))
        self.remember = Check(remember, look)
        self.buttons = {
            answer.name: button(
                answer.text, answer.role, clicked=partial(self._choose, answer.name)
            )
            for answer in answers
        }
        self.content.addSpacing(STEP)
        self.content.addLayout(FlowLayout(*self.buttons.values()))
        self.content.addWidget(self.remember)
        self.remember.setVisible(bool(remember))
        harmless = next((each for each in answers if each.role != "stop"), answers[-1])
        self.setFocusProxy(self.buttons[harmless.name])
        self.closed.connect(lambda: self.answered.emit(self._answer, self._remembered))

    def _choose(self, name: str) -> None:
        self._answer, self._remembered = name, self.remember.isChecked()
        self.dismiss()


def ask(
    parent: QWidget,
    look: Look,
    question: str,
    explained: str,
    answers: Sequence[Answer],
    *,
    remember: str = "",
) -> Question:
    """Ask over `parent` and return at once.

    The last answer must change nothing: Esc and a click beside the sheet give it too.
    """
    window = parent.window()
    if window.isMinimized():
        window.showNormal()
    asked = Question(parent, look, question, explained, answers, remember)
    asked.open()
    return asked
