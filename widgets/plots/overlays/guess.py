"""A guess over what was measured: dashed, in the second colour, with the gap softly shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from experiments.core.views import Axis, View
from widgets.plots.drawing import GHOST, Track, square
from widgets.plots.labels import LINE, Anchor, Wish
from widgets.plots.overlays.axes_of import holding, x_axis, y_axis
from widgets.plots.owners import Courses, Owner
from widgets.plots.ranges import NO_ROOM, Room
from widgets.plots.sheet import LINE_PX, Curve, Sheet, line_pen, polygon, tinted
from widgets.plots.terms import Terms
from widgets.plots.ticks import has_place, to_axis
from widgets.style.theme import STEP

SECOND = 1  # place in the series colours
GAP_ALPHA = 30
FEW = 12  # the label keeps away from so many lines

HIGH = tuple(part / 40 for part in range(1, 40))  # fractions of a guessed place, from above
LABEL_AT = (0.7, 0.5, 0.85, 0.3, 0.15, 1.0)  # fractions of a guessed line


@dataclass(frozen=True, slots=True)
class SketchGuess:
    """Guessed heights of a line at some x, in the units of the columns.

    The gap is shaded to the line of the series `of`; "" is the first line.
    """

    xs: tuple[float, ...]
    heights: tuple[float, ...]
    of: str = ""

    def room(self, view: View) -> Room:
        """Return what the axes must hold."""
        return (
            (holding(x_axis(view), *self.xs), holding(y_axis(view), *self.heights))
            if y_axis(view)
            else NO_ROOM
        )

    def paint_gap(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Shade what lies between the guess and the line."""
        guess, own = self._places(terms), [t for t in tracks if t.colour != GHOST and len(t.xs)]
        track = next((t for t in own if not self.of or t.label == self.of), None)
        if guess is None or track is None:
            return
        low, high = (
            max(guess[0][0], track.xs[0], sheet.area.sight.x[0]),
            min(guess[0][-1], track.xs[-1], sheet.area.sight.x[1]),
        )
        if low >= high:
            return
        most = round(sheet.area.rect.width())
        corners = np.concatenate((guess[0], track.xs)) if len(track.xs) <= most else guess[0]
        even = np.linspace(low, high, most if len(track.xs) > most else 2)
        at = np.unique(np.clip(np.concatenate((corners, even)), low, high))
        there, back = np.interp(at, *guess), np.interp(at, track.xs, track.ys)[::-1]
        xs, ys = np.concatenate((at, at[::-1])), np.concatenate((there, back))
        with sheet.brushed(ground=_tint(sheet)) as painter:
            painter.drawPolygon(polygon(sheet.area.x_px(xs), sheet.area.y_px(ys)))

    def paint(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Draw the guessed line with a ring for each height."""
        guess, area = self._places(terms), sheet.area
        if guess is None:
            return
        colour = sheet.colour(SECOND)
        with sheet.brushed(is_smooth=False) as painter:
            painter.setClipRect(area.rect)
            paths = sheet.lines([Curve(xs=guess[0], ys=guess[1], colour=colour, is_dashed=True)])
        for x, y in zip(*guess, strict=True):
            at = area.point(float(x), float(y))
            if area.rect.adjusted(-STEP, -STEP, STEP, STEP).contains(at):
                sheet.ring(at, colour)
                sheet.occupied.take_rect(square(at, 6.0))
        low, high = area.sight.x
        if guess[0][0] > high or guess[0][-1] < low:
            return
        xs, ys = paths[0]
        others = [(area.x_px(track.xs), area.y_px(track.ys)) for track in tracks[:FEW]]
        points = [_point(xs, ys, share) for share in LABEL_AT]
        font = sheet.theme.bold()
        away = 1.0 + 1.5 * STEP * sheet.theme.zoom / QFontMetricsF(font).height()
        anchors = [
            Anchor(at, left, above)
            for at in points
            for above in (1.0 - away, away)
            for left in (0.0, 0.5, 1.0)
        ]
        owner = Owner(Courses([*others, *paths]), len(others), points)
        word = sheet.colour(SECOND, word=True)
        sheet.wishes.append(Wish(terms.say("plot.guess"), anchors, word, font, owner=owner))

    def said(self, terms: Terms) -> str:
        """Return the guess as a sentence; "" in a view without lines."""
        x, y = x_axis(terms.view), y_axis(terms.view)
        if x is None or y is None:
            return ""
        pairs = zip(self.xs, self.heights, strict=True)
        shown = [terms.joined(terms.show(a, x.column), terms.show(b, y.column)) for a, b in pairs]
        return terms.say("plot.guess_said", {"guess": ", ".join(shown)})

    def _places(self, terms: Terms) -> tuple[np.ndarray, np.ndarray] | None:
        x, y = x_axis(terms.view), y_axis(terms.view)
        if x is None or y is None:
            return None
        found = [
            (to_axis(a, x.scale), to_axis(b, y.scale))
            for a, b in sorted(zip(self.xs, self.heights, strict=True))
            if has_place(a, x.scale) and has_place(b, y.scale)
        ]
        return (np.array(found)[:, 0], np.array(found)[:, 1]) if found else None


@dataclass(frozen=True, slots=True)
class PlaceGuess:
    """A guessed place on the x axis, in the unit of its column; shaded as far as the truth."""

    x: float
    truth: float | None = None

    def room(self, view: View) -> Room:
        """Return what the axes must hold."""
        return holding(x_axis(view), self.x, *_known(self.truth)), None

    def paint_gap(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Shade the stretch between the guess and the truth."""
        axis = x_axis(terms.view)
        ends = [_px(sheet, axis, value) for value in (self.x, *_known(self.truth))]
        known = sorted(px for px in ends if px is not None)
        if len(known) == 2:
            rect = QRectF(known[0], sheet.area.rect.top(), known[1] - known[0], 0.0)
            rect.setBottom(sheet.area.rect.bottom())
            sheet.painter.fillRect(rect, _tint(sheet))

    def paint(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Draw the guess as a vertical line."""
        axis, rect = x_axis(terms.view), sheet.area.rect
        px = _px(sheet, axis, self.x)
        if axis is None or px is None or not rect.left() - 1 <= px <= rect.right() + 1:
            return
        height = QFontMetricsF(sheet.theme.bold()).height()
        anchors = [
            Anchor(
                QPointF(px + side * STEP, rect.top() + share * (rect.height() - height)), left, 0
            )
            for share in HIGH
            for side, left in ((1, 0.0), (-1, 1.0))
        ]
        line = QLineF(px, rect.top(), px, rect.bottom())
        _paint_place(sheet, line, anchors, terms.show(self.x, axis.column), terms)

    def said(self, terms: Terms) -> str:
        """Return the guess as a sentence; "" in a view without such an axis."""
        return _said(terms, x_axis(terms.view), self.x)


@dataclass(frozen=True, slots=True)
class HeightGuess:
    """A guessed value on the y axis, in the unit of its column."""

    y: float

    def room(self, view: View) -> Room:
        """Return what the axes must hold."""
        return None, holding(y_axis(view), self.y)

    def paint_gap(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Shade nothing."""

    def paint(self, sheet: Sheet, terms: Terms, tracks: Sequence[Track]) -> None:
        """Draw the guess as a horizontal line."""
        axis, rect = y_axis(terms.view), sheet.area.rect
        if axis is None or not has_place(self.y, axis.scale):
            return
        px = sheet.area.y_px(to_axis(self.y, axis.scale))
        anchors = [
            Anchor(QPointF(rect.left() + share * rect.width(), px), share, above)
            for share in (0.02, 0.98, 0.5, 0.25, 0.75)
            for above in (1.15, -0.1)
        ]
        line = QLineF(rect.left(), px, rect.right(), px)
        _paint_place(sheet, line, anchors, terms.show(self.y, axis.column), terms)

    def said(self, terms: Terms) -> str:
        """Return the guess as a sentence; "" in a view without such an axis."""
        return _said(terms, y_axis(terms.view), self.y)


Guessed = SketchGuess | PlaceGuess | HeightGuess


def _known(value: float | None) -> tuple[float, ...]:
    return () if value is None else (value,)


def _said(terms: Terms, axis: Axis | None, value: float) -> str:
    if axis is None:
        return ""
    return terms.say("plot.guess_said", {"guess": terms.show(value, axis.column)})


def _px(sheet: Sheet, axis: Axis | None, value: float) -> float | None:
    if axis is None or not has_place(value, axis.scale):
        return None
    return float(sheet.area.x_px(to_axis(value, axis.scale)))


def _point(xs: np.ndarray, ys: np.ndarray, share: float) -> QPointF:
    x = float(xs[0] + share * (xs[-1] - xs[0]))
    return QPointF(x, float(np.interp(x, xs, ys)))


def _paint_place(
    sheet: Sheet, line: QLineF, anchors: Sequence[Anchor], value: str, terms: Terms
) -> None:
    """Draw a guess as an upright or level line, with its value at an anchor."""
    with sheet.brushed(guess_pen(sheet), is_smooth=False) as painter:
        painter.drawLine(line)
    aside = QPointF(0.0, 1.0) if line.dx() else QPointF(1.0, 0.0)
    sheet.occupied.take_rect(QRectF(line.p1() - aside, line.p2() + aside), LINE)
    text, word = terms.say("plot.guess_at", {"value": value}), sheet.colour(SECOND, word=True)
    sheet.wishes.append(Wish(text, anchors, word, sheet.theme.bold(), stays_put=True))


def guess_pen(sheet: Sheet) -> QPen:
    """Return the dashed pen of what is guessed."""
    return line_pen(sheet.colour(SECOND), LINE_PX * sheet.theme.zoom, is_dashed=True)


def _tint(sheet: Sheet) -> QColor:
    return tinted(sheet.colour(SECOND), GAP_ALPHA)
