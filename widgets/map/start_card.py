"""Card that proposes a first experiment while nothing has been measured yet."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from experiments.core.words import Words
from widgets.controls.basics import button, column, label
from widgets.controls.layouts import FlowLayout
from widgets.style.theme import STEP


class StartCard(QFrame):
    """Question, button and expected time of the proposed experiment."""

    experiment_wanted = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._words, self._experiment = words, ""
        self._question, self._time = label("", "head", wrap=True), label("", "soft")
        self.button = button(words.say("map.start"), "main", clicked=self._want)
        layout = column(
            label(words.say("map.start_here"), "soft", wrap=True),
            self._question,
            FlowLayout(self.button, self._time, space=3 * STEP),
            space=3 * STEP,
        )
        layout.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 4 * STEP)
        self.setLayout(layout)
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
