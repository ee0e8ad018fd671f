"""A whole plot: the drawing of its view with axes, limit lines, labels and heading.

A scene paints on any painter, for the widget, a picture or a vector file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from experiments.core.declare import Experiment
from experiments.core.views import Bars, Code, Field, Heatmap, Lines, Ruler, Timeline, View
from experiments.core.words import Words
from experiments.engine import messages
from widgets.plots import axes, limits, ranges
from widgets.plots.drawing import (
    Area,
    Beside,
    Drawing,
    NeedsHeight,
    Plan,
    Range,
    ShowsFrames,
    Span,
)
from widgets.plots.kinds.bars import BarsDrawing
from widgets.plots.kinds.field import FieldDrawing
from widgets.plots.kinds.heatmap import HeatmapDrawing
from widgets.plots.kinds.lines import LinesDrawing
from widgets.plots.kinds.ruler import RulerDrawing
from widgets.plots.kinds.timeline import TimelineDrawing
from widgets.plots.labels import Label
from widgets.plots.sheet import Sheet, text_size
from widgets.plots.terms import Terms
from widgets.style.theme import STEP, Theme

EDGE_PX = 3.0  # marks may leave the area by this much, so that dots at its edge stay whole


@dataclass(frozen=True, slots=True)
class Painted:
    """The result of painting a scene: where everything is."""

    sheet: Sheet
    full: Span
    labels: tuple[Label, ...]
    is_empty: bool

    @property
    def area(self) -> Area:
        """The rectangle of the marks, and the visible ranges."""
        return self.sheet.area


class Scene:
    """One view with its rows and its visible part."""

    def __init__(self, experiment: Experiment[Any], view: View, words: Words) -> None:
        self.terms = Terms(experiment, view, words)
        self.drawing = _drawing(view, self.terms)
        self.caption = self.band = ""
        self.zoom_x: Range | None = None  # None: all of it
        self.zoom_y: Range | None = None
        self._values: Mapping[str, float] = {}
        self._count, self._first = 0, None
        self._beside: Beside | None = None
        self._has_frame = False
        self._widest: tuple[object, Span] | None = None  # of this run, and the size it is for

    @property
    def is_zoomed(self) -> bool:
        """Whether only a part is visible."""
        return self.zoom_x is not None or self.zoom_y is not None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw yet."""
        return self._count == 0 and not self._has_frame

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> bool:
        """Take the rows; return whether they are another run, for which the zoom is reset."""
        first = rows[0] if rows else None
        is_another = len(rows) < self._count or (self._count > 0 and first != self._first)
        if is_another:
            self.show_all()
        if is_another or _rows(beside) is not _rows(self._beside):
            self._widest = None
        self._beside = beside
        self._count, self._first, self._values = len(rows), first, values
        self.drawing.take(rows, values, beside)
        return is_another

    def forget_widest(self) -> None:
        """Let the axes shrink to what the current rows need."""
        self._widest = None

    def take_frame(self, frame: messages.Frame) -> None:
        """Show a frame, if the view shows frames."""
        if isinstance(self.drawing, ShowsFrames):
            self._has_frame = True
            self.drawing.take_frame(frame)

    def show_all(self) -> None:
        """Undo every zoom."""
        self.zoom_x = self.zoom_y = None

    def summary(self) -> str:
        """Return the whole plot in sentences for screen readers."""
        terms = self.terms
        if self.is_empty:
            return terms.say("plot.empty")
        said = [
            terms.say("plot.limit", {"limit": line.name, "value": line.value})
            for line in self._limits()
        ]
        return " ".join(part for part in (self.drawing.summary(), *said) if part)

    def about(self, painted: Painted, at: QPointF) -> str:
        """Return the explanation of the limit whose label is there, "" for none."""
        written = {label.text for label in painted.labels if label.rect.contains(at)}
        return next((line.about for line in self._limits() if line.text in written), "")

    def least_px(self, width: float, theme: Theme) -> float:
        """Return the least height for a width; 0.0 if any height will do."""
        if not isinstance(self.drawing, NeedsHeight) or self.is_empty:
            return 0.0
        plan = self.drawing.plan()
        layout = self._lay_out(plan, QRectF(0.0, 0.0, width, 0.0), theme, 0.0)
        area = Area(layout.area.rect, layout.full)
        return self.drawing.least_px(area, theme) + self._around_px(plan, theme)

    def most_px(self, theme: Theme) -> float:
        """Return the greatest height that the plot fills; may be infinite."""
        if self.is_empty:
            return math.inf
        plan = self.drawing.plan()
        return axes.most_px(plan.y, theme) + self._around_px(plan, theme)

    def paint(
        self,
        painter: QPainter,
        bounds: QRectF,
        theme: Theme,
        *,
        scale: float = 1.0,
        is_vector: bool = False,
        has_head: bool = False,
    ) -> Painted:
        """Draw everything inside `bounds`; with `has_head`, caption and banner on top."""
        plan = self.drawing.plan()
        frame = Sheet(painter, Area(bounds, _UNIT), theme, bounds, is_vector, scale)
        bounds = self._paint_head(frame, bounds) if has_head else bounds
        if self.is_empty:
            said = self.terms.say("plot.empty")
            frame.write(said, theme.font("text"), theme.soft, bounds, 0.5)
            return Painted(frame, _UNIT, (), is_empty=True)
        lines = self._limits()
        line = QFontMetricsF(theme.font("note")).height()
        title_px = self._title_px(plan, theme)
        has_strip = bool(title_px) or any(_is_vertical(self.terms))
        air = STEP + line / 2 if title_px else float(STEP)  # the topmost tick reaches into it
        layout = self._lay_out(plan, bounds, theme, (line + air) * has_strip)
        words = limits.strip_labels(lines, layout.area, layout.strip, theme, title_px)
        rows = limits.strip_rows(words, layout.strip, theme)
        if rows > 1:
            layout = self._lay_out(plan, bounds, theme, rows * line + air)
        if not layout.full.is_passing:
            self._widest = (self._size(bounds, theme), layout.full)
        rect = layout.area.rect
        reach = QRectF(rect.topLeft(), QPointF(bounds.right(), rect.bottom()))
        sheet = Sheet(painter, layout.area, theme, reach, is_vector, scale)
        axes.paint_grid(sheet, plan)
        painter.save()
        painter.setClipRect(rect.adjusted(-EDGE_PX, -EDGE_PX, EDGE_PX, EDGE_PX))
        self.drawing.paint(sheet)
        painter.restore()
        limits.paint(sheet, lines, words)
        axes.paint_words(sheet, plan, bounds)
        if title_px:
            top = QRectF(bounds.left(), bounds.top(), title_px, line)
            sheet.write(plan.y.title, theme.font("note"), theme.soft, top)
        sheet.put_labels()
        return Painted(sheet, layout.full, tuple(sheet.labels), is_empty=False)

    def _limits(self) -> list[limits.LimitLine]:
        names = self.drawing.plan().y.names or ()
        return limits.known(self.terms, self._values, self._beside, names)

    def _lay_out(self, plan: Plan, bounds: QRectF, theme: Theme, strip_px: float) -> axes.Layout:
        size = self._size(bounds, theme)
        widest = self._widest[1] if self._widest and self._widest[0] == size else None

        def span(room: QSizeF, theme: Theme) -> Span:
            found = self.drawing.span(room, theme)
            return ranges.united(found, widest) if widest else found

        def sight(full: Span) -> Span:
            return Span(ranges.seen(self.zoom_x, full.x), ranges.seen(self.zoom_y, full.y))

        return axes.lay_out(plan, span, sight, bounds, theme, strip_px)

    def _around_px(self, plan: Plan, theme: Theme) -> float:
        rows = sum(line.is_vertical for line in self._limits())
        return axes.around_px(plan, theme, max(1, min(rows, limits.MOST_ROWS)))

    def _size(self, bounds: QRectF, theme: Theme) -> object:
        return bounds.width(), bounds.height(), theme.zoom

    def _title_px(self, plan: Plan, theme: Theme) -> float:
        if plan.y.names is not None or not plan.y.is_shown or not plan.y.title:
            return 0.0
        return text_size(plan.y.title, theme.font("note")).width() + 2 * STEP

    def _paint_head(self, sheet: Sheet, bounds: QRectF) -> QRectF:
        """Write caption and banner, and return the rectangle below them."""
        theme = sheet.theme
        top = bounds.top()
        if self.caption:
            fonts = [theme.font("head", weight=QFont.Weight.DemiBold), theme.font("note")]
            for number, text in enumerate(self.caption.splitlines()):
                font = fonts[min(number, 1)]
                colour = theme.soft if number else theme.ink
                height = QFontMetricsF(font).height()
                rect = QRectF(bounds.left(), top, bounds.width(), height)
                sheet.write(axes.shortened(text, font, rect.width()), font, colour, rect)
                top += height
            top += 2 * STEP
        if self.band:
            font = theme.font("small", weight=QFont.Weight.DemiBold)
            height = QFontMetricsF(font).height() + STEP
            rect = QRectF(bounds.left(), top, bounds.width(), height)
            painter = sheet.painter
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QColor(theme.line))
            painter.setBrush(QColor(theme.ground))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0)
            painter.restore()
            inner = rect.adjusted(2 * STEP, 0, -2 * STEP, 0)
            sheet.write(axes.shortened(self.band, font, inner.width()), font, theme.soft, inner)
            top += height + 2 * STEP
        return bounds.adjusted(0, top - bounds.top(), 0, 0)


_UNIT = Span((0.0, 1.0), (0.0, 1.0))


def _rows(beside: Beside | None) -> Sequence[Any] | None:
    return beside.rows if beside is not None else None


def _is_vertical(terms: Terms) -> list[bool]:
    return [limit.axis == "x" or isinstance(terms.view, Ruler) for limit in terms.view.limits]


def _drawing(view: View, terms: Terms) -> Drawing:
    match view:
        case Bars():
            return BarsDrawing(view, terms)
        case Lines():
            return LinesDrawing(view, terms)
        case Timeline():
            return TimelineDrawing(view, terms)
        case Ruler():
            return RulerDrawing(view, terms)
        case Heatmap():
            return HeatmapDrawing(view, terms)
        case Field():
            return FieldDrawing(view, terms)
        case Code():
            raise TypeError("code is read, not drawn")
