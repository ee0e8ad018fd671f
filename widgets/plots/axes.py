"""Axes: ticks in real units, names and titles, and the layout they need around the marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from widgets.controls.wrapped import in_lines
from widgets.plots.drawing import Area, AxisPlan, Name, Plan, Range, Span
from widgets.plots.labels import Label
from widgets.plots.sheet import Sheet, text_size
from widgets.plots.ticks import from_axis, labels, ticks, to_axis
from widgets.style.theme import STEP, Theme

TICK_ROW_PX, POWER_ROW_PX = 44, 20  # least distance: down, of powers
NAMES_FRACTION = 0.45  # of the width at most, for names at the left
NAME_LINES = 2
FIRST_PX = 64.0  # at zoom 1; holds the ticks of most axes: "100 GB/s"
LEAST_PX = 40.0  # an area is never smaller than this


@dataclass(frozen=True, slots=True)
class Layout:
    """The area of the marks, the unzoomed ranges, and the strip for labels above the area."""

    plan: Plan
    theme: Theme
    bounds: QRectF
    area: Area
    full: Span
    strip: QRectF
    words: Sequence[Label] = ()  # of vertical limits, in the strip
    is_empty: bool = False  # nothing is known yet, not even axes

    def sheet(self, painter: QPainter, *, is_vector: bool = False, scale: float = 1.0) -> Painted:
        """Return what is painted on; labels may also stand right of the area."""
        rect = self.area.rect
        reach = QRectF(rect.topLeft(), QPointF(self.bounds.right(), rect.bottom()))
        return Painted(painter, self.area, self.theme, reach, is_vector, scale, layout=self)


@dataclass(slots=True, kw_only=True)
class Painted(Sheet):
    """A sheet that knows its layout: where everything is, once a chart is painted."""

    layout: Layout


def lay_out(
    plan: Plan,
    span: Callable[[QSizeF, Theme], Span],
    sight: Callable[[Span], Span],
    bounds: QRectF,
    theme: Theme,
    strip_px: float,
) -> Layout:
    """Return the layout; `sight` gives the visible part of the full span."""
    line = QFontMetricsF(theme.font("note")).height()
    top = bounds.top() + strip_px
    height = max(bounds.bottom() - _below_px(plan.x, line) - top, LEAST_PX)
    height = min(height, most_px(plan.y, theme))
    width = bounds.width() * 0.8
    left = right = 0.0
    full = seen = Span((0.0, 1.0), (0.0, 1.0))
    for _ in range(2):  # ticks depend on the room, and the room on the ticks
        full = span(QSizeF(width, height), theme)
        seen = sight(full)
        left = _left_px(plan.y, seen.y, bounds.width(), height, theme)
        left = max(left, _out_px(plan.x, seen.x, width, theme, at=0))
        right = max(_right_px(plan.x, seen.x, width, theme), plan.right_px * theme.zoom)
        width = max(bounds.width() - left - right, LEAST_PX)
    width = min(width, most_px(plan.x, theme))
    rect = QRectF(bounds.left() + left, top, width, height)
    if plan.is_square:
        rect = _square(rect, seen)
    area = Area(rect, seen, is_downward=plan.y.names is not None)
    strip = QRectF(bounds.left(), bounds.top(), bounds.width(), strip_px)
    return Layout(plan, theme, bounds, area, full, strip)


def most_px(plan: AxisPlan, theme: Theme) -> float:
    """Return the greatest height of an area: rows of names must not stand too far apart."""
    if plan.names is None:
        return math.inf
    rows = plan.rows or (plan.places[-1] + 1.0 if plan.places else len(plan.names))
    return max(rows * plan.row_px * theme.zoom, LEAST_PX)


def around_px(plan: Plan, theme: Theme, rows: int) -> float:
    """Return the height of all that stands above and below an area, with `rows` rows above."""
    line = QFontMetricsF(theme.font("note")).height()
    return rows * line + STEP + _below_px(plan.x, line)


def title_px(plan: Plan, theme: Theme) -> float:
    """Return the width of the title of the y axis, which stands above the area; 0.0 for none."""
    if plan.y.names is not None or not plan.y.is_shown or not plan.y.title:
        return 0.0
    return text_size(plan.y.title, theme.font("note")).width() + 2 * STEP


def paint_grid(sheet: Sheet, layout: Layout) -> None:
    """Draw the grid lines of both axes."""
    plan, area, pen = layout.plan, layout.area, QPen(QColor(layout.theme.line), 1.0)
    with sheet.brushed(pen, is_smooth=sheet.is_vector) as painter:
        if plan.x.has_grid:
            for place, _ in ticks_across(plan.x, area.sight.x, area.rect.width(), layout.theme):
                px = round(area.x_px(place)) + 0.5
                painter.drawLine(QPointF(px, area.rect.top()), QPointF(px, area.rect.bottom()))
        if plan.y.has_grid:
            for place, _ in _ticks_down(layout):
                px = round(area.y_px(place)) + 0.5
                painter.drawLine(QPointF(area.rect.left(), px), QPointF(area.rect.right(), px))


def paint_across(sheet: Sheet, layout: Layout) -> None:
    """Write ticks or names of the x axis, and its title."""
    plan, area, theme, bounds = layout.plan.x, layout.area, layout.theme, layout.bounds
    font, width = theme.font("note"), layout.area.rect.width()
    line = QFontMetricsF(font).height()
    top = area.rect.bottom() + _gap_px(line)
    if not plan.is_shown:
        return
    if plan.names is not None:
        _names_below(sheet, plan.names, plan.places, top)
        top += line
    else:
        for place, text in ticks_across(plan, area.sight.x, width, theme):
            wide = text_size(text, font).width()
            left = min(max(area.x_px(place) - wide / 2, bounds.left()), bounds.right() - wide)
            sheet.write(text, font, theme.soft, QRectF(left, top, wide, line), 0.5)
    if plan.title:
        rect = QRectF(area.rect.left(), top + line + STEP / 2, width, line)
        sheet.write(plan.title, font, theme.soft, rect, 0.5)


def paint_down(sheet: Sheet, layout: Layout) -> None:
    """Write ticks or names of the y axis, and its title above the area."""
    plan, area, theme, bounds = layout.plan.y, layout.area, layout.theme, layout.bounds
    font = theme.font("note")
    line = QFontMetricsF(font).height()
    if not plan.is_shown:
        return
    if plan.names is not None:
        _names_left(sheet, plan.names, plan.places, bounds)
        return
    width = area.rect.left() - 2 * STEP - bounds.left()
    for place, text in _ticks_down(layout):
        rect = QRectF(bounds.left(), area.y_px(place) - line / 2, width, line)
        sheet.write(text, font, theme.soft, rect, 1.0)
    top = QRectF(bounds.left(), bounds.top(), title_px(layout.plan, theme), line)
    sheet.write(plan.title, font, theme.soft, top)


def _ticks_down(layout: Layout) -> list[tuple[float, str]]:
    plan, area = layout.plan.y, layout.area
    return axis_ticks(plan, area.sight.y, _most_down(plan, area.rect.height(), layout.theme))


def shortened(text: str, font: QFont, width: float) -> str:
    """Return a text that fits, cut in the middle: names often differ in their last word."""
    return QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideMiddle, width)


def wrapped(text: str, font: QFont, width: float, most: int = NAME_LINES) -> list[str]:
    """Return a text wrapped into at most `most` lines; a line that is too long is shortened."""
    lines = in_lines(text.split(" "), QFontMetricsF(font), width, most)
    return [shortened(line, font, width) for line in lines]


@lru_cache(maxsize=64)  # called several times per picture, mostly with the same arguments
def axis_ticks(plan: AxisPlan, sight: Range, most: int) -> list[tuple[float, str]]:
    """Return the places and texts of at most `most` ticks."""
    low, high = (from_axis(place, plan.scale) for place in sight)
    values = ticks(low, high, plan.scale, most, plan.unit)
    if plan.is_whole:
        values = [value for value in values if value == round(value)]
    said = labels(values, plan.unit, plan.scale)
    return [(to_axis(value, plan.scale), text) for value, text in zip(values, said, strict=True)]


def ticks_across(
    plan: AxisPlan, sight: Range, width: float, theme: Theme
) -> list[tuple[float, str]]:
    """Return the ticks of an x axis, thinned out until their texts do not touch."""
    found = axis_ticks(plan, sight, max(2, int(width / (plan.tick_px * theme.zoom))))
    metrics, px = QFontMetricsF(theme.font("note")), width / (sight[1] - sight[0])
    room = [metrics.horizontalAdvance(text) / 2 + STEP for _, text in found]
    for every in range(1, len(found)):
        kept = list(zip(found, room, strict=True))[::every]
        if all((b - a) * px >= left + right for ((a, _), left), ((b, _), right) in pairwise(kept)):
            return found[::every]
    return found[:1]


def _most_down(plan: AxisPlan, height: float, theme: Theme) -> int:
    row_px = TICK_ROW_PX if plan.scale == "linear" else POWER_ROW_PX
    return max(2, int(height / (row_px * theme.zoom)))


def _gap_px(line: float) -> float:
    """Return the gap below the area; the lowest tick at its left reaches into it."""
    return math.ceil(line / 2)


def _below_px(plan: AxisPlan, line: float) -> float:
    if not plan.is_shown:
        return 0.0
    names = line if plan.names is not None else 0.0
    return _gap_px(line) + line + names + (line + STEP / 2 if plan.title else 0.0)


def _left_px(plan: AxisPlan, sight: Range, width: float, height: float, theme: Theme) -> float:
    if not plan.is_shown:
        return 0.0
    if plan.names is not None:
        has_room = height / max(len(plan.names), 1) >= _two_lines(theme)
        note, small = (QFontMetricsF(theme.font(size)) for size in ("note", "small"))
        texts = [
            max(note.horizontalAdvance(name.text), small.horizontalAdvance(name.detail)) + STEP
            for name in (_as_shown(name, has_room=has_room) for name in plan.names)
        ]
        return min(max(texts, default=0.0), NAMES_FRACTION * width) + 3 * STEP
    found = [text for _, text in axis_ticks(plan, sight, _most_down(plan, height, theme))]
    widest = max((text_size(text, theme.font("note")).width() for text in found), default=0.0)
    # In steps, so that live plots do not tremble; most plots then share their left edge.
    first = FIRST_PX * theme.zoom
    return first + max(0.0, -(-(widest - first) // (2 * STEP))) * 2 * STEP + 2 * STEP


def _right_px(plan: AxisPlan, sight: Range, width: float, theme: Theme) -> float:
    if plan.names is not None or not plan.is_shown:
        return float(STEP)
    return max(_out_px(plan, sight, width, theme, at=-1), 3.0 * STEP)


def _out_px(plan: AxisPlan, sight: Range, width: float, theme: Theme, *, at: int) -> float:
    """Return how far the first tick (0) or the last (-1) extends beyond the area, in steps."""
    if plan.names is not None or not plan.is_shown:
        return 0.0
    found = ticks_across(plan, sight, width, theme)
    if not found:
        return 0.0
    place, text = found[at]
    beyond = text_size(text, theme.font("note")).width() / 2
    beyond -= abs(sight[at] - place) / (sight[1] - sight[0]) * width
    return max(-(-beyond // STEP) * STEP, 0.0)


def _square(rect: QRectF, sight: Span) -> QRectF:
    """Return the largest centred rectangle in which a step is as wide as it is high."""
    columns, rows = sight.x[1] - sight.x[0], sight.y[1] - sight.y[0]
    step = min(rect.width() / columns, rect.height() / rows)
    size = QSizeF(columns * step, rows * step)
    left = rect.left() + (rect.width() - size.width()) / 2
    return QRectF(QPointF(left, rect.top()), size)


def _two_lines(theme: Theme) -> float:
    return sum(QFontMetricsF(theme.font(size)).height() for size in ("note", "small"))


def _as_shown(name: Name, *, has_room: bool) -> Name:
    """Return a name, with its detail on the same line if there is no room below."""
    return name if has_room or not name.detail else Name(f"{name.text}, {name.detail}")


def _names_left(
    sheet: Sheet, names: Sequence[Name], places: Sequence[float], bounds: QRectF
) -> None:
    area, theme = sheet.area, sheet.theme
    font, small = theme.font("note"), theme.font("small")
    line, small_line = QFontMetricsF(font).height(), QFontMetricsF(small).height()
    apart = min((after - before for before, after in pairwise(places)), default=1.0)
    room = area.rect.height() / (area.sight.y[1] - area.sight.y[0]) * apart  # for each name
    width = area.rect.left() - 3 * STEP - bounds.left()
    every = max(1, -(-int(line) // max(int(room), 1)))
    has_room = room * every >= _two_lines(theme)
    for place, whole in enumerate(names):
        middle = area.y_px(places[place] if places else float(place))
        if place % every or not area.rect.top() <= middle <= area.rect.bottom():
            continue
        name = _as_shown(whole, has_room=has_room)
        texts = wrapped(name.text, font, width, NAME_LINES if room >= 2 * line else 1)
        height = len(texts) * line
        has_detail = bool(name.detail) and height + small_line <= room * every
        top = middle - (height + (small_line if has_detail else 0.0)) / 2
        for text in texts:
            rect = QRectF(bounds.left(), top, width + STEP, line)
            sheet.write(text, font, theme.ink, rect, 1.0)
            top += line
        if has_detail:
            rect = QRectF(bounds.left(), top, width + STEP, small_line)
            sheet.write(shortened(name.detail, small, width), small, theme.soft, rect, 1.0)


def _names_below(sheet: Sheet, names: Sequence[Name], places: Sequence[float], top: float) -> None:
    area, theme = sheet.area, sheet.theme
    font, small = theme.font("note"), theme.font("small")
    line, small_line = QFontMetricsF(font).height(), QFontMetricsF(small).height()
    room = area.rect.width() / (area.sight.x[1] - area.sight.x[0])
    widest = max((text_size(name.text, font).width() for name in names), default=1.0)
    every = max(1, -(-int(min(widest, 3 * line)) // max(int(room), 1)))
    for place, name in enumerate(names):
        middle = area.x_px(places[place] if places else float(place))
        if place % every or not area.rect.left() <= middle <= area.rect.right():
            continue
        width = room * every - STEP
        rect = QRectF(middle - width / 2, top, width, line)
        sheet.write(shortened(name.text, font, width), font, theme.ink, rect, 0.5)
        if name.detail:
            rect = QRectF(middle - width / 2, top + line, width, small_line)
            sheet.write(shortened(name.detail, small, width), small, theme.soft, rect, 0.5)
