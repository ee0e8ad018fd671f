"""Drawing operations of a plot: lines, dots, blocks and text, as pixels or vectors.

All that is drawn here also keeps labels away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import shiboken6
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtGui import QPolygonF as Polygon

from widgets.plots.drawing import GHOST, Area
from widgets.plots.labels import Anchor, Label, Occupied, Wish, place, place_as_wished, place_nearby
from widgets.plots.owners import Owner, Path
from widgets.style.theme import STEP, Theme, mixed

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
    _wishes: list[Wish] = field(init=False, default_factory=list)

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

    def lines(self, curves: Sequence[Curve]) -> list[Path]:
        """Draw lines, thinned to what the pixels can show, and thick while that is fast.

        Return their paths in pixels.
        """
        paths = [self._seen(curve) for curve in curves]
        total = sum(len(xs) for xs, _ in paths)
        painter = self.painter
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self.is_vector or total <= SMOOTH)
        every = max(1, total // LABELLED)
        for curve, (xs, ys) in zip(curves, paths, strict=True):
            if len(xs) < 2:
                continue
            self.occupied.take_path(xs[::every], ys[::every])
            line = polygon(xs, ys)
            if self.is_vector:
                painter.setPen(_pen(curve, LINE_PX * self.theme.zoom))
                painter.drawPolyline(line)
                continue
            painter.setPen(_pen(curve, 0.0))
            width = LINE_PX * self.theme.zoom * self.scale if total <= THICK else 1.0
            before = painter.transform()
            for right, down in _passes(round(width, 2)):
                painter.translate(right / self.scale, down / self.scale)
                painter.drawPolyline(line)
                painter.setTransform(before)
        painter.restore()
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
        tint = QColor(colour)
        tint.setAlpha(alpha)
        is_hollow &= is_round
        pen = QPen(QBrush(tint), DOT_PX * self.theme.zoom if is_round else 2.0)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap if is_round else Qt.PenCapStyle.SquareCap)
        painter = self.painter
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_round)
        if is_hollow:
            tint.setAlpha(RING_ALPHA)
            painter.setPen(QPen(tint, RING_PX * self.theme.zoom))
            radius = DOT_PX / 2 * self.theme.zoom
            for x, y in zip(xs, ys, strict=True):
                painter.drawEllipse(QPointF(x, y), radius, radius)
        else:
            painter.setPen(pen)
            painter.drawPoints(polygon(xs, ys))
        painter.restore()

    def block(self, rect: QRectF, colour: str, alpha: int = 255) -> None:
        """Draw a block with round corners, in pixels."""
        tint = QColor(colour)
        tint.setAlpha(alpha)
        corner = min(CORNER_PX, rect.width() / 2, rect.height() / 2)
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(tint)
        self.painter.drawRoundedRect(rect, corner, corner)
        self.painter.restore()
        self.occupied.take_rect(rect)

    def ring(self, at: QPointF, colour: str) -> None:
        """Draw a small ring around a point in pixels."""
        radius = 5.0 * self.theme.zoom
        self.painter.save()
        self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.painter.setPen(QPen(QColor(colour), 2.0))
        self.painter.setBrush(QColor(self.theme.panel))
        self.painter.drawEllipse(at, radius, radius)
        self.painter.restore()

    def veil(self, rect: QRectF) -> None:
        """Cover what is in the way of words almost fully."""
        veil = QColor(self.theme.panel)
        veil.setAlpha(VEIL_ALPHA)
        self.painter.fillRect(rect, veil)

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

    def wish(
        self,
        text: str,
        anchors: Sequence[Anchor],
        colour: str,
        *,
        font: QFont | None = None,
        must: bool = True,
        stays_in_row: bool = False,
        stays_close: bool = False,
        stays_put: bool = False,
        owner: Owner | None = None,
    ) -> None:
        """Request a label, which is placed when everything is drawn."""
        font = font or self.theme.font("note", weight=QFont.Weight.DemiBold)
        wish = Wish(
            text=text,
            colour=colour,
            font=font,
            anchors=anchors,
            must=must,
            stays_in_row=stays_in_row,
            stays_close=stays_close,
            stays_put=stays_put,
            owner=owner,
        )
        self._wishes.append(wish)

    def drop_labels(self) -> None:
        """Forget the requested labels."""
        self._wishes.clear()

    def put_labels(self) -> None:
        """Place and write the requested labels; those that need leaders come last."""
        waiting: list[tuple[float, Wish]] = []
        for wish in sorted(self._wishes, key=lambda wish: not wish.stays_close):
            may_wait = wish.owner is not None and not wish.stays_close
            put = place_as_wished if may_wait else place
            label = put(wish, text_size(wish.text, wish.font), self.occupied)
            if label is not None:
                self._put(label)
            elif wish.owner and may_wait:
                waiting.append((wish.owner.starts[0].y(), wish))
        for _, wish in sorted(waiting, key=lambda one: one[0]):
            label = place_nearby(wish, text_size(wish.text, wish.font), self.occupied)
            if label is not None:
                self._put(label)
        self._wishes.clear()

    def _put(self, label: Label) -> None:
        self.labels.append(label)
        if label.is_over:
            self.veil(label.rect)
        if label.leader is not None:
            self.painter.save()
            self.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.painter.setPen(QPen(QColor(label.colour), LEADER_PX * self.theme.zoom))
            self.painter.drawLine(label.leader)
            self.painter.restore()
        self.write(label.text, label.font, label.colour, label.rect, 0.5)

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


def _pen(curve: Curve, width: float) -> QPen:
    pen = QPen(QColor(curve.colour), width)
    pen.setCosmetic(width == 0.0)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap if curve.is_dashed else Qt.PenCapStyle.RoundCap)
    if curve.is_dashed:
        pen.setDashPattern([7.0, 4.0] if width == 0.0 else [7.0 / width, 4.0 / width])
    return pen


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
