"""Chooses a second run to compare with, by click or Enter: no key need be held."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from widgets.controls.basics import takes_escape
from widgets.runs.details import Details
from widgets.runs.model import Column
from widgets.runs.table import RunsTable


class Pairing(QObject):
    """While it is on, the next run chosen in the list is the second one."""

    paired = Signal(str, str)  # the keys of both
    left = Signal(str)  # cancelled: the key of the first

    def __init__(self, table: RunsTable, details: Details) -> None:
        super().__init__(table)
        self._table, self._details = table, details
        self._first = ""
        table.clicked.connect(self._take_clicked)
        details.buttons.comparing_left.connect(self.leave)

    @property
    def is_on(self) -> bool:
        """Is a second run asked for?"""
        return bool(self._first)

    def ask(self, first: str) -> None:
        """Ask for the run to compare this one with."""
        self._first = first
        self._details.ask_for_another()
        self._table.installEventFilter(self)
        self._table.setFocus()

    def leave(self) -> None:
        """Cancel."""
        if self.is_on:
            self.left.emit(self._end())

    def take(self, other: str) -> None:
        """Take the second run; the same run again cancels."""
        if other == self._first:
            self.leave()
        else:
            self.paired.emit(self._end(), other)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Esc cancel, before it stops a run."""
        if takes_escape(event):
            return True
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.KeyPress:
            self.leave()
            return True
        return False

    def _take_clicked(self, index: QModelIndex) -> None:
        if self.is_on and index.column() != Column.PIN:
            self.take(self._table.runs.shown[index.row()].key)

    def _end(self) -> str:
        first, self._first = self._first, ""
        self._table.removeEventFilter(self)
        return first
