"""A whole plot: the drawing of its view with axes, limit lines, labels and heading.

A chart paints on any painter, for the widget, a picture or a vector file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF, QPainter

from experiments.core.declare import Experiment
from experiments.core.views import View
from experiments.core.words import Words
from experiments.engine import messages
from widgets.plots import axes, limits, ranges
from widgets.plots.axes import Painted
from widgets.plots.contents import Contents
from widgets.plots.drawing import (
    Area,
    Beside,
    Drawing,
    NeedsHeight,
    Plan,
    Range,
    ShowsFrames,
    Span,
    Track,
)
from widgets.plots.heading import paint_heading
from widgets.plots.kinds.of_view import drawing_of
from widgets.plots.overlays.guess import Guessed
from widgets.plots.ranges import NO_ROOM, Room
from widgets.plots.sheet import Sheet
from widgets.plots.terms import Terms
from widgets.style.theme import STEP, Theme

FAINT = 0.16  # opacity of marks that are only expected
EDGE_PX = 3.0  # marks may leave the area by this much, so that dots at its edge stay whole


class Chart:
    """One view with its rows and its visible part."""

    def __init__(
        self,
        experiment: Experiment[Any],
        view: View,
        words: Words,
        drawing: Callable[[View, Terms], Drawing] = drawing_of,
    ) -> None:
        self.terms = Terms(experiment, view, words)
        self.drawing = drawing(view, self.terms)
        self.contents = Contents(view)
        self.guess: Guessed | None = None
        self.room: Room = NO_ROOM  # that the axes leave for what is laid over the plot
        self.caption = ""  # above exported pictures; its first line is the heading
        self.band = ""  # in exported pictures, such as RECORDED; the window does not show it
        self.is_mute = False  # says nothing while there is nothing to draw
        self.zoom_x: Range | None = None  # None: all of it
        self.zoom_y: Range | None = None
        self._values: Mapping[str, float] = {}
        self._beside: Beside | None = None
        self._has_rows = self._has_frame = False
        self._widest: tuple[object, Span] | None = None  # of this run, and the size it is for

    @property
    def is_zoomed(self) -> bool:
        """Return whether only a part is visible."""
        return self.zoom_x is not None or self.zoom_y is not None

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to draw yet, not even axes."""
        return not self._has_rows and not self._has_frame and self._all_room() == NO_ROOM

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> bool:
        """Take the rows; return whether they are another run, for which the zoom is reset."""
        before = self.contents.alongside
        is_another = self.contents.take(rows, values, beside)
        if is_another:
            self.show_all()
        if is_another or _rows(self.contents.alongside) is not _rows(before):
            self._widest = None
        self.show_contents()
        return is_another

    def show_contents(self) -> None:
        """Draw what the contents show now."""
        rows, self._values, self._beside = self.contents.shown()
        has_ghost = self._beside is not None and self._beside.is_ghost
        self._has_rows = bool(len(rows)) or has_ghost
        self.drawing.take(rows, self._values, self._beside)

    def tracks(self) -> Sequence[Track]:
        """Return the tracks of the reading cursor; none of rows that are only expected."""
        return () if self.contents.is_expecting else self.drawing.tracks()

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
        is_waiting = self.contents.is_expecting or not (self._has_rows or self._has_frame)
        said = [terms.say("plot.empty") if is_waiting else self.drawing.summary()]
        said += [
            terms.say("plot.limit", {"limit": line.name, "value": line.value})
            for line in self._limits()
        ]
        if self.guess is not None:
            said.append(self.guess.said(terms))
        return " ".join(part for part in said if part)

    def about(self, painted: Painted, at: QPointF) -> str:
        """Return the explanation of the limit whose label is there, "" for none."""
        written = {label.text for label in painted.labels if label.rect.contains(at)}
        return next((line.about for line in self._limits() if line.text in written), "")

    def least_px(self, width: float, theme: Theme) -> float:
        """Return the least height for a width; 0.0 if any height will do."""
        if not isinstance(self.drawing, NeedsHeight) or self.is_empty:
            return 0.0
        plan = self._plan()
        layout = self._laid_out(plan, QRectF(0.0, 0.0, width, 0.0), theme, 0.0)
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
        """Draw everything inside `bounds`; with `has_head`, caption and banner on top.

        For files and documents, in any thread.
        """
        if has_head:
            sheet = Sheet(painter, Area(bounds, UNIT), theme, bounds, is_vector, scale)
            bounds = paint_heading(sheet, bounds, self.caption, self.band)
        layout = self.lay_out(bounds, theme)
        painted = layout.sheet(painter, is_vector=is_vector, scale=scale)
        axes.paint_across(painted, layout)
        axes.paint_down(painted, layout)
        self.paint_marks(painted)
        return painted

    def lay_out(self, bounds: QRectF, theme: Theme) -> axes.Layout:
        """Return where everything stands."""
        plan = self._plan()
        if self.is_empty:
            area, strip = Area(bounds, UNIT), QRectF(bounds.topLeft(), QSizeF())
            return axes.Layout(plan, theme, bounds, area, UNIT, strip, is_empty=True)
        line = QFontMetricsF(theme.font("note")).height()
        title_px = axes.title_px(plan, theme)
        view = self.terms.view
        has_strip = bool(title_px) or any(limits.is_vertical(view, each) for each in view.limits)
        air = STEP + line / 2 if title_px else float(STEP)  # the topmost tick reaches into it
        layout = self._laid_out(plan, bounds, theme, (line + air) * has_strip)
        words = limits.strip_labels(self._limits(), layout.area, layout.strip, theme, title_px)
        rows = limits.strip_rows(words, layout.strip, theme)
        if rows > 1:
            layout = self._laid_out(plan, bounds, theme, rows * line + air)
        if not layout.full.is_passing:
            self._widest = (self._size(bounds, theme), layout.full)
        return replace(layout, words=words)

    def paint_marks(self, sheet: Painted) -> None:
        """Draw all but the words of the axes: grid, marks, guess, limit lines and labels."""
        layout, theme = sheet.layout, sheet.theme
        if layout.is_empty:
            said = "" if self.is_mute else self.terms.say("plot.empty")
            sheet.write(said, theme.font("text"), theme.soft, layout.bounds, 0.5)
            return
        axes.paint_grid(sheet, layout)
        with sheet.brushed(is_smooth=False) as painter:
            painter.setClipRect(layout.area.rect.adjusted(-EDGE_PX, -EDGE_PX, EDGE_PX, EDGE_PX))
            self._paint_data(sheet)
        if self.guess is not None:
            self.guess.paint(sheet, self.terms, self.tracks())
        limits.paint(sheet, self._limits(), layout.words)
        sheet.put_labels()

    def _paint_data(self, sheet: Sheet) -> None:
        if self.guess is not None:
            self.guess.paint_gap(sheet, self.terms, self.tracks())
        if not self.contents.is_expecting:
            self.drawing.paint(sheet)
        elif self.contents.is_faint:
            sheet.painter.setOpacity(FAINT)
            self.drawing.paint(sheet)
            sheet.painter.setOpacity(1.0)
            sheet.wishes.clear()

    def _plan(self) -> Plan:
        """Return the axes; of one about which nothing is known, no ticks."""
        plan = self.drawing.plan()
        if self._has_rows or self._has_frame:
            return plan
        x, y = self._all_room()
        return replace(
            plan,
            x=plan.x if x else replace(plan.x, is_shown=False, has_grid=False),
            y=plan.y if y else replace(plan.y, is_shown=False, has_grid=False),
        )

    def _all_room(self) -> Room:
        wanted = [self.room, self.guess.room(self.terms.view) if self.guess else NO_ROOM]
        return ranges.both(*wanted)

    def _limits(self) -> list[limits.LimitLine]:
        names = self.drawing.plan().y.names or ()
        return limits.known(self.terms, self._values, self._beside, names)

    def _laid_out(self, plan: Plan, bounds: QRectF, theme: Theme, strip_px: float) -> axes.Layout:
        size = self._size(bounds, theme)
        widest = self._widest[1] if self._widest and self._widest[0] == size else None

        def span(room: QSizeF, theme: Theme) -> Span:
            found = self.drawing.span(room, theme)
            found = ranges.united(found, widest) if widest else found
            return ranges.with_room(found, self._all_room(), is_known=self._has_rows)

        def sight(full: Span) -> Span:
            return Span(ranges.seen(self.zoom_x, full.x), ranges.seen(self.zoom_y, full.y))

        return axes.lay_out(plan, span, sight, bounds, theme, strip_px)

    def _around_px(self, plan: Plan, theme: Theme) -> float:
        rows = sum(line.is_vertical for line in self._limits())
        return axes.around_px(plan, theme, max(1, min(rows, limits.MOST_ROWS)))

    def _size(self, bounds: QRectF, theme: Theme) -> object:
        return bounds.width(), bounds.height(), theme.zoom


UNIT = Span((0.0, 1.0), (0.0, 1.0))


def _rows(beside: Beside | None) -> Sequence[Any] | None:
    return beside.rows if beside is not None else None
