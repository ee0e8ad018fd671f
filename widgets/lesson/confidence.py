"""The input for how sure a person is of a prediction."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, label, takes_key
from widgets.controls.choices import Segments
from widgets.style.look import Look

NAMES = {1: "lesson.sure_1", 2: "lesson.sure_2", 3: "lesson.sure_3"}


class ConfidenceInput(QWidget):
    """A guess, fairly sure or certain: 1 to 3, by click or key. The answer is optional."""

    chosen = Signal(int)

    def __init__(self, words: Words, _look: Look) -> None:
        super().__init__()
        self._sure: int | None = None
        asked = words.say("lesson.how_sure")
        choices = [(str(sure), words.say(key)) for sure, key in NAMES.items()]
        self._choices = Segments(choices, name=asked)
        self.buttons = {int(name): made for name, made in self._choices.buttons.items()}
        for made in self.buttons.values():
            made.setProperty("letters", "text")
        self._choices.chosen.connect(lambda name: self._choose(int(name)))
        self.setAccessibleName(asked)
        self.setLayout(column(label(asked, "value"), self._choices))

    def sure(self) -> int | None:
        """Return 1, 2 or 3; None where nothing was said."""
        return self._sure

    def set_sure(self, sure: int | None) -> None:
        """Show how sure the person was; nothing is emitted."""
        self._sure = sure
        for value, made in self.buttons.items():
            made.group().setExclusive(False)  # else the last one could not be taken back
            made.setChecked(value == sure)
            made.group().setExclusive(True)

    def set_fixed(self, is_fixed: bool) -> None:
        """Lock or unlock the answer."""
        self.setEnabled(not is_fixed)

    def event(self, event: QEvent) -> bool:
        """Take 1, 2 and 3 before a shortcut of the window does."""
        return takes_key(event, wanted=_digit(event) in self.buttons) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose by 1, 2 or 3."""
        if (digit := _digit(event)) in self.buttons:
            self.buttons[digit].setFocus()
            self._choose(digit)
        else:
            super().keyPressEvent(event)

    def _choose(self, sure: int) -> None:
        self.set_sure(sure)
        self.chosen.emit(sure)


def _digit(event: QEvent) -> int:
    """Return the digit of a key, 0 for another."""
    if not isinstance(event, QKeyEvent) or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return 0
    return int(event.text()) if event.text().isdecimal() else 0
