"""The map as a table, also for screen readers: each part, its facts, its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, label
from widgets.map.layout.boxes import Box, Kind
from widgets.map.panel.part_rows import PartRow
from widgets.style.look import Look
from widgets.style.theme import STEP

COLUMNS = ("map.column_part", "map.column_facts", "map.column_measured")
PART, FACTS, MEASURED = range(3)
WIDEST = {PART: 0.5, MEASURED: 0.25}  # of the table's width; the facts get the rest


class PartsTable(QWidget):
    """The table, with the count of parts above it. `part_chosen` carries a Box or None."""

    part_chosen = Signal(object)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._marked: Box | None = None
        self._wanted: dict[int, int] = {}  # the width at which nothing in a column is cut
        self.parts: Sequence[PartRow] = ()
        self.model = QStandardItemModel(0, len(COLUMNS), self)
        self.model.setHorizontalHeaderLabels([words.say(key) for key in COLUMNS])
        self._count = label("", "soft")
        self.view = QTableView()
        self.view.setModel(self.model)
        self.view.setProperty("role", "data")
        self.view.setAccessibleName(words.say("map.table_name"))
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setTabKeyNavigation(False)
        self.view.setShowGrid(False)
        self.view.setWordWrap(False)  # wrapping would leave columns half empty
        self.view.verticalHeader().hide()
        header = self.view.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionResizeMode(FACTS, QHeaderView.ResizeMode.Stretch)
        self.setFocusProxy(self.view)
        self.setLayout(column(self._count, self.view, space=2 * STEP))
        self.view.selectionModel().selectionChanged.connect(self._choose)
        look.follow(self._fit)

    def show_parts(self, parts: Sequence[PartRow]) -> None:
        """Show these parts; if they are the same, selection and scroll position stay."""
        if parts == self.parts:
            return
        self.parts, self._marked = parts, None
        self.model.setRowCount(0)
        self.model.setRowCount(len(parts))
        for place, part in enumerate(parts):
            for at in range(len(COLUMNS)):
                self.model.setItem(place, at, _item(part.cell(at)))
        count = sum(part.box is not None and part.box.kind is not Kind.UNREAD for part in parts)
        self._count.setText(self._words.say("map.table_count", {"count": count}))
        self._fit()

    def mark(self, box: Box | None) -> Box | None:
        """Mark the row of a part; return the box of that row, None if there is no such row."""
        ids = [part.box and part.box.id for part in self.parts]
        at = ids.index(box.id) if box is not None and box.id in ids else None
        self._marked = None if at is None else self.parts[at].box
        chosen = self.view.currentIndex().row()
        if at is None and box is None and chosen >= 0 and self.parts[chosen].box is None:
            return None  # the row of the whole machine
        if at is None:
            self.view.setCurrentIndex(QModelIndex())  # otherwise Qt frames the first row
        else:
            self.view.selectRow(at)
        return self._marked

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the new width among the columns."""
        super().resizeEvent(event)
        self._share_width()

    def _choose(self) -> None:
        """Emit the chosen part, unless its row was marked by the program."""
        rows = self.view.selectionModel().selectedRows()
        box = self.parts[rows[0].row()].box if rows else None
        if box != self._marked:
            self._marked = box
            self.part_chosen.emit(box)

    def _fit(self) -> None:
        line = self._look.theme.px("note")
        self.view.verticalHeader().setDefaultSectionSize(line + 3 * STEP)
        self._wanted = {}
        for place in WIDEST:
            self.view.resizeColumnToContents(place)
            self._wanted[place] = self.view.columnWidth(place)
        self._share_width()

    def _share_width(self) -> None:
        for place, wanted in self._wanted.items():
            most = round(WIDEST[place] * self.view.width())
            self.view.setColumnWidth(place, min(wanted, most))


def _item(text: str) -> QStandardItem:
    """Return a cell; its tip has the full text."""
    item = QStandardItem(text)
    item.setToolTip(text)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
    return item
