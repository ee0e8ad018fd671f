"""The column of a lesson beside the plots: the parts of one step, which scroll."""

from __future__ import annotations

from PySide6.QtCore import Qt

from widgets.controls.layouts import ReaderArea


class LessonSide(ReaderArea):
    """Shows what it is given, one below the other; what is too wide scrolls sideways."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
