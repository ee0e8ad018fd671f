"""Where does a direct label stand so that it covers no mark and no other label?

The plot is divided into small cells that marks and labels occupy. Each label names the places it
would like best; it gets the first that is free, or the nearest free one around them. One that names
a line stands nearer to it than to any other, or is joined to it by a leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from widgets.plots.owners import Owner, leader_to

CELL_PX, BEAD_PX = 3.0, 5.0  # leaders keep labels away bead by bead
AIR_PX = 2.0  # above and below the letters of a line of text
APART_PX = 6.0  # between two labels in one row, so that they are not read as one
LINE, MARK = 2, 30  # what it costs to cover a cell
LABEL = 1e6  # and a label, which never happens
AWAY = 30.0  # what it costs to stand one height or width away from where one would like to
AROUND = (0.0, -0.6, 0.6, -1.2, 1.2, -2.0, 2.0, -3.0, 3.0, -4.5, 4.5)  # heights up and down
CLOSE = 0.6
ASIDE = (0.0, -0.35, 0.35, -0.8, 0.8)  # widths left and right
ONWARD = tuple(tenths / 10 for tenths in range(20))  # widths to the right
LED_ASIDE = (0.6, 1.5, 3.0, 6.0)  # heights from a line to a label that it leads to
LED_DOWN = tuple(halves / 2 for halves in range(-12, 13))  # and heights down to its middle
CROSSED = 200.0  # what it costs that a leader goes through another line
DOUBT = 150.0  # what it costs to stand a pixel too near to another line
TRIED = 30  # the cheapest places, which alone are looked at closely


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
    stays_close: bool = False  # farther away nobody would know what it names; it comes first
    stays_put: bool = False  # anywhere else it would say something wrong: rather over marks
    owner: Owner | None = None  # the line that it names, and stands next to


@dataclass(frozen=True, slots=True)
class Label:
    """A label at its place."""

    text: str
    colour: str
    font: QFont
    rect: QRectF
    is_over: bool = False  # something that is not a label
    leader: QLineF | None = None  # from its line, where only that tells which one it names


@dataclass(frozen=True, slots=True)
class _Found:
    """A place, how bad it is in all, and what of that is because of what it covers."""

    rank: float
    rect: QRectF
    cost: float
    leader: QLineF | None = None


class Occupied:
    """Which cells of the plot are taken, and where labels stand."""

    def __init__(self, bounds: QRectF) -> None:
        self._bounds = bounds
        shape = (int(bounds.height() // CELL_PX) + 1, int(bounds.width() // CELL_PX) + 1)
        self._cells = np.zeros(shape, dtype=np.int32)
        self._points: dict[int, np.ndarray] = {}  # cells with points, by how many more around them
        self._sums: np.ndarray | None = None  # of all cells above and left, so that areas are quick
        self._labels: list[tuple[float, float, float, float]] = []
        self._strokes: list[QLineF] = []  # leaders, and labels from corner to corner

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
        """Would a leader go through a label or another leader?"""
        through = QLineF.IntersectionType.BoundedIntersection
        return any(leader.intersects(stroke)[0] == through for stroke in self._strokes)

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
        if self._labels:
            edges = np.array(self._labels).T[:, :, None]
            across = (lefts < edges[2]) & (rights > edges[0])
            costs += LABEL * (across & (tops < edges[3]) & (bottoms > edges[1])).sum(0)
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
        cells = np.floor_divide(px, CELL_PX).astype(int)  # np.clip takes three times as long
        return np.asarray(np.minimum(np.maximum(cells, 0), self._cells.shape[axis] - 1))

    @staticmethod
    def _range(low: float, high: float) -> slice:
        return slice(max(int(low // CELL_PX), 0), max(int(high // CELL_PX) + 1, 0))


def place(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Return the label at the best place there is, which it occupies; None where there is none."""
    return place_as_wished(wish, size, occupied) or place_nearby(wish, size, occupied)


def place_as_wished(wish: Wish, size: QSizeF, occupied: Occupied) -> Label | None:
    """Return the label at the first of its own places that is free; mostly there is one."""
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
    """Return the label around its own places, or led to; None where it may be left out."""
    if not wish.must:
        return None
    best = _around(wish, size, occupied)
    if wish.owner is not None:
        best = _led(wish.owner, size, occupied, best)
    return _put(wish, best.rect, occupied, best.cost, best.leader) if best else None


def _around(wish: Wish, size: QSizeF, occupied: Occupied) -> _Found | None:
    """Return the first free place around the wished ones, or the least bad, if there is any."""
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
    """Return where a leader is short and goes through little, if that is better than `best`."""
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
    """Return left and top of each place that a label would like to have."""
    width, height = size.width(), size.height()
    corners = [(a.at.x() - a.left * width, a.at.y() - a.above * height) for a in wish.anchors]
    return np.array(corners).reshape(-1, 2)


def _put(
    wish: Wish, rect: QRectF, occupied: Occupied, cost: float = 0.0, leader: QLineF | None = None
) -> Label:
    apart = -AIR_PX if wish.owner else AIR_PX  # bars may be close, and so their labels
    occupied.take_label(rect.adjusted(-APART_PX, apart, APART_PX, -apart))
    if leader is not None:
        occupied.take_leader(leader)
    return Label(wish.text, wish.colour, wish.font, rect, cost > 0.0, leader)


def _cheapest(ranks: np.ndarray, costs: np.ndarray) -> list[int]:
    """Return the numbers of the cheapest places that cover no label, in order."""
    order = ranks.argsort(kind="stable")
    return [int(at) for at in order[costs[order] < LABEL][:TRIED]]


def _spread(cells: np.ndarray, reach: int) -> np.ndarray:
    """Return the cells with as many more above and below each."""
    wide = cells.copy()
    for step in range(1, reach + 1):
        wide[step:] |= cells[:-step]
        wide[:-step] |= cells[step:]
    return wide


_AROUND = np.array([(right, down) for down in AROUND for right in ASIDE])
_CLOSE = _AROUND[np.abs(_AROUND[:, 1]) <= CLOSE]
_ACROSS = _CLOSE[_CLOSE[:, 0] == 0.0]
_ONWARD = np.array([(right, 0.0) for right in ONWARD])
