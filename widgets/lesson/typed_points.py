"""Numbers of a sketch or a mark, typed: the way for keys and screen readers beside the plot."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt

from experiments.core.parameters import read_number, to_text
from experiments.core.teaching.lessons import Marker, Sketch
from experiments.core.units import show, unbroken, unit_of
from experiments.core.words import Words
from widgets.controls.basics import grid, label, set_role
from widgets.form.typed_input import VALUE_CHARACTERS, ErrorLine, ValueEdit
from widgets.lesson.log_slider import log_stops, middle_of
from widgets.lesson.prediction_input import PredictionInput
from widgets.style.look import Look
from widgets.style.theme import STEP


class PointsInput(PredictionInput):
    """A line for each point of a sketch, or one for a mark; `units` are those of the axes x, y.

    Up and Down step, typing sets. The first point that is set makes an answer of all: the others
    stand where the plot draws them, in the middle of the range.
    """

    def __init__(
        self,
        predict: Sketch | Marker,
        words: Words,
        look: Look,
        units: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(predict.ask)
        self._look, self._words, self._range = look, words, predict.range
        if isinstance(predict, Sketch):
            self._unit = units[1]
            names = [
                words.say("lesson.at_place", {"place": show(point, units[0])})
                for point in predict.points
            ]
        else:
            self._unit = unit_of(predict.answer)
            names = [words.say("lesson.your_mark")]
        self.start = (middle_of(*self._range, self._unit),) * len(names)
        self.edits: Sequence[ValueEdit] = [
            self._edit(place, name) for place, name in enumerate(names)
        ]
        self._error = ErrorLine(look)
        cells = grid(2 * STEP, 0)
        cells.setColumnStretch(0, 1)
        for place, (name, edit) in enumerate(zip(names, self.edits, strict=True)):
            beside = label(unbroken(name), "value")
            beside.setBuddy(edit)
            cells.addWidget(beside, place, 0)
            cells.addWidget(edit, place, 1, Qt.AlignmentFlag.AlignRight)
        cells.addWidget(self._error, len(names), 0, 1, 2)
        self.setLayout(cells)
        look.follow(self._fit)
        self._show()

    def focus_first(self) -> None:
        """Give the focus to the first number."""
        self.edits[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def _edit(self, place: int, name: str) -> ValueEdit:
        made = ValueEdit()
        made.setAccessibleName(name)
        made.stepped.connect(lambda direction: self._step(place, direction))
        made.undone.connect(self._show)
        made.editingFinished.connect(lambda: self._read(place))
        return made

    def _values(self) -> tuple[float, ...]:
        return self._at if self._at is not None else self.start

    def _step(self, place: int, direction: int) -> None:
        value = self._values()[place]
        self._set(place, log_stops(*self._range, self._unit, value).beside(value, direction))

    def _read(self, place: int) -> None:
        """Take what was typed, or say what can be."""
        edit = self.edits[place]
        if not edit.isModified():
            return
        low, high = self._range
        try:
            number = read_number(edit.text(), self._unit)
        except ValueError:
            number = low - 1
        if low <= number <= high:
            self._set(place, number)
            return
        told = {"low": show(low, self._unit), "high": show(high, self._unit)}
        self._error.say(self._words.say("lesson.out_of_range", told))
        set_role(edit, "doubtful")

    def _set(self, place: int, value: float) -> None:
        values = list(self._values())
        values[place] = value
        self._answer(tuple(values))

    def _show(self) -> None:
        self._error.hide()
        low, high = (show(each, self._unit) for each in self._range)
        for edit, value in zip(self.edits, self._values(), strict=True):
            text = to_text(value, self._unit)
            edit.setText("" if self._at is None else text)
            edit.setPlaceholderText(text if self.isEnabled() else "")
            edit.setModified(False)
            set_role(edit, "value")
            told = {"value": text, "low": low, "high": high}
            edit.setAccessibleDescription(self._words.say("lesson.number_between", told))

    def _fit(self) -> None:
        for edit in self.edits:
            edit.setFont(self._look.theme.font("text", mono=True))
            edit.ensurePolished()
            edit.setFixedWidth(edit.fontMetrics().horizontalAdvance("0" * VALUE_CHARACTERS))
