"""A quiet line that offers a question once more, with two buttons."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, label, row


class Reminder(QWidget):
    """Hidden until there is something to offer; `answered` hides it too."""

    answered = Signal(bool)  # ask again?

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._text = label("", wrap=True)
        say, answer = words.say, self._answer
        self.ask = button(say("runs.ask_again"), clicked=partial(answer, again=True))
        no = partial(answer, again=False)
        self.leave = button(say("runs.ask_not_again"), "flush-link", clicked=no)
        self.setLayout(row(self._text, self.ask, self.leave, grows=0))
        self.hide()

    def offer(self, text: str) -> None:
        """Show a question with its buttons; "" hides them."""
        self._text.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return what is offered."""
        return self._text.text()

    def _answer(self, *, again: bool) -> None:
        self.hide()
        self.answered.emit(again)
