"""Small plots of what was watched under load: clocks, temperatures, watts, and what held back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from experiments.core.units import show
from experiments.core.words import Words
from widgets.controls.basics import column, discard, label, tip
from widgets.controls.wrapped import line_px
from widgets.live.grid import GAP, column_count
from widgets.style.look import Look
from widgets.style.theme import STEP, mixed

Trace = Sequence[Mapping[str, Any]]  # entries of experiments.checkup.result.Result.trace
UNITS = ("hz", "celsius", "watts", "fraction")
Points = Sequence[tuple[float, float]]  # s, value
HELD = "held_back"
MOST_POINTS = 400  # of one curve that are drawn
PLOT_PX = 44  # the height of a curve at zoom 1
HEADROOM = 0.12  # of the range, above and below the curve
LEAST_SPAN = 0.05  # of the value: a steady clock is a straight line, not noise
LINE_WIDTH, WASH, HELD_PX = 1.5, 0.14, 3
_NAME = re.compile(r"(gpu(\d+)|[a-z]+)_(\w+)")


class Curve(NamedTuple):
    """One value over time, `points` of (s, value); `held` are the times at which it was slowed."""

    key: str
    title: str
    unit: str
    points: Points
    held: Sequence[float] = ()
    reasons: str = ""


def curves(words: Words, trace: Trace) -> Iterator[Curve]:
    """Yield the curves of a trace that have words, in the order of their first value."""
    names = dict.fromkeys(name for entry in trace for name in entry)
    for name in names:
        found = _NAME.fullmatch(name)
        unit = name.rpartition("_")[2]
        if found is None or unit not in UNITS:
            continue
        part, number, what = found.groups()
        of = "gpu" if number else part
        key = f"checkup_page.curves.{of}_{what}"
        points = [
            (float(entry.get("t_s") or 0.0), float(entry[name]))
            for entry in trace
            if isinstance(entry.get(name), int | float) and math.isfinite(entry[name])
        ]
        if not points or not words.has(key):
            continue
        told = [entry for entry in trace if entry.get(f"{part}_{HELD}")] if what == "hz" else []
        reasons = dict.fromkeys(
            reason for entry in told for reason in str(entry[f"{part}_{HELD}"]).split(", ")
        )
        yield Curve(
            key=name,
            title=words.say(key, {"number": number or ""}),
            unit=unit,
            points=points,
            held=[float(entry.get("t_s") or 0.0) for entry in told],
            reasons=", ".join(words.say(reason) for reason in reasons),
        )


class TracePanel(QWidget):
    """A tile for each curve, side by side."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.tiles: dict[str, CurveTile] = {}
        self._title = label(words.say("checkup_page.under_load"), "panel-title")
        self._area = _Tiles(look)
        self.setLayout(column(self._title, self._area))
        self.hide()

    def show_trace(self, trace: Trace) -> None:
        """Show the curves of a trace; none for an empty one."""
        found = {curve.key: curve for curve in curves(self._words, trace)}
        for key in self.tiles.keys() - found.keys():
            discard(self.tiles.pop(key))
        for key, curve in found.items():
            if key not in self.tiles:
                self.tiles[key] = CurveTile(self._words, self._look)
            self.tiles[key].tell(curve)
        self._area.arrange([self.tiles[key] for key in found])
        self.setVisible(bool(found))


