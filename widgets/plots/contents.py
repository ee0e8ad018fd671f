"""Data of a plot, and which of them are shown.

Shown are the rows of a run, with another run or a ghost beside them; before there are any, what is
to be expected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.core.views import Bars, Heatmap, Lines, Ruler, Timeline, View
from widgets.plots.drawing import Beside

Rows = Sequence[Any]


@dataclass(frozen=True, slots=True)
class _Expected:
    rows: Rows
    values: Mapping[str, float]
    is_faint: bool


class Contents:
    """The rows of one view, and which of them are shown."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._rows: Rows = ()
        self._values: Mapping[str, float] = {}
        self._beside: Beside | None = None
        self._ghost: Beside | None = None
        self._expected: _Expected | None = None
        self._held: frozenset[str] = frozenset()
        self._count, self._first = 0, None

    @property
    def is_expecting(self) -> bool:
        """Return whether rows are shown that were not measured in this run."""
        return self._expected is not None and self._count == 0

    @property
    def is_faint(self) -> bool:
        """Return whether the marks of expected rows are drawn, faintly."""
        return self._expected is not None and self._expected.is_faint

    def take(self, rows: Rows, values: Mapping[str, float], beside: Beside | None) -> bool:
        """Take the rows; return whether they are another run than those before."""
        first, was_expecting = rows[0] if rows else None, self.is_expecting
        is_another = len(rows) < self._count or (self._count > 0 and first != self._first)
        self._rows, self._values, self._beside = rows, values, beside
        self._count, self._first = len(rows), first
        if rows:
            self._expected = None
        return is_another or (was_expecting and bool(rows))

    def expect(self, rows: Rows, values: Mapping[str, float], *, is_faint: bool) -> None:
        """Show these rows while there are no others; none takes them away."""
        self._expected = _Expected(rows, values, is_faint) if rows else None

    def haunt(self, rows: Rows | None, name: str) -> None:
        """Show these rows as a ghost; None takes it away."""
        self._ghost = Beside("", name, rows, is_ghost=True) if rows else None

    def hold_back(self, labels: Collection[str]) -> bool:
        """Leave out the rows with these labels; return whether they are others than before."""
        before, self._held = self._held, frozenset(labels)
        return before != self._held

    @property
    def alongside(self) -> Beside | None:
        """The other run or the ghost, with all of its rows."""
        has_ghost = isinstance(self._view, Bars | Lines | Timeline | Ruler)
        return self._beside or (self._ghost if has_ghost else None)

    def shown(self) -> tuple[Rows, Mapping[str, float], Beside | None]:
        """Return the rows to draw, the values of limits, and what stands beside the rows."""
        if self._expected is not None and self._count == 0:
            return self._expected.rows, self._expected.values, None
        beside = self.alongside
        if beside is not None and self._held:
            beside = replace(beside, rows=self._kept(beside.rows))
        return self._kept(self._rows), self._values, beside

    def _kept(self, rows: Rows) -> Rows:
        column = label_column(self._view)
        if not self._held or column is None:
            return rows
        return [row for row in rows if str(getattr(row, column)) not in self._held]


def label_column(view: View) -> str | None:
    """Return the column that names bars, lines, groups of lanes, rows of cells, or pins."""
    match view:
        case Bars() | Ruler():
            return view.label
        case Lines():
            return view.series
        case Timeline():
            return view.group
        case Heatmap():
            return view.row
        case _:
            return None
