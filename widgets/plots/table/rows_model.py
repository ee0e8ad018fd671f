"""The Qt model of a table of rows: reads the records, shows words and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from experiments.core.declare import Experiment, Row, specs
from experiments.core.judging.disturbed import loss_of
from experiments.core.tables import in_words, number_columns
from experiments.core.words import Words
from widgets.style.look import Look

AnyIndex = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
ARROWS = {Qt.SortOrder.AscendingOrder: "↑", Qt.SortOrder.DescendingOrder: "↓"}
NUMBER = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
WORD = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class RowsModel(QAbstractTableModel):
    """Shows a sequence of records without copying them; call `refresh` after it grows."""

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__()
        self._experiment, self._words, self._look = experiment, words, look
        self._rows: Sequence[Any] = ()
        self._count = 0  # rows known to the view
        self.columns: tuple[str, ...] = ()
        self._units: tuple[str, ...] = ()
        self._is_number: tuple[bool, ...] = ()
        self._order: list[int] | None = None  # None: as measured
        self._sorted_by, self._direction = -1, Qt.SortOrder.AscendingOrder
        self._take_fonts()
        look.changed.connect(self._change_fonts)

    def show_rows(self, rows: Sequence[Any], table: type[Row]) -> None:
        """Show another table, in the order measured."""
        self.beginResetModel()
        self._rows, self._count = rows, len(rows)
        declared = specs(table)
        self.columns = tuple(declared)
        self._units = tuple(spec.unit for spec in declared.values())
        numbers = number_columns(table)
        self._is_number = tuple(name in numbers for name in declared)
        self._order, self._sorted_by = None, -1
        self.endResetModel()

    @property
    def is_sorted(self) -> bool:
        """Return whether the rows are in another order than measured."""
        return self._order is not None

    def shows(self, rows: Sequence[Any]) -> bool:
        """Return whether this is the shown sequence, perhaps with new rows at its end."""
        return self._rows is rows and len(rows) >= self._count

    def refresh(self) -> None:
        """Show the new rows."""
        new = len(self._rows)
        if new <= self._count:
            return
        self.beginInsertRows(QModelIndex(), self._count, new - 1)
        if self._order is not None:
            self._order.extend(range(self._count, new))
        self._count = new
        self.endInsertRows()
        if self._sorted_by >= 0:
            self.sort(self._sorted_by, self._direction)

    def value(self, row: int, column: int) -> Any:
        """Return the measured value of a cell."""
        return getattr(self._rows[self._place(row)], self.columns[column])

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else self._count

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        """Return the number of columns."""
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def data(self, index: AnyIndex, role: int = Role.DisplayRole) -> Any:
        """Return text, font or alignment of a cell."""
        column = index.column()
        if role == Role.DisplayRole:
            return self._text(self.value(index.row(), column), column)
        if role == Role.TextAlignmentRole:
            return NUMBER if self._is_number[column] else WORD
        if role == Role.FontRole:
            return self._mono if self._is_number[column] else self._sans
        loss = loss_of(self._rows[self._place(index.row())])
        if loss is not None and role == Role.ForegroundRole:
            return QColor(self._look.theme.soft)
        if loss is not None and role == Role.ToolTipRole:
            return self._words.say("data.disturbed", {"lost_fraction": loss.lost_fraction})
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        """Return a column's header: its text, and its name in files as the tooltip."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            text = self._words.say(f"{self._experiment.id}.columns.{self.columns[section]}")
            return f"{text} {ARROWS[self._direction]}" if section == self._sorted_by else text
        if role == Role.TextAlignmentRole:
            return NUMBER if self._is_number[section] else WORD
        if role == Role.FontRole:
            return self._small  # the style sheet's font, which Qt does not ask for when it measures
        if role == Role.ToolTipRole:
            values = {"name": self.columns[section], "unit": self._units[section]}
            if self._units[section]:
                return self._words.say("data.head_with_unit", values)
            return self._words.say("data.head", {"name": self.columns[section]})
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 restores the order measured."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        places = [
            index.row() if self._order is None else self._order[index.row()] for index in kept
        ]
        self._sorted_by, self._direction, self._order = column, order, None
        if column >= 0:
            is_downward = order == Qt.SortOrder.DescendingOrder
            self._order = sorted(range(self._count), key=self._key(column), reverse=is_downward)
        if kept:
            now = range(self._count) if self._order is None else self._inverse(self._order)
            moved = [
                self.index(now[place], index.column())
                for index, place in zip(kept, places, strict=True)
            ]
            self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def _place(self, row: int) -> int:
        """Return the index of a shown row's record."""
        return row if self._order is None else self._order[row]

    def _key(self, column: int) -> Callable[[int], Any]:
        """Return the sort key: numbers, or words as shown; empty cells come last."""
        name = self.columns[column]
        values = [getattr(row, name) for row in self._rows[: self._count]]
        if not self._is_number[column]:
            texts = {value: self._text(value, column) for value in set(values) - {None}}
            values = [texts.get(value) for value in values]
        if None in values:
            return lambda at: (values[at] is None, values[at] if values[at] is not None else 0)
        return values.__getitem__

    @staticmethod
    def _inverse(order: Sequence[int]) -> list[int]:
        places = [0] * len(order)
        for place, at in enumerate(order):
            places[at] = place
        return places

    def _text(self, value: Any, column: int) -> str:
        name, unit = self.columns[column], self._units[column]
        return in_words(self._words, self._experiment.id, name, unit, value)

    def _take_fonts(self) -> None:
        theme = self._look.theme
        self._sans: QFont = theme.font("text")
        self._mono: QFont = theme.font("text", mono=True)
        self._small: QFont = theme.font("note")

    def _change_fonts(self) -> None:
        self._take_fonts()
        self.layoutChanged.emit()
