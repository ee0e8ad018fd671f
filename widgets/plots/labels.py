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
CLOSE = 0.6
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
    stays_close: bool = False  # farther away nobody would know what it names: rather over marks
    stays_put: bool = False  # anywhere else it would say something wrong: rather over marks


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
        self._points: dict[int, np.ndarray] = {}  # cells with points, by how many more around them
        self._sums: np.ndarray | None = None  # of all cells above and left, so that areas are quick
        self._labels: list[tuple[float, float, float, float]] = []

    def take_points(self, xs: np.ndarray, ys: np.ndarray, radius_px: float = 0.0) -> None:
        """Occupy the cells around points in pixels."""
        columns = (xs - self._bounds.left()) / CELL_PX
        rows = (ys - self._bounds.top()) / CELL_PX
        reach = round(radius_px / CELL_PX)
        height, width = self._cells.shape
        inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        if reach not in self._points:
            self._points[reach] = np.zeros(self._cells.shape, dtype=bool)
        self._points[reach][rows[inside].astype(int), columns[inside].astype(int)] = True
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
        bounds, sums = self._bounds, self._summed()
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

    def is_free(self, left: float, top: float, size: QSizeF) -> bool:
        """Would something of this size cover nothing there? As `costs`, for one place and fast."""
        bounds, sums = self._bounds, self._summed()
        right, bottom = left + size.width(), top + size.height()
        if left < bounds.left() or right > bounds.right():
            return False
        if top < bounds.top() or bottom > bounds.bottom():
            return False
        for label_left, label_top, label_right, label_bottom in self._labels:
            if (left < label_right and right > label_left) and (
                top < label_bottom and bottom > label_top
            ):
                return False
        rows = self._range(top - bounds.top(), bottom - bounds.top())
        columns = self._range(left - bounds.left(), right - bounds.left())
        below, above = sums[rows.stop], sums[rows.start]
        return bool(
            below[columns.stop] - above[columns.stop] - below[columns.start] + above[columns.start]
            == 0
        )

    def _summed(self) -> np.ndarray:
        if self._sums is None:
            cells = self._cells.copy()
            for reach, points in self._points.items():
                cells[_spread(_spread(points, reach).T, reach).T] += MARK
            self._sums = np.pad(cells.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        return self._sums

    def _cell(self, px: np.ndarray, axis: int) -> np.ndarray:
        cells = np.floor_divide(px, CELL_PX).astype(int)
        return np.asarray(np.clip(cells, 0, self._cells.shape[axis] - 1))

    @staticmethod
    def _range(low: float, high: float) -> slice:
        return slice(max(int(low // CELL_PX), 0), max(int(high // CELL_PX) + 1, 0))


def place(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Return the label at the best place there is, which it occupies; None where there is none."""
    corner, is_over = _wished(wish, size, occupied), False  # mostly the search ends here
    if corner is None and wish.must:
        corner, is_over = _nearest(wish, size, occupied)
    if corner is None:
        return None
    rect = QRectF(corner, size)
    occupied.take_label(rect.adjusted(0, AIR_PX, 0, -AIR_PX))
    return Label(wish.text, wish.colour, wish.font, rect, is_over)


def _wished(wish: Wish, size: QSizeF, occupied: Occupied) -> QPointF | None:
    """Return the first of the wished corners that is free."""
    letters = QSizeF(size.width(), size.height() - 2 * AIR_PX)
    for anchor in wish.anchors:
        left = anchor.at.x() - anchor.left * size.width()
        top = anchor.at.y() - anchor.above * size.height()
        if occupied.is_free(left, top + AIR_PX, letters):
            return QPointF(left, top)
    return None


def _nearest(wish: Wish, size: QSizeF, occupied: Occupied) -> tuple[QPointF | None, bool]:
    """Return the first free corner around the wished ones, or the least bad; is it over marks?"""
    shifts = _ONWARD if wish.stays_in_row else _CLOSE if wish.stays_close else _AROUND
    shifts = shifts[:1] if wish.stays_put else shifts
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
    else:
        away = np.repeat(np.abs(shifts).sum(1), len(anchors))
        best = int((costs + AWAY * away).argmin())
    if costs[best] >= LABEL:
        return None, False
    return QPointF(float(lefts[best]), float(tops[best])), bool(costs[best] > 0.0)


def _spread(cells: np.ndarray, reach: int) -> np.ndarray:
    """Return the cells with as many more above and below each."""
    wide = cells.copy()
    for step in range(1, reach + 1):
        wide[step:] |= cells[:-step]
        wide[:-step] |= cells[step:]
    return wide


_AROUND = np.array([(right, down) for down in AROUND for right in ASIDE])
_CLOSE = _AROUND[np.abs(_AROUND[:, 1]) <= CLOSE]
_ONWARD = np.array([(right, 0.0) for right in ONWARD])
