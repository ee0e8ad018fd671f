"""Painting of a motion: copies of a lesson's drawing, and over each what a moment shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF

from experiments.core.teaching.diagram import Box, Diagram, Dot, Line, Shape, Text
from experiments.core.teaching.motion import Count, Hold, Motion, Scene, Travel
from widgets.lesson.drawing.diagram_painter import AIR, EDGE_PX, DiagramPainter
from widgets.lesson.drawing.moments import Marked, Moment, Moments, Moved
from widgets.style.ink import LEFT, draw_words, use_ink
from widgets.style.theme import STEP, Theme, ink_on

LIT = 2.0  # times as wide is the edge of a lit shape
DOT = (5.0, 0.35)  # the least radius of what moves: pixels at zoom 1, cells
MOST_WITHIN = 3  # letters in a dot; more stand above it
MOST_CELL_PX = 36  # of a cell at zoom 1, in the widest drawing
TITLE_SHARE = 0.2  # of the width: wider titles stand above their drawings
STILL = Motion(scenes=(Scene(events=()),), duration_s=1.0, stills=(0.0, 0.5, 1.0))


class MotionPainter:
    """Draws the scenes of a motion one below the other, each with its title beside it or above.

    The drawings are as wide as `width_px` allows, and together no higher than `most_px`: their
    cells are lower then, and as wide as before.
    """

    def __init__(
        self,
        diagram: Diagram,
        labels: Mapping[str, str],
        theme: Theme,
        width_px: float,
        motion: Motion | None = None,
        texts: Mapping[str, str] | None = None,
        most_px: float = math.inf,
    ) -> None:
        """Take a drawing with its labels; without a motion it stands still."""
        self._theme, self._motion, texts = theme, motion or STILL, texts or {}
        self.moments = Moments(diagram, self._motion, texts)
        self._titles = [self.moments.word(scene.title) for scene in self._motion.scenes]
        metrics = QFontMetricsF(theme.bold("text"))
        widest = max(map(metrics.horizontalAdvance, self._titles))
        is_beside = widest <= TITLE_SHARE * width_px
        self._left = widest + 4 * STEP * theme.zoom if widest and is_beside else 0.0
        self._over = 0.0 if is_beside else metrics.height()
        self._apart = 2 * STEP * theme.zoom
        across, down = diagram.size
        count = len(self._titles)
        cell_px = min(MOST_CELL_PX * theme.zoom, (width_px - self._left - 2 * EDGE_PX) / across)

        def taken(row_px: float) -> float:
            sides = max(cell_px, 0.1), max(row_px, 0.1)
            self._painter = _MomentPainter(diagram, labels, theme, *sides)
            above, below = self._painter.reach(self._motion, self.moments)
            self._above = above + self._over
            self._drawn = down * row_px + 2 * EDGE_PX
            self._each = self._above + self._drawn + below
            return count * self._each + (count - 1) * self._apart

        self.height = taken(cell_px)
        if self.height > most_px:  # words keep their size, the drawings give way
            words = self.height - count * down * cell_px
            self.height = taken(max((most_px - words) / (count * down), cell_px / 3))

    def draw_ground(self, painter: QPainter) -> None:
        """Draw what no moment changes: shapes and titles."""
        for place, title in enumerate(self._titles):
            top = self._top(place)
            room = QRectF(0, top, self._left, self._drawn)
            if self._over:
                room = QRectF(0, top - self._above, 0, self._over)
            font, ink = self._theme.bold("text"), self._theme.ink
            draw_words(painter, room, title, font, ink, LEFT | Qt.TextFlag.TextDontClip)
            with _moved(painter, self._left, top):
                self._painter.draw(painter)

    def draw_moment(self, painter: QPainter, t_s: float) -> None:
        """Draw over the ground what a moment shows."""
        for place, moment in enumerate(self.moments.at(t_s)):
            with _moved(painter, self._left, self._top(place)):
                self._painter.draw_moment(painter, moment)

    def _top(self, place: int) -> float:
        """Return the upper end of a scene's drawing, on a whole pixel so that edges are sharp."""
        return round(self._above + place * (self._each + self._apart))


@contextmanager
def _moved(painter: QPainter, left: float, top: float) -> Iterator[None]:
    painter.save()
    painter.translate(round(left), top)
    yield
    painter.restore()


