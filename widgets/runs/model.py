"""Qt model of the runs, searched and sorted.

Pinned runs stay on top in every order. Ten thousand runs take some milliseconds, because sort keys
are made once per run and not per comparison.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from experiments.core.words import Words
from widgets.runs.listed import ListedRun

Index = QModelIndex | QPersistentModelIndex
RUN_ROLE = Qt.ItemDataRole.UserRole
NOWHERE = QModelIndex()


class Column(IntEnum):
    """The columns, from left to right."""

    PIN = 0
    WHEN = 1
    RUN = 2
    RESULT = 3
    PREDICTION = 4
    SETTINGS = 5
    MACHINE = 6


COLUMNS = len(Column)  # counting an enumeration is slow, and the view asks often
HEADINGS = {
    Column.WHEN: "runs.when",
    Column.RUN: "runs.run",
    Column.RESULT: "runs.result",
    Column.PREDICTION: "runs.prediction",
    Column.SETTINGS: "runs.settings",
    Column.MACHINE: "runs.machine",
}


class RunsModel(QAbstractTableModel):
    """The shown runs, out of all."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._all: Sequence[ListedRun] = ()
        self._asked: tuple[str, ...] = ()
        self._tags: frozenset[str] = frozenset()
        self._surprises = False
        self._column, self._is_descending = Column.WHEN, True
        self.shown: list[ListedRun] = []
        self._rows: dict[str, int] = {}  # by the keys of the shown runs

    @property
    def total(self) -> int:
        """The number of all runs, shown or not."""
        return len(self._all)

    def set_runs(self, runs: Sequence[ListedRun]) -> None:
        """Set all runs."""
        self._all = runs
        self._show()

    def search(
        self, text: str, tags: frozenset[str] = frozenset(), *, surprises: bool = False
    ) -> None:
        """Show only runs with every word of `text` and all `tags`; perhaps only `surprises`."""
        self._asked, self._tags = tuple(text.lower().split()), tags
        self._surprises = surprises
        self._show()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the runs by a column."""
        wanted = column, order is Qt.SortOrder.DescendingOrder
        if column in HEADINGS and wanted != (self._column, self._is_descending):  # Qt asks twice
            self._column, self._is_descending = Column(column), wanted[1]
            self._show()

    def row_of(self, key: str) -> int | None:
        """Return the row of a run, None if it is not shown."""
        return self._rows.get(key)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Return the number of shown runs."""
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else COLUMNS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text or tip of a cell, or the whole run."""
        if not index.isValid():
            return None
        run, column = self.shown[index.row()], Column(index.column())
        if role == RUN_ROLE:
            return run
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(run, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _escaped(self._hint(run, column))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the heading of a column."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words.say(HEADINGS[Column(section)]) if section in HEADINGS else ""
        if role == Qt.ItemDataRole.ToolTipRole and section == Column.PREDICTION:
            return _escaped(self._words.say("runs.prediction_hint"))
        if role == Qt.ItemDataRole.AccessibleTextRole and section == Column.PIN:
            return self._words.say("runs.pinned")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def _show(self) -> None:
        self.beginResetModel()
        found = list(self._all)
        for word in self._asked:
            found = [run for run in found if word in run.words]
        if tags := self._tags:
            found = [run for run in found if tags.issubset(run.tags)]
        if self._surprises:
            found = [run for run in found if run.is_surprise]
        found.sort(key=lambda run: run.at, reverse=True)  # equal ones stay newest first
        if self._column is not Column.WHEN or not self._is_descending:
            for key in _KEYS[self._column][::-1]:
                found.sort(key=key, reverse=self._is_descending)
        found.sort(key=lambda run: not run.is_pinned)
        self.shown, self._rows = found, {run.key: row for row, run in enumerate(found)}
        self.endResetModel()

    def _text(self, run: ListedRun, column: Column) -> str:
        match column:
            case Column.PIN:
                return self._words.say("runs.pinned") if run.is_pinned else ""
            case Column.WHEN:
                return _joined(run.when, run.kind)
            case Column.RUN:
                return _joined(run.title, run.ending, *run.tags, run.problem)
            case Column.RESULT:
                return _joined(*(f"{each.label} {each.shown}" for each in run.results))
            case Column.PREDICTION:
                guess = run.prediction
                return _joined(guess.judged, guess.said, guess.was) if guess is not None else ""
            case Column.SETTINGS:
                return _joined(*run.settings)
            case Column.MACHINE:
                return run.machine

    def _hint(self, run: ListedRun, column: Column) -> str:
        match column:
            case Column.PIN:
                return self._words.say("runs.unpin" if run.is_pinned else "runs.pin")
            case Column.RESULT:
                return run.finding
            case Column.PREDICTION:
                counts = run.prediction.counts if run.prediction is not None else ""
                return "\n".join(filter(None, (self._text(run, column), counts)))
            case _:  # facts that the row omits or may cut off
                measured = _joined(run.exact, run.machine)
                parts = (run.question, run.note, measured, _joined(*run.all_settings), run.key)
                return "\n".join(part for part in parts if part)


# The first key counts most. None makes a tuple: so many would set off the garbage collector.
_KEYS: dict[Column, Sequence[Callable[[ListedRun], Any]]] = {
    Column.WHEN: [lambda run: run.at],
    Column.RUN: [lambda run: (run.title or run.problem).lower()],
    Column.RESULT: [  # values of different kinds are not comparable
        lambda run: run.results[0].label if run.results else "",
        lambda run: run.results[0].value if run.results else 0.0,
    ],
    Column.PREDICTION: [
        lambda run: run.is_surprise,
        lambda run: run.prediction.verdict if run.prediction is not None else "",
    ],
    Column.SETTINGS: [lambda run: " ".join(run.settings).lower()],
    Column.MACHINE: [lambda run: run.machine.lower()],
}


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _escaped(text: str) -> str:
    """Return text that Qt does not interpret as markup."""
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>") if text else ""
