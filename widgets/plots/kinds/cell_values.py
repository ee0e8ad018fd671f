"""Which value has each cell? Gathered from rows as they come; only cells with news are reckoned."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.core import marks
from experiments.core.views import Heatmap
from widgets.plots.kinds.newcomers import Newcomers

Key = tuple[str, str]  # row, column


class CellValues:
    """The cells of one table that may grow."""

    def __init__(self, view: Heatmap) -> None:
        self._view = view
        self._newcomers = Newcomers()
        self.rows: set[str] = set()
        self.columns: set[str] = set()
        self._of: dict[Key, list[Any]] = {}
        self._values: dict[Key, float] = {}
        self._changed: set[Key] = set()  # not in the table yet
        self._labels: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._table = np.empty((0, 0))
        self._down: dict[str, int] = {}
        self._across: dict[str, int] = {}

    def take(self, rows: Sequence[Any]) -> None:
        """Put the new rows into their cells."""
        new, is_all = self._newcomers.among(rows)
        if is_all:
            self._forget()
        place = attrgetter(self._view.row, self._view.column)
        changed = set()
        for row in new:
            of_row, of_column = place(row)
            key = (str(of_row), str(of_column))
            self._of.setdefault(key, []).append(row)
            changed.add(key)
        for key in changed:
            self.rows.add(key[0])
            self.columns.add(key[1])
        self._changed |= changed
        self._values |= marks.cells(self._view, [row for key in changed for row in self._of[key]])

    def table(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> npt.NDArray[np.float64]:
        """Return the values in this order of rows and columns; NaN where nothing was measured."""
        if (rows, columns) != self._labels:
            self._labels, self._changed = (rows, columns), set(self._values)
            self._table = np.full((len(rows), len(columns)), np.nan)
            self._down = {label: place for place, label in enumerate(rows)}
            self._across = {label: place for place, label in enumerate(columns)}
        for key in self._changed:
            self._table[self._down[key[0]], self._across[key[1]]] = self._values[key]
        self._changed = set()
        return self._table

    def _forget(self) -> None:
        for known in (self.rows, self.columns, self._of, self._values, self._changed):
            known.clear()
        self._labels = None
