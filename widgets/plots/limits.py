"""Limit lines: dashed, with labels; the labels of vertical lines stand in a strip on top."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from experiments.core.units import show
from experiments.core.views import Axis, Limit, Lines, Ruler, View
from widgets.plots.drawing import Area, Beside, Name
from widgets.plots.labels import LINE, Anchor, Label, Wish
from widgets.plots.overlays.axes_of import x_axis, y_axis
from widgets.plots.owners import Courses, Owner
from widgets.plots.sheet import Sheet, text_size
from widgets.plots.terms import Terms
from widgets.plots.ticks import has_place, to_axis
from widgets.style.theme import STEP, Theme

DASHES = (4.0, 4.0)
MOST_ROWS = 3
LABELS_AT = (0.0, 1.0, *(part / 20 for part in range(1, 20)))  # of a horizontal line


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A limit of known value: name, value, label (`text`) and place.

    `about` says what was timed or counted for it.
    """

    name: str
    value: str
    text: str
    place: float
    is_vertical: bool
    about: str
    until: float = math.inf  # where it ends on an axis of names, if above the bottom


def known(
    terms: Terms,
    values: Mapping[str, float],
    beside: Beside | None = None,
    names: Sequence[Name] = (),
) -> list[LimitLine]:
    """Return the limits for which the finding has values, in order of their places.

    With two runs, each has its own limit lines, named after it; equal ones become one. A limit for
    some bars ends below the last of them; `names` are the names of all bars.
    """
    runs = [(beside.name_a, values), (beside.name_b, beside.values)] if beside else [("", values)]
    found: list[LimitLine] = []
    for limit in terms.view.limits:
        lines = [_line(terms, limit, of_run, run) for run, of_run in runs]
        if len({line and line.value for line in lines}) == 1:
            lines = [_line(terms, limit, values)]
        rows = [row for row, name in enumerate(names) if name.label in limit.of]
        until = rows[-1] + 0.5 if rows else math.inf
        found += (replace(line, until=until) for line in lines if line)
    return sorted(found, key=lambda line: line.place)


def _line(
    terms: Terms, limit: Limit, values: Mapping[str, float], run: str = ""
) -> LimitLine | None:
    view, value = terms.view, values.get(limit.value)
    on_y = y_axis(view) if limit.axis == "y" else None
    axis = on_y or x_axis(view) or Axis(getattr(view, "value", ""))
    if value is None or not has_place(value, axis.scale):
        return None
    name = terms.joined(run, terms.limit(limit))
    shown = show(value, terms.unit(axis.column))
    text = terms.joined(name, shown) if isinstance(view, Lines) else name
    place = to_axis(value, axis.scale)
    return LimitLine(name, shown, text, place, is_vertical(view, limit), terms.about(limit))


def is_vertical(view: View, limit: Limit) -> bool:
    """Return whether the line of a limit is upright."""
    return limit.axis == "x" or isinstance(view, Ruler)


def strip_labels(
    lines: Sequence[LimitLine], area: Area, strip: QRectF, theme: Theme, title_px: float
) -> list[Label]:
    """Return the labels of vertical limits side by side, in further rows where they collide."""
    font = theme.font("note")
    height = QFontMetricsF(font).height()
    vertical = [line for line in lines if line.is_vertical and _is_seen(line, area)]
    stems = [QRectF(area.x_px(line.place) - 1.0, strip.top(), 2.0, 1e4) for line in vertical]
    taken = [QRectF(strip.left(), strip.top() - 1e4, title_px, 1e4 + height)]
    found: list[Label] = []
    for line, own in zip(vertical, stems, strict=True):
        size = text_size(line.text, font)
        px = area.x_px(line.place)
        best: tuple[int, QRectF] | None = None
        for row in range(MOST_ROWS):
            for left in (px + STEP, px - STEP - size.width()):
                rect = QRectF(QPointF(left, strip.top() + row * height), size)
                if rect.left() < strip.left() or rect.right() > strip.right():
                    continue
                if any(rect.intersects(other) for other in taken):
                    continue
                crossed = sum(rect.intersects(stem) for stem in stems if stem is not own)
                if best is None or crossed < best[0]:
                    best = (crossed, rect)
        if best is not None:
            found.append(Label(line.text, theme.soft, font, best[1]))
            taken.append(best[1])
    return found


