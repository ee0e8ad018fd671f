"""Painting of a lesson's drawing at one size of its cells.

All labels have one size of letters: the largest at which every label of a box fits into it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from experiments.core.teaching.diagram import Box, Diagram, Dot, Line, Point, Role, Shape, Text
from widgets.controls.wrapped import in_lines
from widgets.style.ink import CENTRE, draw_box, draw_words, use_ink
from widgets.style.theme import Theme, mixed, word_on

SIZES = ("text", "note", "small")
EDGE_PX = 1.0  # around the drawing, for half a line
CORNER, BEND = 6, 8  # pixels at zoom 1: of a box, of a line
AIR = (5, 3)  # pixels at zoom 1: beside a label, above and below
PALER = 0.3  # of the way from ink to the ground: a plain line
TINT = 0.16  # of the role's colour in a filled box
HEAD = (8.0, 3.5)  # pixels at zoom 1: length and half the width of an arrow's head
DASHES = (4.0, 3.0)
_SERIES: Mapping[Role, int] = {"main": 0, "second": 1, "third": 2}
_ALIGNED = {"left": 0.0, "middle": 0.5, "right": 1.0}


class DiagramPainter:
    """Draws shapes; a cell is `cell_px` wide, and `row_px` high: as much, unless height is short.

    Dots stay round.
    """

    def __init__(
        self,
        diagram: Diagram,
        labels: Mapping[str, str],
        theme: Theme,
        cell_px: float,
        row_px: float | None = None,
    ) -> None:
        self._diagram, self._labels, self._theme = diagram, labels, theme
        self._cell_px, self._row_px = cell_px, cell_px if row_px is None else row_px
        fitting = [size for size in SIZES if self._fits(size)]
        self.has_room = bool(fitting)  # else labels stand over the edges of their boxes
        self.size = fitting[0] if fitting else SIZES[-1]

    def draw(self, painter: QPainter) -> None:
        """Draw all shapes, later ones above earlier ones."""
        for shape in self._diagram.shapes:
            self._draw(painter, shape)

    def _draw(self, painter: QPainter, shape: Shape, edge: float = 1.0) -> None:
        match shape:
            case Box():
                self._draw_box(painter, shape, edge)
            case Line():
                self._draw_line(painter, shape, edge)
            case Dot():
                self._draw_dot(painter, shape, edge)
            case Text():
                self._draw_text(painter, shape)

    def _draw_box(self, painter: QPainter, box: Box, edge: float) -> None:
        room, colour, behind = self._room(box), self._colour(box.role), self._ground(box)
        radius = min(CORNER * self._theme.zoom, room.height() / 3, room.width() / 3)
        draw_box(painter, room, radius, colour, behind, edge * self._hairline())
        self._draw_in(painter, room, self._said(box.label), self._word(box.role, behind))

    def _draw_dot(self, painter: QPainter, dot: Dot, edge: float) -> None:
        colour, said = self._colour(dot.role), self._said(dot.label)
        behind = self._tinted(colour) if said else colour
        radius = dot.radius * self._row_px
        use_ink(painter, colour, behind, edge * self._hairline())
        painter.drawEllipse(self._sharp(dot.at), radius, radius)
        self._draw_in(painter, self._around(dot), said, self._word(dot.role, behind))

    def _draw_line(self, painter: QPainter, line: Line, edge: float) -> None:
        points = [self._sharp(each) for each in line.points]
        if len(points) < 2:
            return
        colour, zoom = self._colour(line.role), self._theme.zoom
        pen = QPen(colour, 1.4 * edge * zoom)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap if line.dashed else Qt.PenCapStyle.RoundCap)
        if line.dashed:
            pen.setDashPattern(DASHES)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        tip = points[-1]
        if line.arrow:
            points[-1] = _toward(tip, points[-2], HEAD[0] * zoom * 0.8)
        painter.drawPath(_bent(points, BEND * zoom))
        if line.arrow:
            use_ink(painter, fill=colour)
            painter.drawPolygon(_head(points[-2], tip, HEAD[0] * zoom, HEAD[1] * zoom))
        if said := self._said(line.label):
            word = self._word(line.role, QColor(self._theme.ground))
            self._write(painter, self._beside(points, said), said, word)

    def _draw_text(self, painter: QPainter, text: Text) -> None:
        said, word = self._said(text.label), self._word(text.role, QColor(self._theme.ground))
        self._write(painter, self._place_of(text, self.size), said, word)

    def _write(self, painter: QPainter, room: QRectF, said: str, colour: QColor) -> None:
        draw_words(painter, room, said, self._font(self.size), colour, _WHOLE)

    def _draw_in(self, painter: QPainter, room: QRectF, said: str, colour: QColor) -> None:
        wrapped = _WHOLE | Qt.TextFlag.TextWordWrap
        draw_words(painter, room, said, self._font(self.size), colour, wrapped)

    def _fits(self, size: str) -> bool:
        """Does every label fit: into its box, beside its neighbours?"""
        metrics = QFontMetricsF(self._font(size))
        texts: list[QRectF] = []
        for shape in self._diagram.shapes:
            said = self._said(shape.label)
            if isinstance(shape, Box | Dot) and said:
                room = self._room(shape) if isinstance(shape, Box) else self._around(shape)
                across, down = (each * self._theme.zoom for each in AIR)
                if not _holds(room.adjusted(across, down, -across, -down), said, metrics):
                    return False
            elif isinstance(shape, Text):
                texts.append(self._place_of(shape, size))
        return not any(one.intersects(other) for one, other in itertools.combinations(texts, 2))

    def _place_of(self, text: Text, size: str) -> QRectF:
        """Return where a text stands: within the drawing, also at its edge."""
        metrics, at = QFontMetricsF(self._font(size)), self._point(text.at)
        width = metrics.horizontalAdvance(self._said(text.label)) + 1
        left = self._within(at.x() - _ALIGNED[text.align] * width, width)
        return QRectF(left, at.y() - metrics.height() / 2, width, metrics.height())

    def _beside(self, points: Sequence[QPointF], said: str) -> QRectF:
        """Return where the label of a line stands: above its middle, right of an upright one."""
        path = QPainterPath(points[0])
        for point in points[1:]:
            path.lineTo(point)
        middle, angle = path.pointAtPercent(0.5), math.radians(path.angleAtPercent(0.5))
        metrics = QFontMetricsF(self._font(self.size))
        width, height = metrics.horizontalAdvance(said) + 1, metrics.height()
        is_upright = abs(math.sin(angle)) > abs(math.cos(angle))
        across, down = (each * self._theme.zoom for each in AIR)
        left = middle.x() + across if is_upright else middle.x() - width / 2
        top = middle.y() - (height / 2 if is_upright else height + down)
        return QRectF(self._within(left, width), top, width, height)

    def _within(self, left: float, width: float) -> float:
        """Return the left end of a word that does not leave the drawing."""
        most = self._diagram.size[0] * self._cell_px + EDGE_PX
        return min(max(EDGE_PX, left), max(EDGE_PX, most - width))

    def _colour(self, role: Role) -> QColor:
        theme = self._theme
        if role in _SERIES:
            return QColor(theme.series_colour(_SERIES[role]))
        if role == "plain":
            return mixed(QColor(theme.ink), QColor(theme.ground), PALER)
        return QColor(getattr(theme, role))

    def _word(self, role: Role, behind: QColor) -> QColor:
        """Return the colour of a role as words, to be read on `behind`."""
        theme, ink = self._theme, QColor(self._theme.ink)
        if role == "plain":
            return ink
        is_series = role in _SERIES
        word = theme.series_colour(_SERIES[role], word=True) if is_series else self._colour(role)
        return word_on(QColor(word), behind, ink)

    def _ground(self, box: Box) -> QColor:
        return self._tinted(self._colour(box.role)) if box.filled else QColor(self._theme.panel)

    def _tinted(self, colour: QColor) -> QColor:
        return mixed(QColor(self._theme.panel), colour, TINT)

    def _said(self, label: str) -> str:
        return self._labels.get(label, "")

    def _font(self, size: str) -> QFont:
        return self._theme.font(size, weight=500)

    def _hairline(self) -> float:
        return max(1.0, self._theme.zoom)

    def _point(self, at: Point) -> QPointF:
        return QPointF(EDGE_PX + at[0] * self._cell_px, EDGE_PX + at[1] * self._row_px)

    def _sharp(self, at: Point) -> QPointF:
        """Return the middle of the pixel, so that a thin line covers whole ones."""
        point = self._point(at)
        return QPointF(round(point.x()) + 0.5, round(point.y()) + 0.5)

    def _room(self, box: Box) -> QRectF:
        """Return the rectangle of a box, on whole pixels, so that its edges are sharp."""
        one = self._point(box.at)
        other = self._point((box.at[0] + box.size[0], box.at[1] + box.size[1]))
        left, top, right, bottom = map(round, (one.x(), one.y(), other.x(), other.y()))
        return QRectF(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1)

    def _around(self, dot: Dot) -> QRectF:
        """Return the square within a dot."""
        half, middle = dot.radius * self._row_px * math.sqrt(0.5), self._sharp(dot.at)
        return QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)


_WHOLE = CENTRE | Qt.TextFlag.TextDontClip


def _holds(room: QRectF, said: str, metrics: QFontMetricsF) -> bool:
    """Does a text fit into a rectangle, wrapped between its words?"""
    lines = in_lines(said.split(), metrics, room.width())
    return len(lines) * metrics.height() <= room.height() and all(
        metrics.horizontalAdvance(line) <= room.width() for line in lines
    )


def _bent(points: Sequence[QPointF], radius: float) -> QPainterPath:
    """Return a line through points, with round bends."""
    path = QPainterPath(points[0])
    for before, bend, after in zip(points, points[1:], points[2:], strict=False):
        path.lineTo(_toward(bend, before, radius))
        path.quadTo(bend, _toward(bend, after, radius))
    path.lineTo(points[-1])
    return path


def _toward(start: QPointF, end: QPointF, distance: float) -> QPointF:
    """Return the point at a distance from `start` on the way to `end`, at most halfway."""
    length = math.hypot(end.x() - start.x(), end.y() - start.y())
    share = min(0.5, distance / length) if length else 0.0
    return start + (end - start) * share


def _head(start: QPointF, tip: QPointF, length: float, half: float) -> QPolygonF:
    """Return the head of an arrow that comes from `start`."""
    way = tip - start
    whole = math.hypot(way.x(), way.y()) or 1.0
    along = QPointF(way.x() / whole, way.y() / whole)
    across = QPointF(-along.y(), along.x())
    base = tip - along * length
    return QPolygonF([tip, base + across * half, base - across * half])
