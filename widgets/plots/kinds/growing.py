"""Rows of a table that may grow, gathered into lanes and cells; each row is looked at once.

A live table only grows at its end. Looking at all of its 100 000 rows for each picture would take
longer than drawing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.core import marks
from experiments.core.judging.disturbed import counting
from experiments.core.views import Heatmap, Timeline
from widgets.plots.kinds.slices import Times, in_turn

LaneKey = tuple[str, str, str]  # group, detail, lane
CellKey = tuple[str, str]  # row, column


class NewRows:
    """Remembers how much of a table has been seen."""

    def __init__(self) -> None:
        self._count = 0
        self._first: Any = None
        self._last: Any = None

    def among(self, rows: Sequence[Any]) -> tuple[Sequence[Any], bool]:
        """Return the new rows, and whether this is another table, all of whose rows are new."""
        seen = self._count
        is_same = seen == 0 or (
            len(rows) >= seen and rows[0] is self._first and rows[seen - 1] is self._last
        )
        self._count = len(rows)
        self._first, self._last = (rows[0], rows[-1]) if len(rows) else (None, None)
        return (rows[seen:], False) if is_same and seen else (rows, True)


class Lanes:
    """The slices of each lane, in the order of lanes that the view asks for."""

    def __init__(self, view: Timeline) -> None:
        self._view = view
        self._new_rows = NewRows()
        self._pairs: dict[LaneKey, list[tuple[float, float]]] = {}
        self._one_row: dict[LaneKey, Any] = {}  # of each lane, to find the order of lanes
        self._times: dict[LaneKey, Times] = {}
        self._order: list[LaneKey] = []

    def take(self, rows: Sequence[Any]) -> dict[LaneKey, Times]:
        """Return the lanes of all rows; the lanes of one group follow each other."""
        new, is_all = self._new_rows.among(rows)
        if is_all:
            self._pairs, self._one_row, self._times, self._order = {}, {}, {}, []
        view = self._view
        group = attrgetter(view.group) if view.group else _nothing
        detail = attrgetter(view.detail) if view.detail else _nothing
        rest = attrgetter(view.lane, view.start, view.end)
        for row in counting(new):
            lane, start, end = rest(row)
            key = (str(group(row)), str(detail(row)), str(lane))
            if key not in self._pairs:
                self._pairs[key], self._one_row[key] = [], row
            self._pairs[key].append((start, end))
            self._times.pop(key, None)
        if len(self._order) != len(self._pairs):
            ordered = marks.lanes(view, list(self._one_row.values()))
            self._order = [(lane.group, lane.detail, lane.lane) for lane in ordered]
        for key in self._order:
            if key not in self._times:
                self._times[key] = in_turn(self._pairs[key])
        return {key: self._times[key] for key in self._order}


class CellValues:
    """The value of each cell; only cells with new rows are computed again."""

    def __init__(self, view: Heatmap) -> None:
        self._view = view
        self._new_rows = NewRows()
        self.rows: set[str] = set()
        self.columns: set[str] = set()
        self._of: dict[CellKey, list[Any]] = {}
        self._values: dict[CellKey, float] = {}
        self._changed: set[CellKey] = set()  # not in the table yet
        self._labels: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._table = np.empty((0, 0))
        self._down: dict[str, int] = {}
        self._across: dict[str, int] = {}

    def take(self, rows: Sequence[Any]) -> None:
        """Put the new rows into their cells."""
        new, is_all = self._new_rows.among(rows)
        if is_all:
            self._forget()
        place = attrgetter(self._view.row, self._view.column)
        changed = set()
        for row in counting(new):
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


def _nothing(_row: Any) -> str:
    return ""
