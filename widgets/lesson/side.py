"""The column of a lesson beside the plots: the parts of one step, which scroll."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QWidget

from widgets.controls.basics import column
from widgets.style.theme import STEP


class LessonSide(QScrollArea):
    """Shows what it is given, one below the other."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("role", "reader")
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def show_parts(self, parts: Sequence[QWidget | QLayout]) -> None:
        """Show these parts in place of those before, scrolled to the top."""
        content = QWidget()
        inside = column(*parts, None, space=4 * STEP)
        inside.setContentsMargins(0, 0, 3 * STEP, 0)  # room for the scroll bar
        content.setLayout(inside)
        before = self.takeWidget()
        if before is not None:
            before.deleteLater()  # one of its buttons may have asked for this
        self.setWidget(content)
        self.verticalScrollBar().setValue(0)
