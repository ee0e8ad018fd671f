"""How are some plain facts shown? Quietly, each as a soft word and its value, in one text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from widgets.basics import label, row
from widgets.flow import FlowLayout
from widgets.theme import STEP


class FactsList(QWidget):
    """Facts side by side, as many in a line as there is room for."""

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowLayout(space=STEP)
        self.setLayout(self._flow)

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show other facts."""
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for name, value in facts:
            self._flow.addWidget(_fact(name, value))
        self.updateGeometry()


def _fact(name: str, value: str) -> QWidget:
    made = QWidget()
    shown = label(value, "note")
    shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    shown.setAccessibleName(f"{name}: {value}")
    inside = row(label(name, "soft"), shown, space=2 * STEP)
    inside.setContentsMargins(0, 0, 4 * STEP, 0)
    made.setLayout(inside)
    return made
