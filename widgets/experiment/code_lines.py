"""List of Python lines with numbers, to be chosen by mouse or keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QListView

from widgets.experiment.code_line import LINE_ROLE, Line, LinePainter
from widgets.experiment.highlighting import spans
from widgets.style.look import Look

CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class CodeLines(QListView):
    """As high as its lines are. `chosen` carries the number of a line, from 1."""

    chosen = Signal(int)
    moved = Signal(QRect)  # rectangle of the current line, in pixels of this widget

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._items = QStandardItemModel(self)
        self.painter = LinePainter(look, self)
        self.setModel(self._items)
        self.setItemDelegate(self.painter)
        self.setProperty("role", "code")
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda index: self.chosen.emit(index.row() + 1))
        look.changed.connect(self._fit)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these; the current line stays if their number is the same."""
        self.painter.spans = spans("\n".join(line.text for line in lines))
        is_other = self._items.rowCount() != len(lines)
        if is_other:
            self._items.clear()
        for row, line in enumerate(lines):
            item = QStandardItem() if is_other else self._items.item(row)
            item.setText(line.text)
            item.setData(line, LINE_ROLE)
            item.setData(line.spoken(), Qt.ItemDataRole.AccessibleTextRole)
            if is_other:
                self._items.appendRow(item)
        if is_other:
            self.choose(1)
        self._fit()

    def choose(self, number: int) -> None:
        """Make a line the current one."""
        self.setCurrentIndex(self._items.index(number - 1, 0))

    def fit(self, width: int) -> None:
        """Wrap lines at this width."""
        if width != self.painter.width:
            self.painter.width = width
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose a line by Enter or Space."""
        if event.key() in CHOOSING and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row() + 1)
            return
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.currentIndex() != before:
            self.moved.emit(self.visualRect(self.currentIndex()))

    def _fit(self) -> None:
        self.scheduleDelayedItemsLayout()
        heights = [self.painter.height_of(self._line(row)) for row in range(self._items.rowCount())]
        self.setFixedHeight(sum(heights) + 2 * self.frameWidth())
        self.viewport().update()

    def _line(self, row: int) -> Line:
        line: Line = self._items.item(row).data(LINE_ROLE)
        return line