class _Tiles(QWidget):
    """Tiles in as many columns as fit."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._tiles: Sequence[CurveTile] = ()
        look.changed.connect(self._place)

    def arrange(self, tiles: Sequence[CurveTile]) -> None:
        """Place these tiles."""
        if [*tiles] != [*self._tiles]:
            self._tiles = tiles
            for tile in tiles:
                tile.setParent(self)
                tile.show()
            self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        columns = min(column_count(self.width(), self._look.theme.zoom), max(1, len(self._tiles)))
        wide = (self.width() - GAP * (columns - 1)) // columns
        high = max((tile.sizeHint().height() for tile in self._tiles), default=0)
        for place, tile in enumerate(self._tiles):
            row, at = divmod(place, columns)
            tile.setGeometry(at * (wide + GAP), row * (high + GAP), wide, high)
        rows = -(-len(self._tiles) // columns)
        self.setFixedHeight(max(0, rows * (high + GAP) - GAP))


class CurveTile(QFrame):
    """Title, the last value, the curve, and its range below; slowed times are underlined."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._curve = Curve("", "", "", ())
        self.setProperty("role", "panel")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def tell(self, curve: Curve) -> None:
        """Show a curve."""
        self._curve = curve
        self.setAccessibleName(curve.title)
        said = " ".join(filter(None, (self.last, self.range_text, curve.reasons)))
        self.setAccessibleDescription(said)
        self.setToolTip(tip(curve.title, self.range_text, curve.reasons))
        self.update()

    @property
    def last(self) -> str:
        """The last value, shown."""
        return show(self._curve.points[-1][1], self._curve.unit) if self._curve.points else ""

    @property
    def range_text(self) -> str:
        """From which to which value in which time."""
        values = [value for _, value in self._curve.points]
        if not values:
            return ""
        low, high = (show(value, self._curve.unit) for value in (min(values), max(values)))
        span_s = self._curve.points[-1][0] - self._curve.points[0][0]
        told = {"low": low, "high": high, "duration": span_s}
        return self._words.say("checkup_page.curve_range", told)

    def sizeHint(self) -> QSize:
        """Return the height of three lines and the curve."""
        theme = self._look.theme
        text = 2 * line_px(theme.font("note")) + PLOT_PX * theme.zoom
        return QSize(60 * STEP, round(text + 8 * STEP))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame, the texts and the curve."""
        super().paintEvent(event)
        theme, curve = self._look.theme, self._curve
        room = QRectF(self.rect()).adjusted(3 * STEP, 3 * STEP, -3 * STEP, -3 * STEP)
        note, mono = theme.font("note"), theme.font("note", mono=True)
        line = line_px(note)
        head = QRectF(room.left(), room.top(), room.width(), line)
        foot = QRectF(room.left(), room.bottom() - line, room.width(), line)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        middle = Qt.AlignmentFlag.AlignVCenter
        with QPainter(self) as painter:
            painter.setPen(QColor(theme.ink))
            painter.setFont(note)
            painter.drawText(head, left | middle, curve.title)
            painter.setFont(mono)
            painter.drawText(head, right | middle, self.last)
            is_held = bool(curve.reasons)
            painter.setFont(note)
            painter.setPen(QColor(theme.attention if is_held else theme.soft))
            said = curve.reasons or self.range_text
            elide = Qt.TextElideMode.ElideRight
            shown = QFontMetricsF(note).elidedText(said, elide, foot.width())
            painter.drawText(foot, left | middle, shown)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_curve(painter, head.bottom() + STEP, foot.top() - STEP, room)

    def _draw_curve(self, painter: QPainter, top: float, bottom: float, room: QRectF) -> None:
        theme, points = self._look.theme, thinned(self._curve.points, MOST_POINTS)
        if len(points) < 2:
            return
        first_s, span_s = points[0][0], (points[-1][0] - points[0][0]) or 1.0
        low, high = (pick(value for _, value in points) for pick in (min, max))
        span = max(high - low, LEAST_SPAN * abs(high), 1e-9) * (1 + 2 * HEADROOM)
        floor = (low + high - span) / 2

        def at(t_s: float) -> float:
            return room.left() + room.width() * (t_s - first_s) / span_s

        line = [
            QPointF(at(t_s), bottom - (bottom - top) * (value - floor) / span)
            for t_s, value in points
        ]
        colour = QColor(theme.series_colour(0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mixed(QColor(theme.panel), colour, WASH))
        painter.drawPolygon([*line, QPointF(line[-1].x(), bottom), QPointF(line[0].x(), bottom)])
        painter.setPen(QPen(colour, LINE_WIDTH * theme.zoom))
        painter.drawPolyline(line)
        wide = max(1.0, room.width() / max(1, len(self._curve.points) - 1))
        for x in {round(at(t_s) - wide / 2) for t_s in self._curve.held}:
            mark = QRectF(x, bottom - HELD_PX, wide, HELD_PX)
            painter.fillRect(mark & QRectF(room), QColor(theme.attention))


def thinned(points: Points, most: int) -> Points:
    """Return about `most` points at most: the lowest and the highest of as many stretches."""
    size = 2 * len(points) // most
    if size < 3:
        return points
    found: list[tuple[float, float]] = []
    for start in range(0, len(points), size):
        stretch = points[start : start + size]
        found += sorted({end(stretch, key=itemgetter(1)) for end in (min, max)})
    return found
