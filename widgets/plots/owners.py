"""Distances between labels and lines: a label must be nearest to its own line.

Readers take a label for the name of the nearest line, or of the line its leader comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF

STEP_PX = 5.0
MOST_STEPS = 300  # of one line; a very jagged line is sampled more coarsely
CLEARLY_PX, FAR_PX = 1.0, 1e9
Path = tuple[np.ndarray, np.ndarray]


class Courses:
    """The paths of several lines, sampled as points in pixels."""

    def __init__(self, paths: Sequence[Path]) -> None:
        walked = [np.empty((2, 0)), *(_walked(xs, ys) for xs, ys in paths)]
        self._xs, self._ys = np.concatenate(walked, axis=1)
        self._starts = np.cumsum([points.shape[1] for points in walked])

    def gaps(self, rect: QRectF) -> np.ndarray:
        """Return the distance of each line from a rectangle."""
        right = np.maximum(rect.left() - self._xs, self._xs - rect.right()).clip(0.0)
        down = np.maximum(rect.top() - self._ys, self._ys - rect.bottom()).clip(0.0)
        return np.asarray(np.sqrt(np.minimum.reduceat(right**2 + down**2, self._starts[:-1])))

    def crossed(self, stroke: QLineF, own: int) -> int:
        """Return how often a stroke crosses lines other than its own."""
        xs, ys = self._xs - stroke.x1(), self._ys - stroke.y1()
        side = stroke.dx() * ys - stroke.dy() * xs
        turns = side[:-1] * side[1:] < 0.0
        turns[self._starts[1:-1] - 1] = False  # between one line's end and the next one's start
        turns[max(self._starts[own] - 1, 0) : self._starts[own + 1]] = False
        count = 0
        for at in np.flatnonzero(turns):
            piece = QLineF(*(float(v[n]) for n in (at, at + 1) for v in (self._xs, self._ys)))
            count += stroke.intersects(piece)[0] == QLineF.IntersectionType.BoundedIntersection
        return count


@dataclass(frozen=True, slots=True)
class Owner:
    """The line that a label names, among all lines it could be taken to name."""

    among: Courses
    number: int
    starts: Sequence[QPointF]  # possible starts of a leader, the end of the line first

    def doubt_px(self, rect: QRectF) -> float:
        """Return by how many pixels another line is too near to a label here; 0 if clear."""
        gaps = self.among.gaps(rect)
        own, gaps[self.number] = gaps[self.number], FAR_PX
        return max(float(own - gaps.min()) + CLEARLY_PX, 0.0)


def leader_to(rect: QRectF, start: QPointF) -> QLineF:
    """Return the leader from a line to a side, the top or the bottom of its label."""
    x, y = start.x(), start.y()
    if rect.left() <= x <= rect.right():
        return QLineF(start, QPointF(x, rect.top() if y < rect.top() else rect.bottom()))
    side = rect.left() if x < rect.left() else rect.right()
    return QLineF(start, QPointF(side, rect.center().y()))


def _walked(xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Return points at even steps along a line; one point far away for an empty line."""
    if not len(xs):
        return np.full((2, 1), FAR_PX)
    walked = np.concatenate(([0.0], np.cumsum(np.hypot(xs[1:] - xs[:-1], ys[1:] - ys[:-1]))))
    at = np.linspace(0.0, walked[-1], min(int(walked[-1] / STEP_PX), MOST_STEPS) + 1)
    return np.array((np.interp(at, walked, xs), np.interp(at, walked, ys)))
