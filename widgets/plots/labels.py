"""Where does a direct label stand so that it covers no mark and no other label?

The plot is divided into small cells that marks and labels occupy. Each label names the places it
would like best; it gets the first that is free, or the nearest free one around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

CELL_PX = 3.0
AIR_PX = 2.0  # above and below the letters of a line of text
LINE, MARK = 1, 3  # what it costs to cover a cell
LABEL = 1e6  # and a label, which never happens
AWAY = 30.0  # what it costs to stand one height or width away from where one would like to
AROUND = (0.0, -0.6, 0.6, -1.2, 1.2, -2.0, 2.0, -3.0, 3.0, -4.5, 4.5)  # heights up and down
ASIDE = (0.0, -0.35, 0.35, -0.8, 0.8)  # widths left and right
ONWARD = tuple(tenths / 10 for tenths in range(20))  # widths to the right


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place for a label: this share of its width and height lies left of and above `at`."""

    at: QPointF
    left: float = 0.0
    above: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A label and the places it would like to have, the best first."""

    text: str
    colour: str
    font: QFont
    anchors: Sequence[Anchor]
    must: bool = True  # else it is left out where its own places are taken
    stays_in_row: bool = False  # may give way to the right alone


@dataclass(frozen=True, slots=True)
class Label:
    """A label at its place."""

    text: str
    colour: str
    font: QFont
    rect: QRectF
    is_over: bool = False  # something that is not a label


class Occupied:
    """Which cells of the plot are taken, and where labels stand."""

    def __init__(self, bounds: QRectF) -> None:
        self._bounds = bounds
        shape = (int(bounds.height() // CELL_PX) + 1, int(bounds.width() // CELL_PX) + 1)
        self._cells = np.zeros(shape, dtype=np.int32)
        self._sums: np.ndarray | None = None  # of all cells above and left, so that areas are quick
        self._labels: list[tuple[float, float, float, float]] = []

    def take_points(self, xs: np.ndarray, ys: np.ndarray, radius_px: float = 0.0) -> None:
        """Occupy the cells around points in pixels."""
        columns = (xs - self._bounds.left()) / CELL_PX
        rows = (ys - self._bounds.top()) / CELL_PX
        reach = round(radius_px / CELL_PX)
        height, width = self._cells.shape
        inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        columns, rows = columns[inside].astype(int), rows[inside].astype(int)
        for down in range(-reach, reach + 1):
            at = np.minimum(np.maximum(rows + down, 0), height - 1)
            for right in range(-reach, reach + 1):
                self._cells[at, np.minimum(np.maximum(columns + right, 0), width - 1)] = MARK
        self._sums = None

    def take_path(self, xs: np.ndarray, ys: np.ndarray) -> None:
        """Occupy the cells along a line through points in pixels."""
        if len(xs) < 2:
            return
        steps = np.hypot(np.diff(xs), np.diff(ys)) / CELL_PX
        walked = np.concatenate(([0.0], np.cumsum(np.minimum(steps, 2000.0))))
        at = np.arange(0.0, walked[-1], 1.0)
        self.take_points(np.interp(at, walked, xs), np.interp(at, walked, ys), CELL_PX)

    def take_rect(self, rect: QRectF, cost: int = MARK) -> None:
        """Occupy a rectangle."""
        rows = self._range(rect.top() - self._bounds.top(), rect.bottom() - self._bounds.top())
        left, right = rect.left() - self._bounds.left(), rect.right() - self._bounds.left()
        self._cells[rows, self._range(left, right)] += cost
        self._sums = None

    def take_label(self, rect: QRectF) -> None:
        """Keep all other labels away from a rectangle."""
        self._labels.append((rect.left(), rect.top(), rect.right(), rect.bottom()))

    def costs(self, lefts: np.ndarray, tops: np.ndarray, size: QSizeF) -> np.ndarray:
        """Return what it costs to put something of this size at each place; infinite outside."""
        if self._sums is None:
            self._sums = np.pad(self._cells.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        bounds, sums = self._bounds, self._sums
        rights, bottoms = lefts + size.width(), tops + size.height()
        top, bottom = self._cell(tops - bounds.top(), 0), self._cell(bottoms - bounds.top(), 0) + 1
        left, right = (
            self._cell(lefts - bounds.left(), 1),
            self._cell(rights - bounds.left(), 1) + 1,
        )
        taken = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        costs = np.asarray(taken, dtype=float)
        for label_left, label_top, label_right, label_bottom in self._labels:
            costs[
                (lefts < label_right)
                & (rights > label_left)
                & (tops < label_bottom)
                & (bottoms > label_top)
            ] += LABEL
        costs[(lefts < bounds.left()) | (rights > bounds.right())] = np.inf
        costs[(tops < bounds.top()) | (bottoms > bounds.bottom())] = np.inf
        return costs

    def _cell(self, px: np.ndarray, axis: int) -> np.ndarray:
        cells = np.floor_divide(px, CELL_PX).astype(int)
        return np.asarray(np.clip(cells, 0, self._cells.shape[axis] - 1))

    @staticmethod
    def _range(low: float, high: float) -> slice:
        return slice(max(int(low // CELL_PX), 0), max(int(high // CELL_PX) + 1, 0))


def place(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Return the label at the best place there is, which it occupies; None where there is none."""
    shifts = _ONWARD if wish.stays_in_row else _AROUND
    found = _free(wish, size, occupied, shifts[:1])  # mostly the search ends here
    if found is None and wish.must:
        found = _free(wish, size, occupied, shifts, at_any_cost=True)
    if found is None:
        return None
    corner, is_over = found
    rect = QRectF(corner, size)
    occupied.take_label(rect.adjusted(0, AIR_PX, 0, -AIR_PX))
    return Label(wish.text, wish.colour, wish.font, rect, is_over)


def _free(
    wish: Wish, size: QSizeF, occupied: Occupied, shifts: np.ndarray, *, at_any_cost: bool = False
) -> tuple[QPointF, bool] | None:
    """Return the first free corner around the wished ones, and whether it covers something."""
    width, height = size.width(), size.height()
    anchors = np.array(
        [(a.at.x() - a.left * width, a.at.y() - a.above * height) for a in wish.anchors]
    ).reshape(-1, 2)
    lefts = (anchors[:, 0] + shifts[:, :1] * width).ravel()
    tops = (anchors[:, 1] + shifts[:, 1:] * height).ravel()
    costs = occupied.costs(lefts, tops + AIR_PX, QSizeF(width, height - 2 * AIR_PX))
    free = np.flatnonzero(costs == 0.0)
    if len(free):
        best = int(free[0])
    elif at_any_cost:
        away = np.repeat(np.abs(shifts).sum(1), len(anchors))
        best = int((costs + AWAY * away).argmin())
    else:
        return None
    if costs[best] >= LABEL:
        return None
    return QPointF(float(lefts[best]), float(tops[best])), bool(costs[best] > 0.0)


_AROUND = np.array([(right, down) for down in AROUND for right in ASIDE])
_ONWARD = np.array([(right, 0.0) for right in ONWARD])
