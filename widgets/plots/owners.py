"""Which of several lines does a label name? The nearest one, or the one that a leader comes from.

A label that stands nearer to another line is read as that line's name. So labels ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF

STEP_PX = 5.0
MOST_STEPS = 300  # of one line; a very restless one is followed in longer steps
CLEARLY_PX, FAR_PX = 1.0, 1e9
Path = tuple[np.ndarray, np.ndarray]


class Courses:
    """Where several lines run, as points in pixels one after the other."""

    def __init__(self, paths: Sequence[Path]) -> None:
        walked = [np.empty((2, 0)), *(_walked(xs, ys) for xs, ys in paths)]
        self._xs, self._ys = np.concatenate(walked, axis=1)
        self._starts = np.cumsum([points.shape[1] for points in walked])

    def gaps(self, rect: QRectF) -> np.ndarray:
        """Return how far each line is from a rectangle."""
        right = np.maximum(rect.left() - self._xs, self._xs - rect.right()).clip(0.0)
        down = np.maximum(rect.top() - self._ys, self._ys - rect.bottom()).clip(0.0)
        return np.asarray(np.sqrt(np.minimum.reduceat(right**2 + down**2, self._starts[:-1])))

    def crossed(self, stroke: QLineF, own: int) -> int:
        """Return how often a stroke goes through other lines than its own."""
        xs, ys = self._xs - stroke.x1(), self._ys - stroke.y1()
        side = stroke.dx() * ys - stroke.dy() * xs
        turns = side[:-1] * side[1:] < 0.0
        turns[self._starts[1:-1] - 1] = False  # from the end of one line to the start of the next
        turns[max(self._starts[own] - 1, 0) : self._starts[own + 1]] = False
        count = 0
        for at in np.flatnonzero(turns):
            piece = QLineF(*(float(v[n]) for n in (at, at + 1) for v in (self._xs, self._ys)))
            count += stroke.intersects(piece)[0] == QLineF.IntersectionType.BoundedIntersection
        return count


@dataclass(frozen=True, slots=True)
class Owner:
    """The line that a label names, among those that it could be taken for."""

    among: Courses
    number: int
    starts: Sequence[QPointF]  # of a leader to the label, the end of the line first

    def doubt_px(self, rect: QRectF) -> float:
        """Return how much too near a label here would be to another line; 0 where it is clear."""
        gaps = self.among.gaps(rect)
        own, gaps[self.number] = gaps[self.number], FAR_PX
        return max(float(own - gaps.min()) + CLEARLY_PX, 0.0)


def leader_to(rect: QRectF, start: QPointF) -> QLineF:
    """Return the way from a line to its label: to its side, its top or its foot."""
    x, y = start.x(), start.y()
    if rect.left() <= x <= rect.right():
        return QLineF(start, QPointF(x, rect.top() if y < rect.top() else rect.bottom()))
    side = rect.left() if x < rect.left() else rect.right()
    return QLineF(start, QPointF(side, rect.center().y()))


def _walked(xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Return points in even steps along a line; one far away where there is nothing of it."""
    if not len(xs):
        return np.full((2, 1), FAR_PX)
    walked = np.concatenate(([0.0], np.cumsum(np.hypot(xs[1:] - xs[:-1], ys[1:] - ys[:-1]))))
    at = np.linspace(0.0, walked[-1], min(int(walked[-1] / STEP_PX), MOST_STEPS) + 1)
    return np.array((np.interp(at, walked, xs), np.interp(at, walked, ys)))
