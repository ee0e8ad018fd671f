"""Facts in two columns: name at the left, value at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.controls.basics import discard, grid, label, tip
from widgets.style.theme import STEP

Align = Qt.AlignmentFlag


class Facts(QWidget):
    """Pairs of name and value, some with a tip. With `numbers` the values are numbers with units.

    In a narrow column the values are right-aligned, in a `wide` one they stand near their names.
    """

    def __init__(self, *, numbers: bool = False, wide: bool = False) -> None:
        super().__init__()
        self._numbers = numbers
        self._align = Align.AlignLeft if wide else Align.AlignRight
        self._facts: tuple[tuple[str, ...], ...] = ()
        self._labels: list[QLabel] = []
        self._grid = grid((6 if wide else 3) * STEP, STEP)
        self._grid.setColumnStretch(1, 1)
        self.setLayout(self._grid)

    def show_facts(self, facts: Sequence[tuple[str, ...]]) -> None:
        """Show these facts."""
        if tuple(facts) == self._facts:
            return
        self._facts = tuple(facts)
        discard(*self._labels)
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
        """Return all facts as text, or ""."""
        return "\n".join(f"{name}: {answer}" for name, answer, *_ in self._facts)
