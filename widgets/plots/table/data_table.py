"""The table of measured rows, to be read, sorted and copied.

For screen readers it also stands in for the plots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QTableView, QWidget

from experiments.core.declare import Experiment
from experiments.core.tables import to_tabs
from experiments.core.words import Words
from widgets.controls.actions import HERE, Actions
from widgets.controls.basics import chip, column, discard, holding, label, row, tip
from widgets.controls.elided import ElidedButton
from widgets.controls.layouts import FlowLayout
from widgets.plots.table.rows_model import RowsModel
from widgets.style.look import Look
from widgets.style.theme import STEP

LEAST_ROWS = 6  # visible, header included
MOST_KEPT = 1000  # selected rows that survive when new rows are sorted in


class DataTable(QWidget):
    """The tables of one run, one visible at a time."""

    csv_wanted = Signal(str)  # name of the visible table

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__()
        self._experiment, self._words, self._look = experiment, words, look
        self._tables: Mapping[str, Sequence[Any]] = {}
        self._table = ""
        self.model = RowsModel(experiment, words, look)
        self.model.setParent(self)
        self.view = QTableView()
        self._prepare_view()
        self.setFocusProxy(self.view)
        self._chips_layout = FlowLayout(space=STEP)
        self._chips = holding(self._chips_layout)
        self._group = QButtonGroup(self)
        self._count = label("", "soft")
        self._count.setToolTip(tip(words.say("data.order_help")))
        say_csv = words.say("data.save_csv")
        save = chip(say_csv, clicked=lambda: self.csv_wanted.emit(self._table))
        self.setLayout(column(self._chips, row(self._count, None, save), self.view))
        look.follow(self._fit)

    @property
    def table(self) -> str:
        """The name of the visible table, "" for none."""
        return self._table

    def show_tables(self, tables: Mapping[str, Sequence[Any]]) -> None:
        """Show the tables of a run; for the same run with more rows, like `refresh`."""
        names = [name for name in self._experiment.tables if name in tables]
        if names != list(self._tables):
            self._make_chips(names)
        self._tables = {name: tables[name] for name in names}
        if not names:
            self._table = ""
            return
        self._show(self._table if self._table in names else names[0])

    def refresh(self) -> None:
        """Show the new rows; call it at most twice a second."""
        had_rows = self.model.rowCount() > 0
        if self.model.is_sorted and self._chosen_rows() > MOST_KEPT:
            self.view.clearSelection()  # Qt would take seconds to move so many
        self.model.refresh()
        if not had_rows and self.model.rowCount():
            self._fit_columns()
        self._say_count()

    def copy(self) -> None:
        """Copy the selected cells with all digits, separated by tabs."""
        parts = self.view.selectionModel().selection().toList()
        columns = sorted({at for part in parts for at in range(part.left(), part.right() + 1)})
        rows = sorted({at for part in parts for at in range(part.top(), part.bottom() + 1)})
        if not rows:
            return
        chosen = {
            (line, at)
            for part in (parts if len(parts) > 1 else ())
            for line in range(part.top(), part.bottom() + 1)
            for at in range(part.left(), part.right() + 1)
        }
        value = self.model.value
        lines: list[list[object]] = [
            [value(line, at) if not chosen or (line, at) in chosen else None for at in columns]
            for line in rows
        ]
        if len(rows) > 1 or len(columns) > 1:
            lines.insert(0, [self.model.columns[at] for at in columns])
        QGuiApplication.clipboard().setText(to_tabs(lines).removesuffix("\r\n"))

    def _chosen_rows(self) -> int:
        return sum(part.height() for part in self.view.selectionModel().selection().toList())

    def _prepare_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.viewport().installEventFilter(self)
        view.setProperty("role", "data")
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setTabKeyNavigation(False)  # Tab moves to the next control
        view.setCornerButtonEnabled(False)
        view.verticalHeader().hide()
        head = view.horizontalHeader()
        head.setHighlightSections(False)
        head.setSortIndicatorClearable(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setResizeContentsPrecision(200)  # rows that Qt measures
        view.setSortingEnabled(True)
        head.setSortIndicatorShown(False)  # the header text has an arrow of its own
        head.sortIndicatorChanged.connect(self._fit_arrow)
        actions = Actions(view, self._words, HERE)
        actions.add("data.copy", self.copy, "Ctrl+C")
        actions.add("data.select_all", view.selectAll, "Ctrl+A")
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _make_chips(self, names: Sequence[str]) -> None:
        for old in self._group.buttons():
            self._group.removeButton(old)
            discard(old)
        for name in names:
            made = ElidedButton("chip")
            made.setCheckable(True)
            made.setAutoExclusive(True)
            made.say(self._title(name))
            made.clicked.connect(partial(self._show, name))
            made.setProperty("table", name)
            self._group.addButton(made)
            self._chips_layout.addWidget(made)
        self._chips.setVisible(len(names) > 1)

    def _title(self, table: str) -> str:
        """Return the name of a table: of the first view that shows it, if any."""
        views = (f"views.{view.key}" for view in self._experiment.views if view.table == table)
        return self._words.say(f"{self._experiment.id}.{next(views, f'tables.{table}')}")

    def _show(self, table: str, _checked: bool = False) -> None:
        for each in self._group.buttons():
            each.setChecked(each.property("table") == table)
        rows = self._tables[table]
        if table == self._table and self.model.shows(rows):
            self.refresh()
            return
        self._table = table
        self.view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.model.show_rows(rows, self._experiment.tables[table])
        self.view.setAccessibleName(self._title(table))
        self.view.scrollToTop()
        self._fit_columns()
        self._say_count()

    def _say_count(self) -> None:
        count = self.model.rowCount()
        key = "data.rows" if count else "data.no_rows"
        text = self._words.say(key, {"rows": count})
        if text != self._count.text():
            self._count.setText(text)
            self.view.setAccessibleDescription(text)

    def _fit(self) -> None:
        row_px = self._look.theme.px("text") + 3 * STEP
        self.view.verticalHeader().setDefaultSectionSize(row_px)
        self.view.setMinimumHeight(LEAST_ROWS * row_px)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give every column the width it needs, and a share of the rest."""
        view, count = self.view, self.model.columnCount()
        if not count:
            return
        head = view.horizontalHeader()
        needed = [max(view.sizeHintForColumn(at), head.sectionSizeHint(at)) for at in range(count)]
        air, rest = divmod(max(0, view.viewport().width() - sum(needed)), count)
        for at, width in enumerate(needed):
            view.setColumnWidth(at, width + air + (at < rest))

    def _fit_arrow(self, column: int) -> None:
        """Widen the sorted column if its header has no room for the arrow."""
        head = self.view.horizontalHeader()
        if column >= 0:
            head.resizeSection(column, max(head.sectionSize(column), head.sectionSizeHint(column)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the columns to a new width, such as when a scroll bar appears."""
        if event.type() == QEvent.Type.Resize:
            self._fit_columns()
        return super().eventFilter(watched, event)
