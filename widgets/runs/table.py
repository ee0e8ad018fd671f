"""Table of the runs, to sort and to choose from.

Selection, scroll position and current run survive every refresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionHeader,
    QTableView,
)

from experiments.core.words import Words
from widgets.runs.listed import ListedRun
from widgets.runs.model import COLUMNS, Column, Index, RunsModel
from widgets.runs.painting import RunPainter
from widgets.style.look import Look
from widgets.style.theme import STEP

Arrow = QStyleOptionHeader.SortIndicator


class RunsHeader(QHeaderView):
    """Header of the table; sorted by the newest first until a column is clicked."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(STEP)
        self.setSectionsClickable(True)
        self.setSortIndicator(Column.WHEN, Qt.SortOrder.DescendingOrder)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, index: int) -> None:
        """Turn the arrow to point in reading order: Qt points it up for descending values."""
        super().initStyleOptionForIndex(option, index)
        turned = {Arrow.SortUp: Arrow.SortDown, Arrow.SortDown: Arrow.SortUp}
        option.sortIndicator = turned.get(option.sortIndicator, option.sortIndicator)


WIDTHS = {  # pixels at zoom 1
    Column.PIN: 26,
    Column.WHEN: 130,  # "yesterday 23:59"
    Column.RUN: 184,
    Column.RESULT: 184,
    Column.PREDICTION: 226,  # "surprise · by up to 18 times"
    Column.SETTINGS: 150,
    Column.MACHINE: 140,
}
WIDEST_RESULT = 1.4  # times its width, if there is room
LAST_TO_GO = (
    Column.MACHINE,
    Column.SETTINGS,
    Column.PREDICTION,
    Column.RESULT,
)  # hidden in this order


@dataclass(frozen=True, slots=True)
class _Before:
    """Selection and scroll position before the runs were replaced."""

    keys: frozenset[str] = frozenset()
    current: str = ""
    row: int = 0
    scrolled: int = 0


