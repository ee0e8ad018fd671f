"""The head of every page: a quiet line, the title below it, and chips at the right.

All pages share it, so that the title stays in place when the page changes.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.controls.basics import follow_width, grid, holding
from widgets.controls.layouts import Fitting, FlowLayout
from widgets.style.theme import STEP

MARGINS = 8 * STEP, 6 * STEP, 8 * STEP, 4 * STEP  # around every place: left, top, right, bottom
BELOW = 4 * STEP  # between the head and the content


class PlaceHead(Fitting):
    """A line, a title and chips; chips without room beside the line wrap below the title."""

    def __init__(self, about: QWidget, title: QLabel, chips: QWidget) -> None:
        super().__init__()
        self._about, self._chips = about, chips
        self._is_beside: bool | None = None
        about.setMinimumWidth(1)  # a long machine name must not widen the window
        follow_width(chips)
        self._grid = grid(4 * STEP, STEP)
        self.setLayout(self._grid)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(about, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(title, 1, 0, 1, 2)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Lay the chips out again when text or its size changes."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.StyleChange):
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        line, gap = self._chips.sizeHint(), self._grid.horizontalSpacing()
        is_beside = self._about.sizeHint().width() + gap + line.width() <= self.width()
        if self._grid.rowMinimumHeight(0) != line.height():  # each call requests a layout
            self._grid.setRowMinimumHeight(0, line.height())
        self._chips.setMinimumWidth(line.width() if is_beside else 0)
        if is_beside == self._is_beside:
            return
        self._is_beside = is_beside
        self._grid.removeWidget(self._chips)
        if is_beside:
            self._grid.addWidget(self._chips, 0, 1, Qt.AlignmentFlag.AlignVCenter)
        else:
            self._grid.addWidget(self._chips, 2, 0, 1, 2)


def chip_row(*chips: QWidget) -> QWidget:
    """Return chips side by side, wrapped into lines."""
    return holding(FlowLayout(*chips))
