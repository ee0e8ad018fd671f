"""A note that shows a person's prediction beside the measured value."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, label
from widgets.lesson.callout import Aside
from widgets.lesson.confidence import NAMES
from widgets.style.look import Look


class GuessNote(QWidget):
    """The guess in words, and how sure it was."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._told = ""
        self._sure: int | None = None
        self._guess = label(wrap=True)
        self._guess.setTextFormat(Qt.TextFormat.RichText)
        self._block = Aside(label(words.say("lesson.you_predicted"), "value"), self._guess)
        self.setLayout(column(self._block))
        look.changed.connect(self._show)
        self._block.hide()

    def show_guess(self, told: str, sure: int | None = None) -> None:
        """Show a guess as `Taught.told` gives it; "" hides the block."""
        self._told, self._sure = told, sure
        self._show()
        self._block.setVisible(bool(told))

    def _show(self) -> None:
        said = f"<b>{escape(unbroken(self._told))}</b>"
        if self._sure in NAMES:
            sure = self._words.say(NAMES[self._sure])
            said += f' <span style="color:{self._look.theme.soft}">· {escape(sure)}</span>'
        self._guess.setText(said)