class _MomentPainter(DiagramPainter):
    """Draws over a drawing what a moment shows."""

    def __init__(
        self,
        diagram: Diagram,
        labels: Mapping[str, str],
        theme: Theme,
        cell_px: float,
        row_px: float,
    ) -> None:
        super().__init__(diagram, labels, theme, cell_px, row_px)
        self._named = {shape.name: shape for shape in diagram.shapes if shape.name}
        self._metrics = QFontMetricsF(self._font(self.size))
        self._taken = [self._extent(each) for each in diagram.shapes if not isinstance(each, Line)]

    def draw_moment(self, painter: QPainter, moment: Moment) -> None:
        """Draw over the shapes what is lit, counted and under way."""
        for lit in moment.lit:
            shape = self._named[lit.shape]
            is_filled = {"filled": True} if isinstance(shape, Box) else {}
            self._draw(painter, replace(shape, role=lit.role, **is_filled), edge=LIT)
            self._write_mark(painter, self._over(lit.shape, lit.word), lit)
        below = dict.fromkeys((count.shape for count in moment.counts), 0)
        for count in moment.counts:
            self._write_mark(painter, self._under(count, below[count.shape]), count)
            below[count.shape] += 1
        for dot in moment.dots:
            self._draw_moved(painter, dot)

    def reach(self, motion: Motion, moments: Moments) -> tuple[float, float]:
        """Return how many pixels the words of a motion need above the drawing, and below it."""
        line, tops, bottoms = self._line_px(), [0.0], [self._bottom()]
        for scene in motion.scenes:
            counts = [event.shape for event in scene.events if isinstance(event, Count)]
            bottoms += [self._box_of(name).bottom() + counts.count(name) * line for name in counts]
        # Of hundreds of events most say the same at the same place.
        events = [event for scene in motion.scenes for event in scene.events]
        for shape, label in {(each.shape, each.label) for each in events if isinstance(each, Hold)}:
            if label:
                tops.append(self._over(shape, moments.word(label)).top())
        for along, token in {
            (each.along, each.token) for each in events if isinstance(each, Travel)
        }:
            road, word = moments.road(along), moments.word(token)
            for at in road.points:
                dot = Moved(at, word, "attention", road.top)
                within = self._around_dot(dot).top()
                tops.append(within if _is_within(word) else self._over_road(dot).top() - line)
        return -min(tops), max(bottoms) - self._bottom()

    def _draw_moved(self, painter: QPainter, dot: Moved) -> None:
        """Draw a dot with a short word in it, or a longer one above."""
        colour, around = self._colour(dot.role), self._around_dot(dot)
        use_ink(painter, self._theme.panel, colour, self._hairline())
        painter.drawEllipse(around)
        if _is_within(dot.word):
            self._write(painter, around, dot.word, ink_on(colour))
            return
        word = self._word(dot.role, QColor(self._theme.ground))
        self._write(painter, self._above(self._over_road(dot), dot.word), dot.word, word)

    def _over_road(self, dot: Moved) -> QRectF:
        """Return what a word stands above: its dot, and the shapes of a level road."""
        around = self._around_dot(dot)
        around.setTop(min(around.top(), self._point((0, dot.top)).y()))
        return around

    def _around_dot(self, dot: Moved) -> QRectF:
        """Return the square around a dot, which has room for a short word."""
        at, radius = self._point(dot.at), max(DOT[0] * self._theme.zoom, DOT[1] * self._row_px)
        if dot.word and _is_within(dot.word):
            wide = math.hypot(self._metrics.horizontalAdvance(dot.word), self._metrics.ascent())
            radius = max(radius, wide / 2 + self._theme.zoom)
        return QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius)

    def _write_mark(self, painter: QPainter, room: QRectF, mark: Marked) -> None:
        word = self._word(mark.role, QColor(self._theme.ground))
        self._write(painter, room, mark.word, word)

    def _over(self, shape: str, said: str) -> QRectF:
        """Return where a word stands above a shape, and above others that it would cover."""
        room = self._above(self._box_of(shape), said)
        for box in self._taken:
            if room.intersects(box):
                room.moveBottom(box.top())
        return room

    def _under(self, mark: Marked, line: int) -> QRectF:
        """Return where a word stands in a line below a shape."""
        around = self._box_of(mark.shape)
        room = self._above(around, mark.word)
        room.moveTop(around.bottom() + line * self._line_px())
        return room

    def _above(self, around: QRectF, said: str) -> QRectF:
        """Return where a word stands above a mark: within the drawing, also at its edge."""
        width, height = self._metrics.horizontalAdvance(said) + 1, self._line_px()
        left = self._within(around.center().x() - width / 2, width)
        return QRectF(left, around.top() - height, width, height)

    def _bottom(self) -> float:
        return self._diagram.size[1] * self._row_px + 2 * EDGE_PX

    def _line_px(self) -> float:
        """Return the height of a line of words beside a shape."""
        return self._metrics.height() + AIR[1] * self._theme.zoom

    def _box_of(self, name: str) -> QRectF:
        """Return the rectangle around a named shape."""
        return self._extent(self._named[name])

    def _extent(self, shape: Shape) -> QRectF:
        match shape:
            case Box():
                return self._room(shape)
            case Dot():
                half = shape.radius * self._row_px
                return QRectF(self._point(shape.at), self._point(shape.at)).adjusted(
                    -half, -half, half, half
                )
            case Line():
                return QPolygonF([self._point(each) for each in shape.points]).boundingRect()
            case Text():
                return self._place_of(shape, self.size)


def _is_within(word: str) -> bool:
    """Is a word short enough to stand in its dot?"""
    return len(word) <= MOST_WITHIN
