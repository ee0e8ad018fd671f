"""The sheet of all shortcuts, in two columns where there is room; a question mark opens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, grid, holding, label, row
from widgets.controls.layouts import scrolling
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX, NARROW_PX = 860, 460  # for two columns of groups, and for one
KEY_PLACE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
COLUMN_PX = 340  # at zoom 1; a sheet narrower than two has one column


@dataclass(frozen=True, slots=True)
class Group:
    """Shortcuts that belong together, as (keys, action)."""

    title: str
    keys: Sequence[tuple[str, str]]


class ShortcutSheet(Overlay):
    """Every shortcut. Esc, ? again, its button or a click beside it closes the sheet."""

    def __init__(self, groups: Sequence[Group], words: Words, look: Look, parent: QWidget) -> None:
        groups = [group for group in groups if group.keys]
        super().__init__(parent, width_px=WIDTH_PX if len(groups) > 1 else NARROW_PX)
        self.add_head(words.say("shortcuts.title"), words.say("overlay.close"), look)
        self.keys = _Keys(groups, look)
        self.area = scrolling(self.keys, words.say("shortcuts.title"))
        self.content.addWidget(self.area, 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close by the key that opened it too."""
        if event.text() == "?":
            self.dismiss()
        else:
            super().keyPressEvent(event)


class _Keys(QWidget):
    def __init__(self, groups: Sequence[Group], look: Look) -> None:
        super().__init__()
        self._look = look
        self._groups = [_group(group) for group in groups]
        self._rows = [len(group.keys) + 2 for group in groups]
        self._columns = (column(space=6 * STEP), column(space=6 * STEP))
        self.column_count = 0
        self._beside = row(*self._columns, space=10 * STEP, edges=(0, 0, 2 * STEP, 0), grows=0)
        self.setLayout(self._beside)
        self._fill(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use one column if two have no room."""
        super().resizeEvent(event)
        self._fill(2 if self.width() >= 2 * COLUMN_PX * self._look.theme.zoom else 1)

    def _fill(self, count: int) -> None:
        if count == self.column_count:
            return
        self.column_count = count
        for each in self._columns:
            while each.count():
                each.takeAt(0)
        split = halfway(self._rows) if count == 2 else len(self._groups)
        for place, group in enumerate(self._groups):
            self._columns[place >= split].addWidget(group)
        for each in self._columns:
            each.addStretch(1)
        self._beside.setStretch(1, count - 1)


def halfway(rows: Sequence[int]) -> int:
    """Return the number of groups in the first column that makes both most even."""
    return min(range(1, len(rows) + 1), key=lambda n: abs(sum(rows[:n]) - sum(rows[n:])))


def _group(group: Group) -> QWidget:
    lines = grid(4 * STEP, 2 * STEP)
    lines.setColumnStretch(0, 1)
    lines.addWidget(label(group.title, "soft"), 0, 0, 1, 2)
    for place, (keys, text) in enumerate(group.keys, start=1):
        lines.addWidget(label(text, wrap=True), place, 0)
        lines.addWidget(label(keys, "key"), place, 1, KEY_PLACE)
    return holding(lines)
