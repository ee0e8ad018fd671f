"""Placement of labels so that they cover no mark and no other label.

The plot is divided into small cells that marks and labels occupy. Each label lists its preferred
places; it gets the first free one, or the nearest free one around them. The label of a line stands
nearer to it than to any other line, or a leader joins them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from widgets.plots.owners import Owner, leader_to

CELL_PX, BEAD_PX = 3.0, 5.0  # beads along leaders keep labels away
AIR_PX = 2.0  # above and below the letters of a line of text
APART_PX = 6.0  # between two labels in a row, so that they do not read as one
LINE, MARK = 2, 30  # cost of covering a cell
LABEL = 1e6  # cost of covering a label, which never happens
AWAY = 30.0  # cost of standing one height or width away from a preferred place
AROUND = (0.0, -0.6, 0.6, -1.2, 1.2, -2.0, 2.0, -3.0, 3.0, -4.5, 4.5)  # heights up and down
CLOSE = 0.6
ASIDE = (0.0, -0.35, 0.35, -0.8, 0.8)  # widths left and right
ONWARD = tuple(tenths / 10 for tenths in range(20))  # widths to the right
LED_ASIDE = (0.6, 1.5, 3.0, 6.0)  # heights between a line and a label with a leader
LED_DOWN = tuple(halves / 2 for halves in range(-12, 13))  # heights from there to its middle
CROSSED = 200.0  # cost of a leader crossing another line
DOUBT = 150.0  # cost per pixel too near to another line
TRIED = 30  # only so many of the cheapest places are examined closely


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place for a label: these fractions of its width and height lie left of and above `at`."""

    at: QPointF
    left: float = 0.0
    above: float = 0.5


@dataclass(frozen=True, slots=True)
class Wish:
    """A requested label and its preferred places, the best first."""

    text: str
    anchors: Sequence[Anchor]
    colour: str
    font: QFont
    must: bool = True  # else it is left out if its preferred places are taken
    stays_in_row: bool = False  # may move to the right only
    stays_close: bool = False  # must stay near what it names; is placed first
    stays_put: bool = False  # any other place would mislead: rather covers marks
    owner: Owner | None = None  # the line it names


@dataclass(frozen=True, slots=True)
class Label:
    """A placed label."""

    text: str
    colour: str
    font: QFont
    rect: QRectF
    is_over: bool = False  # it covers marks
    leader: QLineF | None = None  # from its line, if the place alone does not tell
    of: str = ""  # the mark that it names, as it stands in the rows, where that is known


@dataclass(frozen=True, slots=True)
class _Found:
    """A place with its total penalty (rank), and the part due to what it covers (cost)."""

    rank: float
    rect: QRectF
    cost: float
    leader: QLineF | None = None


