"""A prediction of a number: a logarithmic slider, with the number large above it."""

from __future__ import annotations

from experiments.core.teaching.lessons import Magnitude
from experiments.core.units import show, unbroken, unit_of
from experiments.core.words import Words
from widgets.controls.basics import column, label, set_role
from widgets.lesson.log_slider import LogSlider, middle_of
from widgets.lesson.prediction_input import PredictionInput
from widgets.style.look import Look
from widgets.style.theme import STEP


class MagnitudeInput(PredictionInput):
    """Arrow keys move by a tenth, Page Up and Page Down by a factor of ten (bytes: of 16)."""

    def __init__(self, predict: Magnitude, words: Words, look: Look) -> None:
        super().__init__(predict.ask)
        self._words = words
        self._range, self._unit = predict.range, unit_of(predict.answer)
        self._number = label(role="guess")
        self._hint = label(words.say("lesson.drag"), "soft", wrap=True)
        self.slider = LogSlider(*predict.range, self._unit, look)
        self.slider.setAccessibleName(predict.ask)
        self.slider.touched.connect(lambda: self._answer((self.slider.chosen,)))
        self.setLayout(column(self._number, self.slider, self._hint, space=STEP))
        self._show()

    def focus_first(self) -> None:
        """Give the focus to the slider."""
        self.slider.setFocus()

    def _show(self) -> None:
        start = middle_of(*self._range, self._unit)
        value = start if self._at is None else self._at[0]
        self.slider.place(value, is_chosen=self._at is not None)
        self._hint.setVisible(self.isEnabled())
        said = show(value, self._unit)
        self._number.setText("?" if self._at is None else unbroken(said))
        set_role(self._number, "no-guess" if self._at is None else "guess")
        low, high = (show(each, self._unit) for each in self._range)
        told = {"value": "?" if self._at is None else said, "low": low, "high": high}
        self.slider.setAccessibleDescription(self._words.say("lesson.number_between", told))
