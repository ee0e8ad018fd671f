"""With which other run is a run compared? A click on it says so, or Enter: no key need be held."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent

from widgets.controls.basics import asks_for_escape
from widgets.runs.details import Details
from widgets.runs.model import Column
from widgets.runs.table import RunsTable


class Pairing(QObject):
    """While it is on, the list waits for the other run."""

    paired = Signal(str, str)  # the keys of both
    left = Signal(str)  # without another one: the key of the first

    def __init__(self, table: RunsTable, details: Details) -> None:
        super().__init__(table)
        self._table, self._details = table, details
        self._first = ""
        table.clicked.connect(self._take_clicked)
        details.buttons.comparing_left.connect(self.leave)

    @property
    def is_on(self) -> bool:
        """Is another run asked for?"""
        return bool(self._first)

    def ask(self, first: str) -> None:
        """Ask which run this one is compared with."""
        self._first = first
        self._details.ask_for_another()
        self._table.installEventFilter(self)
        self._table.setFocus()

    def leave(self) -> None:
        """Ask no more."""
        if self.is_on:
            self.left.emit(self._end())

    def take(self, other: str) -> None:
        """Take the other one; the same again is none."""
        if other == self._first:
            self.leave()
        else:
            self.paired.emit(self._end(), other)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave by Esc, which would else stop a run."""
        if asks_for_escape(event):
            event.accept()
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