class Occupied:
    """The occupied cells of the plot, and the placed labels."""

    def __init__(self, bounds: QRectF) -> None:
        self._bounds = bounds
        shape = (int(bounds.height() // CELL_PX) + 1, int(bounds.width() // CELL_PX) + 1)
        self._cells = np.zeros(shape, dtype=np.int32)
        self._points: dict[int, np.ndarray] = {}  # cells with points, by the margin around them
        self._sums: np.ndarray | None = None  # summed-area table of the cells
        self._labels: list[tuple[float, float, float, float]] = []
        self._strokes: list[QLineF] = []  # leaders, and the diagonals of labels

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
        steps = np.hypot(xs[1:] - xs[:-1], ys[1:] - ys[:-1]) / CELL_PX
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
        self._strokes += [
            QLineF(rect.topLeft(), rect.bottomRight()),
            QLineF(rect.bottomLeft(), rect.topRight()),
        ]

    def take_leader(self, leader: QLineF) -> None:
        """Keep labels and other leaders away from a leader."""
        steps = int(leader.length() / BEAD_PX) + 1
        for at in (leader.pointAt(step / steps) for step in range(steps + 1)):
            self._labels.append((at.x() - 1.0, at.y() - 1.0, at.x() + 1.0, at.y() + 1.0))
        self._strokes.append(leader)

    def is_crossed(self, leader: QLineF) -> bool:
        """Return whether a leader would cross a label or another leader."""
        through = QLineF.IntersectionType.BoundedIntersection
        return any(leader.intersects(stroke)[0] == through for stroke in self._strokes)

    def costs(self, lefts: np.ndarray, tops: np.ndarray, size: QSizeF) -> np.ndarray:
        """Return the cost of placing something of this size at each place; infinite outside."""
        bounds, sums = self._bounds, self._summed()
        rights, bottoms = lefts + size.width(), tops + size.height()
        top, bottom = self._cell(tops - bounds.top(), 0), self._cell(bottoms - bounds.top(), 0) + 1
        left, right = (
            self._cell(lefts - bounds.left(), 1),
            self._cell(rights - bounds.left(), 1) + 1,
        )
        taken = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        costs = np.asarray(taken, dtype=float)
        if self._labels:
            edges = np.array(self._labels).T[:, :, None]
            across = (lefts < edges[2]) & (rights > edges[0])
            costs += LABEL * (across & (tops < edges[3]) & (bottoms > edges[1])).sum(0)
        costs[(lefts < bounds.left()) | (rights > bounds.right())] = np.inf
        costs[(tops < bounds.top()) | (bottoms > bounds.bottom())] = np.inf
        return costs

    def is_free(self, left: float, top: float, size: QSizeF) -> bool:
        """Return whether something of this size covers nothing there: `costs`, but faster."""
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
        cells = np.floor_divide(px, CELL_PX).astype(int)  # three times as fast as np.clip
        return np.asarray(np.minimum(np.maximum(cells, 0), self._cells.shape[axis] - 1))

    @staticmethod
    def _range(low: float, high: float) -> slice:
        return slice(max(int(low // CELL_PX), 0), max(int(high // CELL_PX) + 1, 0))


def place(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Place a label where it fits best, and occupy that place; None if it fits nowhere."""
    return place_as_wished(wish, size, occupied) or place_nearby(wish, size, occupied)


def place_as_wished(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Place a label at the first free preferred place; None if all are taken."""
    letters, owner = QSizeF(size.width(), size.height() - 2 * AIR_PX), wish.owner
    if owner is None:
        for left, top in _corners(wish, size).tolist():
            if occupied.is_free(left, top + AIR_PX, letters):
                return _put(wish, QRectF(QPointF(left, top), size), occupied)
        return None
    lefts, tops = _corners(wish, size).T
    for at in np.flatnonzero(occupied.costs(lefts, tops + AIR_PX, letters) == 0.0):
        rect = QRectF(QPointF(float(lefts[at]), float(tops[at])), size)
        if not owner.doubt_px(rect):
            return _put(wish, rect, occupied)
    return None


def place_nearby(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Place a label near its preferred places or with a leader; None if it may be left out."""
    if not wish.must:
        return None
    best = _around(wish, size, occupied)
    if wish.owner is not None:
        best = _led(wish.owner, size, occupied, best)
    return _put(wish, best.rect, occupied, best.cost, best.leader) if best else None


def _around(wish: Wish, size: QSizeF, occupied: Occupied) -> _Found | None:
    """Return the first free place around the preferred ones, or the least bad."""
    owner, width, height = wish.owner, size.width(), size.height()
    shifts = _ONWARD if wish.stays_in_row else _CLOSE if wish.stays_close else _AROUND
    shifts = shifts[:1] if wish.stays_put else _ACROSS if owner else shifts
    corners = _corners(wish, size)
    lefts = (corners[:, 0] + shifts[:, :1] * width).ravel()
    tops = (corners[:, 1] + shifts[:, 1:] * height).ravel()
    costs = occupied.costs(lefts, tops + AIR_PX, QSizeF(width, height - 2 * AIR_PX))
    ranks = costs + AWAY * np.repeat(np.abs(shifts).sum(1), len(corners))
    if owner is None:
        ranks[costs == 0.0] = 0.0
    best: _Found | None = None
    for at in _cheapest(ranks, costs):
        if best and ranks[at] >= best.rank:
            break
        rect = QRectF(QPointF(float(lefts[at]), float(tops[at])), size)
        rank = ranks[at] + (DOUBT * owner.doubt_px(rect) if owner else 0.0)
        if not best or rank < best.rank:
            best = _Found(rank, rect, float(costs[at]))
    return best


def _led(owner: Owner, size: QSizeF, occupied: Occupied, best: _Found | None) -> _Found | None:
    """Return a place with a short leader that crosses little, if it is better than `best`."""
    width, height = size.width(), size.height()
    aside = np.array(LED_ASIDE) * height
    columns = np.concatenate((aside, -width - aside, [-width / 2]))
    rows = (np.array(LED_DOWN) - 0.5) * height
    right, down = np.tile(columns, len(rows)), np.repeat(rows, len(columns))
    lefts = np.concatenate([start.x() + right for start in owner.starts])
    tops = np.concatenate([start.y() + down for start in owner.starts])
    costs = occupied.costs(lefts, tops + AIR_PX, QSizeF(width, height - 2 * AIR_PX))
    lengths = np.hypot(np.maximum(right, -width - right).clip(0.0), down + height / 2) / height
    from_end = np.arange(len(owner.starts))
    ranks = costs + AWAY * (1.0 + np.add.outer(from_end, lengths).ravel())
    for at in _cheapest(ranks, costs):
        if best and ranks[at] >= best.rank:
            break
        rect = QRectF(QPointF(float(lefts[at]), float(tops[at])), size)
        leader = leader_to(rect, owner.starts[at // len(lengths)])
        if not occupied.is_crossed(leader):
            rank = ranks[at] + CROSSED * owner.among.crossed(leader, owner.number)
            rank += DOUBT * owner.doubt_px(rect) / (1.0 + lengths[at % len(lengths)]) ** 2
            if not best or rank < best.rank:
                best = _Found(rank, rect, float(costs[at]), leader)
    return best


def _corners(wish: Wish, size: QSizeF) -> np.ndarray:
    """Return left and top of each preferred place."""
    width, height = size.width(), size.height()
    corners = [(a.at.x() - a.left * width, a.at.y() - a.above * height) for a in wish.anchors]
    return np.array(corners).reshape(-1, 2)


def _put(
    wish: Wish, rect: QRectF, occupied: Occupied, cost: float = 0.0, leader: QLineF | None = None
) -> Label:
    apart = -AIR_PX if wish.owner else AIR_PX  # labels of bars may be as close as their bars
    occupied.take_label(rect.adjusted(-APART_PX, apart, APART_PX, -apart))
    if leader is not None:
        occupied.take_leader(leader)
    return Label(wish.text, wish.colour, wish.font, rect, cost > 0.0, leader)


def _cheapest(ranks: np.ndarray, costs: np.ndarray) -> list[int]:
    """Return the indices of the cheapest places that cover no label, in order."""
    order = ranks.argsort(kind="stable")
    return [int(at) for at in order[costs[order] < LABEL][:TRIED]]


def _spread(cells: np.ndarray, reach: int) -> np.ndarray:
    """Return the cells extended by `reach` cells above and below."""
    wide = cells.copy()
    for step in range(1, reach + 1):
        wide[step:] |= cells[:-step]
        wide[:-step] |= cells[step:]
    return wide


_AROUND = np.array([(right, down) for down in AROUND for right in ASIDE])
_CLOSE = _AROUND[np.abs(_AROUND[:, 1]) <= CLOSE]
_ACROSS = _CLOSE[_CLOSE[:, 0] == 0.0]
_ONWARD = np.array([(right, 0.0) for right in ONWARD])
