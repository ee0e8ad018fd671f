"""How is one of a few chosen? By buttons side by side, one of which is on; arrow keys go along."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from widgets.controls.flow import FlowLayout
from widgets.style.theme import STEP


class Segments(QWidget):
    """The choices as (name, words). `chosen` comes when a person chooses, not from `choose`."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], *, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self.buttons = {choice: self._button(choice, text, name) for choice, text in choices}
        self.setLayout(FlowLayout(*self.buttons.values(), space=STEP))

    def choose(self, name: str) -> None:
        """Show `name` as chosen."""
        self.buttons[name].setChecked(True)

    def _button(self, choice: str, text: str, name: str) -> QRadioButton:
        button = QRadioButton(text)
        button.setProperty("role", "segment")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleDescription(name)
        button.clicked.connect(lambda _checked=False: self.chosen.emit(choice))
        self._group.addButton(button)
        return button