def strip_rows(labels: Sequence[Label], strip: QRectF, theme: Theme) -> int:
    """Return how many rows the labels of vertical limits take."""
    height = QFontMetricsF(theme.font("note")).height()
    bottom = max((label.rect.bottom() for label in labels), default=strip.top() + height)
    return round((bottom - strip.top()) / height)


def paint(sheet: Sheet, lines: Sequence[LimitLine], labels: Sequence[Label]) -> None:
    """Draw all lines and the labels of vertical ones; request labels for horizontal ones."""
    area, theme = sheet.area, sheet.theme
    pen = QPen(QColor(theme.soft), theme.thin)
    pen.setDashPattern(list(DASHES))
    written = [label.rect for label in (*sheet.labels, *labels)]
    top = min((label.rect.top() for label in labels), default=area.rect.top())
    level = [line for line in lines if not line.is_vertical and _is_seen(line, area)]
    ends = np.array([area.rect.left(), area.rect.right()])
    courses = Courses([(ends, np.full(2, area.y_px(line.place))) for line in level])
    with sheet.brushed(pen, is_smooth=False) as painter:
        for line in reversed(lines):  # of two close lines, the upper one is labelled above
            if not _is_seen(line, area):
                continue
            if line.is_vertical:
                px, bottom = round(area.x_px(line.place)) + 0.5, area.rect.bottom()
                if line.until < math.inf:
                    bottom = min(bottom, area.y_px(line.until))
                for start, end in past_labels(px, top, bottom, written):
                    painter.drawLine(QPointF(px, start), QPointF(px, end))
                drawn = QRectF(QPointF(px - 1, area.rect.top()), QPointF(px + 1, bottom))
                sheet.occupied.take_rect(drawn, LINE)
                continue
            px = round(area.y_px(line.place)) + 0.5
            painter.drawLine(QPointF(area.rect.left(), px), QPointF(area.rect.right(), px))
            sheet.occupied.take_rect(QRectF(area.rect.left(), px - 1, area.rect.width(), 2), LINE)
            anchors, font = _beside(area, px), theme.font("note")
            starts = [anchor.at for anchor in anchors[: len(LABELS_AT) : 4]]
            owner = Owner(courses, level.index(line), starts)
            wish = Wish(line.text, anchors, theme.soft, font, stays_close=True, owner=owner)
            sheet.wishes.append(wish)
    for label in labels:
        sheet.write(label.text, label.font, label.colour, label.rect, 0.5)
        sheet.labels.append(label)


def past_labels(
    px: float, top: float, bottom: float, labels: Sequence[QRectF]
) -> Iterator[tuple[float, float]]:
    """Yield the pieces of a vertical line that cross no text."""
    crossed = [rect for rect in labels if rect.left() <= px <= rect.right()]
    for rect in sorted(crossed, key=QRectF.top):
        if rect.top() > top:
            yield top, rect.top()
        top = max(top, rect.bottom())
    if top < bottom:
        yield top, bottom


def _beside(area: Area, px: float) -> list[Anchor]:
    """Return label places above and below a horizontal line: at its ends, then along it."""
    return [
        Anchor(QPointF(area.rect.left() + share * area.rect.width(), px), share, above)
        for above in (1.15, -0.1)
        for share in LABELS_AT
    ]


def _is_seen(line: LimitLine, area: Area) -> bool:
    low, high = area.sight.x if line.is_vertical else area.sight.y
    return low <= line.place <= high
