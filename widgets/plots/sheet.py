"""Drawing operations of a plot: lines, dots, blocks and text, as pixels or vectors.

All that is drawn here also keeps labels away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import shiboken6
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtGui import QPolygonF as Polygon

from widgets.plots.drawing import GHOST, Area
from widgets.plots.labels import Label, Occupied, Wish, place, place_as_wished, place_nearby
from widgets.plots.owners import Path
from widgets.style.theme import STEP, Theme, mixed

DASHES = (7.0, 4.0)  # pixels of a dashed line
LINE_PX, LEADER_PX, DOT_PX, CORNER_PX = 2.4, 1.0, 5.0, 4.0
RING_PX, RING_ALPHA = 1.2, 160
GHOSTLY = 0.4  # of the way from soft words to the panel: marks that were there before
DOT_ALPHA, VEIL_ALPHA = 90, 190
# Lines are drawn thick up to THICK points in total, smooth up to SMOOTH, plain beyond.
THICK, SMOOTH = 6_000, 24_000
ROUND_DOTS = 3_000
LABELLED = 8_000  # labels keep away from at most this many points


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A line through places on the axes, in order of x."""

    xs: np.ndarray
    ys: np.ndarray
    colour: str
    is_dashed: bool = False


@dataclass(slots=True)
class Sheet:
    """One picture being painted. The painter is clipped to the area while marks are drawn."""

    painter: QPainter
    area: Area
    theme: Theme
    bounds: QRectF  # the limits for labels
    is_vector: bool = False
    scale: float = 1.0  # device pixels per pixel
    occupied: Occupied = field(init=False)
    labels: list[Label] = field(init=False, default_factory=list)
    wishes: list[Wish] = field(init=False, default_factory=list)  # placed when all is drawn

    def __post_init__(self) -> None:
        """Start with no cells occupied."""
        self.occupied = Occupied(self.bounds)

    def colour(self, place: int, *, word: bool = False) -> str:
        """Return the colour of the series at `place`, or of words beside it; grey for GHOST."""
        if place != GHOST:
            return self.theme.series_colour(place, word=word)
        if word:
            return self.theme.soft
        return mixed(QColor(self.theme.soft), QColor(self.theme.panel), GHOSTLY).name()

    @contextmanager
    def brushed(
        self,
        pen: QPen | Qt.PenStyle = Qt.PenStyle.NoPen,
        ground: QColor | Qt.BrushStyle = Qt.BrushStyle.NoBrush,
        *,
        is_smooth: bool = True,
    ) -> Iterator[QPainter]:
        """Give the painter with a pen, and a ground for what it fills; it is as before then."""
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_smooth)
        self.painter.setPen(pen)
        self.painter.setBrush(ground)
        yield self.painter
        self.painter.restore()

    def lines(self, curves: Sequence[Curve]) -> list[Path]:
        """Draw lines, thinned to what the pixels can show, and thick while that is fast.

        Return their paths in pixels.
        """
        paths = [self._seen(curve) for curve in curves]
        total = sum(len(xs) for xs, _ in paths)
        every = max(1, total // LABELLED)
        width = LINE_PX * self.theme.zoom * self.scale if total <= THICK else 1.0
        passes = ((0.0, 0.0),) if self.is_vector else _passes(round(width, 2))
        pen_px = LINE_PX * self.theme.zoom if self.is_vector else 0.0
        with self.brushed(is_smooth=self.is_vector or total <= SMOOTH) as painter:
            before = painter.transform()
            for curve, (xs, ys) in zip(curves, paths, strict=True):
                if len(xs) < 2:
                    continue
                self.occupied.take_path(xs[::every], ys[::every])
                painter.setPen(line_pen(curve.colour, pen_px, is_dashed=curve.is_dashed))
                line = polygon(xs, ys)
                for right, down in passes:
                    painter.translate(right / self.scale, down / self.scale)
                    painter.drawPolyline(line)
                    painter.setTransform(before)
        return paths

    def dots(
        self,
        xs: np.ndarray,
        ys: np.ndarray,
        colour: str,
        *,
        alpha: int = DOT_ALPHA,
        crowd: int = 0,
        is_hollow: bool = False,
    ) -> None:
        """Draw every repeat as a faint dot; in a large `crowd` (all dots of the plot) as a square.

        Hollow dots are rings: they mark the other run of the same colour.
        """
        (low_x, high_x), (low_y, high_y) = self.area.sight.x, self.area.sight.y
        seen = (xs >= low_x) & (xs <= high_x) & (ys >= low_y) & (ys <= high_y)
        xs, ys = self.area.x_px(xs[seen]), self.area.y_px(ys[seen])
        if not len(xs):
            return
        crowd = max(crowd, len(xs))
        is_round = crowd <= ROUND_DOTS
        every = max(1, crowd // LABELLED)
        self.occupied.take_points(xs[::every], ys[::every], DOT_PX / 2 * self.theme.zoom)
        if is_hollow and is_round:
            ring, radius = tinted(colour, RING_ALPHA), DOT_PX / 2 * self.theme.zoom
            with self.brushed(QPen(ring, RING_PX * self.theme.zoom)) as painter:
                for x, y in zip(xs, ys, strict=True):
                    painter.drawEllipse(QPointF(x, y), radius, radius)
            return
        pen = QPen(QBrush(tinted(colour, alpha)), DOT_PX * self.theme.zoom if is_round else 2.0)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap if is_round else Qt.PenCapStyle.SquareCap)
        with self.brushed(pen, is_smooth=is_round) as painter:
            painter.drawPoints(polygon(xs, ys))

    def block(self, rect: QRectF, colour: str, alpha: int = 255) -> None:
        """Draw a block with round corners, in pixels."""
        corner = min(CORNER_PX, rect.width() / 2, rect.height() / 2)
        with self.brushed(ground=tinted(colour, alpha)) as painter:
            painter.drawRoundedRect(rect, corner, corner)
        self.occupied.take_rect(rect)

    def ring(self, at: QPointF, colour: str) -> None:
        """Draw a small ring around a point in pixels."""
        radius = 5.0 * self.theme.zoom
        with self.brushed(QPen(QColor(colour), 2.0), QColor(self.theme.panel)) as painter:
            painter.drawEllipse(at, radius, radius)

    def veil(self, rect: QRectF) -> None:
        """Cover what is in the way of words almost fully."""
        self.painter.fillRect(rect, tinted(self.theme.panel, VEIL_ALPHA))

    def write(self, text: str, font: QFont, colour: str, rect: QRectF, left: float = 0.0) -> None:
        """Write one line, vertically centred; `left` aligns it from 0 (left) to 1 (right)."""
        metrics = QFontMetricsF(font)
        room = rect.width() - metrics.horizontalAdvance(text)
        baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2
        at = QPointF(rect.left() + left * room, baseline)
        if self.is_vector:  # outlines: the viewer of the file may lack the font
            outline = QPainterPath()
            outline.addText(at, font, text)
            self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.painter.fillPath(outline, QColor(colour))
        else:
            self.painter.setFont(font)
            self.painter.setPen(QColor(colour))
            self.painter.drawText(at, text)

    def put_labels(self) -> None:
        """Place and write the wished labels; those that need leaders come last."""
        waiting: list[tuple[float, Wish]] = []
        for wish in sorted(self.wishes, key=lambda wish: not wish.stays_close):
            may_wait = wish.owner is not None and not wish.stays_close
            is_put = self._put(wish, place_as_wished if may_wait else place)
            if wish.owner and may_wait and not is_put:
                waiting.append((wish.owner.starts[0].y(), wish))
        for _, wish in sorted(waiting, key=lambda one: one[0]):
            self._put(wish, place_nearby)
        self.wishes.clear()

    def _put(self, wish: Wish, put: Callable[[Wish, QSizeF, Occupied], Label | None]) -> bool:
        """Write a label where it finds room; return whether it did."""
        label = put(wish, text_size(wish.text, wish.font), self.occupied)
        if label is None:
            return False
        self.labels.append(label)
        if label.is_over:
            self.veil(label.rect)
        if label.leader is not None:
            with self.brushed(QPen(QColor(label.colour), LEADER_PX * self.theme.zoom)) as painter:
                painter.drawLine(label.leader)
        self.write(label.text, label.font, label.colour, label.rect, 0.5)
        return True

    def _seen(self, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Return the visible part of a line, in pixels."""
        low, high = self.area.sight.x
        first = max(int(np.searchsorted(curve.xs, low)) - 1, 0)
        last = int(np.searchsorted(curve.xs, high, side="right")) + 1
        xs, ys = cut(curve.xs[first:last], curve.ys[first:last], low, high)
        return envelope(self.area.x_px(xs), self.area.y_px(ys), self.scale)


def text_size(text: str, font: QFont) -> QSizeF:
    """Return the size of a line of text, with a little padding at both ends."""
    metrics = QFontMetricsF(font)
    return QSizeF(metrics.horizontalAdvance(text) + STEP, metrics.height())


def polygon(xs: np.ndarray, ys: np.ndarray) -> Polygon:
    """Return a Qt polygon, without a Python object per point."""
    points = Polygon()
    points.resize(len(xs))
    if len(xs):
        address: Any = points.data()  # mypy takes it for the first point, which lies there
        memory: Any = shiboken6.VoidPtr(address, len(xs) * 16, True)  # type: ignore[call-arg]
        view = np.frombuffer(memory, dtype=np.float64).reshape(-1, 2)
        view[:, 0], view[:, 1] = xs, ys
    return points


def cut(xs: np.ndarray, ys: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a line cut at the edges of the visible range; not every SVG viewer clips."""
    if not len(xs) or (xs[0] >= low and xs[-1] <= high):
        return xs, ys
    ends = np.clip(xs[[0, -1]], low, high)
    edges = np.interp(ends, xs, ys)
    inner = (xs > ends[0]) & (xs < ends[1])
    return (
        np.concatenate((ends[:1], xs[inner], ends[1:])),
        np.concatenate((edges[:1], ys[inner], edges[1:])),
    )


def envelope(xs: np.ndarray, ys: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a line that looks the same, with at most four points per column of pixels."""
    if len(xs) < 4:
        return xs, ys
    columns = np.floor(xs * scale).astype(np.int64)
    starts = np.concatenate(([0], np.flatnonzero(columns[1:] != columns[:-1]) + 1))
    if len(xs) <= 4 * len(starts):
        return xs, ys
    ends = np.append(starts[1:], len(xs)) - 1
    low, high = np.minimum.reduceat(ys, starts), np.maximum.reduceat(ys, starts)
    thin_ys = np.column_stack((ys[starts], low, high, ys[ends])).ravel()
    thin_xs = np.column_stack((xs[starts], xs[starts], xs[ends], xs[ends])).ravel()
    return thin_xs, thin_ys


def line_pen(colour: str, width: float, *, is_dashed: bool = False) -> QPen:
    """Return the pen of a line; one without a width is a pixel wide."""
    pen = QPen(QColor(colour), width)
    pen.setCosmetic(width == 0.0)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap if is_dashed else Qt.PenCapStyle.RoundCap)
    if is_dashed:
        pen.setDashPattern([part / (width or 1.0) for part in DASHES])
    return pen


def tinted(colour: str, alpha: int) -> QColor:
    """Return a colour that lets through what is below."""
    tint = QColor(colour)
    tint.setAlpha(alpha)
    return tint


@cache
def _passes(width: float) -> tuple[tuple[float, float], ...]:
    """Return shifts, in device pixels, whose thin lines add up to a line of this width.

    Qt's own wide smooth lines cost twenty times as much on noisy data.
    """
    shifts = [(0.0, 0.0)]
    radius = (width - 1.0) / 2.0
    while radius > 0.0:
        count = max(4, math.ceil(math.tau * radius))
        turns = (math.tau * number / count for number in range(count))
        shifts += [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]
        radius -= 0.75
    return tuple(shifts)
