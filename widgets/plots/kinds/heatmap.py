"""A heat map: a value by row and column, as coloured cells with numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF

from experiments.core import marks
from experiments.core.declare import specs
from experiments.core.units import digits, show
from experiments.core.views import Heatmap
from widgets.plots.drawing import AxisPlan, Beside, Name, Plan, Span, Track
from widgets.plots.kinds import cells
from widgets.plots.kinds.colour_key import ROOM_PX, ColourKey, key_of, with_place
from widgets.plots.kinds.growing import CellValues
from widgets.plots.sheet import Sheet
from widgets.plots.terms import Terms
from widgets.style.theme import STEP, Theme

GAP = 0.6  # between two runs, in columns


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    name: str  # "" if it is the only run
    values: npt.NDArray[np.float64]
    left: float  # place of its first column


class HeatmapDrawing:
    """The cells of one run; another run's cells stand right of them, in the same colours."""

    def __init__(self, view: Heatmap, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._ours, self._theirs = CellValues(view), CellValues(view)
        self._rows: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ()
        self._runs: tuple[_Run, ...] = ()
        self._tracks: tuple[Track, ...] | None = None
        spec = specs(terms.experiment.tables[view.table])[view.value]
        self._unit, self._scale = spec.unit, spec.scale
        self._key = ColourKey((0.0, 1.0), self._scale, self._unit)
        self._common = ""  # the unit that all numbers share, and the cells leave out

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Put the new rows into their cells."""
        self._tracks = None
        runs = [(beside.name_a if beside else "", self._ours)]
        self._ours.take(rows)
        if beside:
            self._theirs.take(beside.rows)
            runs.append((beside.name_b, self._theirs))
        self._rows = tuple(marks.in_order(set().union(*(run.rows for _, run in runs))))
        self._columns = tuple(marks.in_order(set().union(*(run.columns for _, run in runs))))
        step = len(self._columns) + GAP
        self._runs = tuple(
            _Run(name, run.table(self._rows, self._columns), turn * step)
            for turn, (name, run) in enumerate(runs)
        )
        self._choose_colours()

    def plan(self) -> Plan:
        """Return the names of rows at the left and of columns below."""
        view, names = self._view, self._names(self._view.column, self._columns)
        axes = {"across": self._terms.column(view.column), "down": self._terms.column(view.row)}
        places = [run.left + at for run in self._runs for at in range(len(self._columns))]
        return Plan(
            x=AxisPlan(
                names=names * len(self._runs),
                places=tuple(places),
                title=self._terms.say("plot.across_down", axes),
            ),
            y=AxisPlan(names=self._names(view.row, self._rows)),
            right_px=ROOM_PX,
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return all cells; with two runs, also a line above for their names."""
        rows, columns = max(len(self._rows), 1), max(len(self._columns), 1)
        head = 0.0
        if len(self._runs) > 1:
            line = QFontMetricsF(theme.bold()).height() + STEP
            head = rows * line / max(size.height() - line, line)
        right = self._runs[-1].left + columns - 0.5 if self._runs else 0.5
        return Span((-0.5, right), (-0.5 - head, rows - 0.5))

    def paint(self, sheet: Sheet) -> None:
        """Draw the cells, and the key of their colours."""
        for run in self._runs:
            cells.paint(sheet, self._grid(run))
            if run.name and sheet.area.sight.y[0] < -0.5:
                corner = sheet.area.point(run.left - 0.5, sheet.area.sight.y[0])
                end = sheet.area.point(run.left + len(self._columns) - 0.5, -0.5)
                rect = QRectF(corner, end - QPointF(0.0, STEP))
                sheet.write(run.name, sheet.theme.bold(), sheet.theme.ink, rect)
        self._key.paint(sheet)

    def tracks(self) -> Sequence[Track]:
        """Return the rows of cells; each ends with the other run's cells."""
        if self._tracks is None:
            places = [run.left + np.arange(len(self._columns)) for run in self._runs]
            xs = np.concatenate(places) if places else np.empty(0)
            self._tracks = tuple(
                Track(
                    self._label(self._view.row, label),
                    0,
                    xs,
                    np.full(len(xs), float(row)),
                    label=label,
                )
                for row, label in enumerate(self._rows)
            )
        return self._tracks

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the row and the cell at a place."""
        for turn, run in enumerate(self._runs):
            at = self._grid(run).cell_at(x, y)
            if at is not None:
                return at[0], turn * len(self._columns) + at[1]
        return None

    def read(self, track: int, point: int) -> str:
        """Return row and column in words, the value, and its ratio to the other run's."""
        turn, column = divmod(point, len(self._columns))
        run, value = self._runs[turn], self._runs[turn].values[track, column]
        names = (
            self._of_column(self._view.row, self._rows[track]),
            self._of_column(self._view.column, self._columns[column]),
        )
        if not np.isfinite(value):
            return self._terms.joined(run.name, *names, self._terms.say("plot.not_measured"))
        compared = ""
        for other in self._runs:
            its = other.values[track, column]
            if other is not run and np.isfinite(its) and its:
                values = {"times": digits(float(value / its), 2), "name": other.name}
                compared = self._terms.say("plot.times_another", values)
        return self._terms.joined(run.name, *names, show(float(value), self._unit), compared)

    def summary(self) -> str:
        """Return the number of cells, and the least and the greatest value."""
        return " ".join(
            self._summary_of(run) for run in self._runs if np.isfinite(run.values).any()
        )

    def _summary_of(self, run: _Run) -> str:
        count = int(np.isfinite(run.values).sum())
        ends = {}
        for word, find in (("least", np.nanargmin), ("greatest", np.nanargmax)):
            row, column = np.unravel_index(find(run.values), run.values.shape)
            ends[word] = show(float(run.values[row, column]), self._unit)
            ends[f"{word}_at"] = self._terms.joined(
                self._of_column(self._view.row, self._rows[row]),
                self._of_column(self._view.column, self._columns[column]),
            )
        key = "plot.one_cell" if count == 1 else "plot.cells"
        return self._terms.of_run(run.name, self._terms.say(key, {"cells": count, **ends}))

    def _choose_colours(self) -> None:
        every = np.concatenate([run.values.ravel() for run in self._runs])
        known = with_place(every, self._scale)
        if not len(known):
            return
        self._key = key_of(known, self._scale, self._unit)
        units = {_suffix(show(float(end), self._unit)) for end in (known.min(), known.max())}
        self._common = units.pop() if len(units) == 1 else ""

    def _grid(self, run: _Run) -> cells.Grid:
        def text(row: int, column: int) -> str:
            return show(float(run.values[row, column]), self._unit).removesuffix(self._common)

        shades, missing = self._key.shades(run.values), ~np.isfinite(run.values)
        return cells.Grid(shades, missing, text, run.left)

    def _names(self, column: str, labels: Sequence[str]) -> tuple[Name, ...]:
        return tuple(Name(self._label(column, label), label=label) for label in labels)

    def _label(self, column: str, label: str) -> str:
        unit = self._terms.unit(column)
        return show(float(label), unit) if unit else self._terms.choice(label)

    def _of_column(self, column: str, label: str) -> str:
        values = {"column": self._terms.column(column), "value": self._label(column, label)}
        return self._terms.say("plot.of_column", values)


def _suffix(text: str) -> str:
    return text[text.index(" ") :] if " " in text else ""