class RunsTable(QTableView):
    """The list of runs, identified by keys."""

    chosen = Signal()  # the selected runs are others, or have changed
    opened = Signal(str)  # a run, by Enter or a double click
    rename_asked = Signal()
    delete_asked = Signal()
    pin_clicked = Signal(str)  # of this run only
    menu_asked = Signal(QPoint)  # position on the screen

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look = look
        self.runs = RunsModel(words)
        self._silent: frozenset[Column] = frozenset()
        self.setModel(self.runs)
        self._painter = RunPainter(look, self)
        self.setItemDelegate(self._painter)
        self.setAccessibleName(words.say("runs.list"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)  # for the pin under the mouse
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = RunsHeader()
        self.setHorizontalHeader(header)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(Column.RUN, QHeaderView.ResizeMode.Stretch)
        self.setSortingEnabled(True)
        # With the selection of the list, the header asks for each painting whether every row of a
        # column is selected.
        header.setSelectionModel(QItemSelectionModel(self.runs, header))
        self._before = _Before()
        self._is_restoring = False
        self.runs.modelAboutToBeReset.connect(self._remember)
        self.runs.modelReset.connect(self._restore)
        self.selectionModel().selectionChanged.connect(self._tell_chosen)
        look.follow(self._measure)

    def show_runs(self, runs: Sequence[ListedRun]) -> None:
        """Show these runs."""
        self.runs.set_runs(runs)
        self._silent = _silent(runs)
        if self._painter.has_predictions is (Column.PREDICTION in self._silent):
            self._painter.has_predictions = Column.PREDICTION not in self._silent
            self._measure()
        self._give_room()

    def search(
        self, text: str, tags: frozenset[str] = frozenset(), *, surprises: bool = False
    ) -> None:
        """Show only the runs with these words and tags, or only the surprises of them."""
        self.runs.search(text, tags, surprises=surprises)

    def selected(self) -> list[ListedRun]:
        """Return the selected runs, from top to bottom."""
        rows: set[int] = set()
        selection = self.selectionModel().selection()
        for part in (selection.at(place) for place in range(selection.count())):
            rows.update(range(part.top(), part.bottom() + 1))
        return [self.runs.shown[row] for row in sorted(rows)]

    def select(self, keys: Sequence[str]) -> None:
        """Select those of these runs that are shown; the first becomes the current one."""
        rows = [row for key in keys if (row := self.runs.row_of(key)) is not None]
        self._select_rows(rows, rows[0] if rows else None)
        if rows:
            self.scrollTo(self.runs.index(rows[0], Column.RUN))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open, rename and delete by keys; Qt handles moving and choosing."""
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._open(self.currentIndex())
            case Qt.Key.Key_F2:
                self.rename_asked.emit()
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                self.delete_asked.emit()
            case _:
                super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Ignore letters: there is a search field, and some letters are shortcuts."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the run under the mouse."""
        index = self.indexAt(event.position().toPoint())
        if index.column() != Column.PIN:
            self._open(index)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pin or unpin by a click on the pin."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.column() == Column.PIN:
            self.pin_clicked.emit(self.runs.shown[index.row()].key)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu at the mouse, or below the current run."""
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            below = self.visualRect(self.currentIndex()).bottomLeft()
            place = self.viewport().mapToGlobal(below)
        self.menu_asked.emit(place)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Repaint the ring around the whole row."""
        super().currentChanged(current, previous)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the ring."""
        super().focusOutEvent(event)
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Make sure that there is a current run."""
        super().focusInEvent(event)
        self.viewport().update()
        if not self.currentIndex().isValid() and self.runs.shown:
            self._select_rows([0], 0)
            self._tell_chosen()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide columns without room; the details show all."""
        super().resizeEvent(event)
        self._give_room()

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self.runs.shown[index.row()].key)

    def _measure(self) -> None:
        """Set row height and column widths by the text."""
        zoom = self._look.theme.zoom
        self.verticalHeader().setDefaultSectionSize(self._painter.row_height())
        self.verticalScrollBar().setSingleStep(self._painter.row_height() // 2)
        for column, width in WIDTHS.items():
            self.setColumnWidth(column, round(width * zoom))
        self._give_room()

    def _give_room(self) -> None:
        zoom, room = self._look.theme.zoom, self.viewport().width()
        hidden, wanted = set(self._silent), 0
        for column in (None, *LAST_TO_GO):
            hidden |= {column} if column is not None else set()
            wanted = sum(width for each, width in WIDTHS.items() if each not in hidden)
            if wanted * zoom <= room:
                break
        for column in LAST_TO_GO:
            self.setColumnHidden(column, column in hidden)
        spare = max(room / zoom - wanted, 0.0) / 2
        width = min(WIDTHS[Column.RESULT] + spare, WIDTHS[Column.RESULT] * WIDEST_RESULT)
        self.setColumnWidth(Column.RESULT, round(width * zoom))

    def _select_rows(self, rows: Sequence[int], current: int | None) -> None:
        selection = QItemSelection()
        for first, last in _stretches(rows):
            selection.select(
                self.runs.index(first, Column.PIN), self.runs.index(last, Column.MACHINE)
            )
        model, flag = self.selectionModel(), QItemSelectionModel.SelectionFlag
        if current is not None:
            model.setCurrentIndex(self.runs.index(current, Column.RUN), flag.NoUpdate)
        model.select(selection, flag.ClearAndSelect)

    def _remember(self) -> None:
        current = self.currentIndex()
        shown = self.runs.shown
        self._before = _Before(
            frozenset(run.key for run in self.selected()),
            shown[current.row()].key if current.isValid() else "",
            max(0, current.row()),
            self.verticalScrollBar().value(),
        )

    def _restore(self) -> None:
        """Restore the selection; if none of it is left, select the run in its place."""
        before, shown = self._before, self.runs.shown
        rows = [row for row, run in enumerate(shown) if run.key in before.keys]
        current = self.runs.row_of(before.current) if before.current else None
        if shown and not rows:
            rows = [min(before.row, len(shown) - 1)]
        if rows and current not in rows:
            current = rows[0]
        self.clearSpans()
        for row, run in enumerate(shown):
            if run.problem:  # its sentence spans the whole row
                self.setSpan(row, Column.RUN, 1, COLUMNS - Column.RUN)
        self._is_restoring = True
        self._select_rows(rows, current)
        self._is_restoring = False
        self.verticalScrollBar().setValue(before.scrolled)
        self.chosen.emit()

    def _tell_chosen(self) -> None:
        if not self._is_restoring:
            self.chosen.emit()


def _silent(runs: Sequence[ListedRun]) -> frozenset[Column]:
    """Return the columns without information, such as that of the machine if there is one alone."""
    says = {
        Column.SETTINGS: any(run.settings for run in runs),
        Column.PREDICTION: any(run.prediction for run in runs),
        Column.MACHINE: len({run.machine for run in runs if run.machine}) > 1,
    }
    return frozenset(column for column, has_something in says.items() if not has_something)


def _stretches(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return first and last row of each contiguous stretch: few even for large selections."""
    found: list[tuple[int, int]] = []
    for row in sorted(rows):
        if found and found[-1][1] == row - 1:
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found
