"""How do a few facts stand one below the other? What it is at the left, then the answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from widgets.controls.basics import label, tip
from widgets.style.theme import STEP

Align = Qt.AlignmentFlag


class Facts(QWidget):
    """Pairs of words, and for some a tip. With `numbers` the answers are numbers with their units.

    In a narrow column the answers stand at its right end, in a `wide` one near what they answer.
    """

    def __init__(self, *, numbers: bool = False, wide: bool = False) -> None:
        super().__init__()
        self._numbers = numbers
        self._align = Align.AlignLeft if wide else Align.AlignRight
        self._facts: tuple[tuple[str, ...], ...] = ()
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing((6 if wide else 3) * STEP)
        self._grid.setVerticalSpacing(STEP)
        self._grid.setColumnStretch(1, 1)

    def show_facts(self, facts: Sequence[tuple[str, ...]]) -> None:
        """Show other facts."""
        if tuple(facts) == self._facts:
            return
        self._facts = tuple(facts)
        for old in self._labels:
            self._grid.removeWidget(old)
            old.deleteLater()
        self._labels = []
        for line, (name, answer, *about) in enumerate(facts):
            left = label(name, "soft", wrap=self._numbers)
            role = "note-number" if self._numbers else "note"
            right = label(answer, role, wrap=not self._numbers)
            right.setAlignment(self._align | Align.AlignTop)
            right.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            right.setAccessibleName(f"{name}: {answer}")
            self._grid.addWidget(left, line, 0, Align.AlignTop)
            self._grid.addWidget(right, line, 1)
            for part in (left, right):
                part.setToolTip(tip(*about))
            self._labels += [left, right]

    def text(self) -> str:
        """Return all of it, "" where there is nothing."""
        return "\n".join(f"{name}: {answer}" for name, answer, *_ in self._facts)
