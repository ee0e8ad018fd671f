"""Card that proposes a first experiment while nothing has been measured yet."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from experiments.core.words import Words
from widgets.controls.basics import IconButton, button, column, label, row
from widgets.controls.layouts import FlowLayout
from widgets.style.look import Look
from widgets.style.theme import STEP


class StartCard(QFrame):
    """Question, button and expected time of the proposed experiment.

    `experiment_wanted` carries its id; `closed` says that a person wants no card.
    """

    experiment_wanted = Signal(str)
    closed = Signal()

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._words, self._experiment = words, ""
        self._question, self._time = label("", "head", wrap=True), label("", "soft")
        self.button = button(words.say("map.start"), "main", clicked=self._want)
        close = words.say("map.start_close")
        self.close_button = IconButton(look, "close", close, clicked=self._close)
        head = row(self._question, self.close_button, grows=0)
        head.setAlignment(self.close_button, Qt.AlignmentFlag.AlignTop)
        edges = (4 * STEP, 3 * STEP, 3 * STEP, 4 * STEP)
        foot = FlowLayout(self.button, self._time)
        self.setLayout(column(head, foot, space=3 * STEP, edges=edges))
        self.hide()

    def offer(self, experiment: str, question: str, seconds: float) -> None:
        """Propose an experiment to start with."""
        self._experiment = experiment
        self._question.setText(question)
        expected_s = round(seconds) or seconds
        self._time.setText(self._words.say("map.takes", {"expected_s": expected_s}))
        self.show()

    def _want(self) -> None:
        self.experiment_wanted.emit(self._experiment)

    def _close(self) -> None:
        self.hide()
        self.closed.emit()
