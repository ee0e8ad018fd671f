"""Light over a plot: pale bands that seem to lie behind the marks, and dashed frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from experiments.core.teaching.lesson_run import Spot
from experiments.core.views import Heatmap, Lines
from widgets.plots.axes import Painted
from widgets.plots.chart import Chart
from widgets.plots.overlays import places
from widgets.plots.overlays.places import Place
from widgets.plots.sheet import Sheet, polygon, text_size
from widgets.style.theme import STEP

CORNER_PX, FRAME_PX = 6.0, 1.3
HALO_PX = 16.0  # width of the light along a line, at zoom 1
COLUMN_PX = 3.0  # of that light
DASHES = (3.0, 2.5)


def show_spot(chart: Chart, painted: Painted, spot: Spot) -> None:
    """Light up the marks of a spot's names, or its stretch, which has a frame."""
    rects = places.rects_of(chart, painted, spot)
    are_cells = isinstance(chart.terms.view, Heatmap)
    if not are_cells:  # there a wash would only blur the numbers
        _shine(painted, rects, places.lines_of(chart, painted, spot))
    if are_cells or places.stretch(chart, spot) is not None:
        for rect in rects:
            _frame(painted, rect)


def show_place(chart: Chart, painted: Painted, place: Place) -> None:
    """Light up what a click would pick."""
    if not isinstance(chart.terms.view, Heatmap):
        _shine(painted, [place.rect])
    _frame(painted, place.rect)
    if isinstance(chart.terms.view, Lines):
        _name(painted, place.rect, chart.terms.say("plot.click"))


def _shine(
    sheet: Sheet, rects: Iterable[QRectF], lines: Sequence[tuple[np.ndarray, np.ndarray]] = ()
) -> None:
    """Light up rectangles and lines in pixels; marks and words keep their colours.

    The wash only darkens a light panel, and only lightens a dark one, so it seems to lie behind.
    """
    theme, modes = sheet.theme, QPainter.CompositionMode
    is_light = QColor(theme.panel).lightness() > QColor(theme.ink).lightness()
    away = HALO_PX / 2 * theme.zoom
    with sheet.brushed(ground=QColor(theme.accent_wash)) as painter:
        painter.setCompositionMode(
            modes.CompositionMode_Darken if is_light else modes.CompositionMode_Lighten
        )
        for rect in rects:
            painter.drawRoundedRect(rect, CORNER_PX, CORNER_PX)
        painter.setClipRect(sheet.area.rect.adjusted(-away, -away, away, away))
        for xs, ys in lines:
            painter.drawPolygon(_halo(xs, ys, away))


def _halo(xs: np.ndarray, ys: np.ndarray, away: float) -> QPolygonF:
    """Return the band around a line in pixels; a wide pen is a hundred times as slow."""
    even = np.arange(xs[0], xs[-1], COLUMN_PX)
    at = np.concatenate((xs, even))
    order = at.argsort(kind="stable")
    at, through = at[order], np.concatenate((ys, np.interp(even, xs, ys)))[order]
    columns = np.floor(at / COLUMN_PX)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1.0))
    top, bottom = np.minimum.reduceat(through, starts), np.maximum.reduceat(through, starts)
    for _ in range(math.ceil(away / 2 / COLUMN_PX)):  # as far aside as a steep line needs
        padded = np.pad(top, 1, mode="edge"), np.pad(bottom, 1, mode="edge")
        top = np.minimum(np.minimum(padded[0][:-2], padded[0][2:]), top)
        bottom = np.maximum(np.maximum(padded[1][:-2], padded[1][2:]), bottom)
    middles = at[starts]
    middles[0], middles[-1] = middles[0] - away, middles[-1] + away
    return polygon(
        np.concatenate((middles, middles[::-1])), np.concatenate((top - away, bottom[::-1] + away))
    )


def _frame(sheet: Sheet, rect: QRectF) -> None:
    """Draw a dashed frame around a rectangle in pixels."""
    theme = sheet.theme
    pen = QPen(QColor(theme.accent), FRAME_PX * theme.zoom)
    pen.setDashPattern(list(DASHES))
    for each in (QPen(QColor(theme.panel), 3 * FRAME_PX * theme.zoom), pen):  # on any colour
        with sheet.brushed(each) as painter:
            painter.drawRoundedRect(rect.adjusted(1.0, 1.0, -1.0, -1.0), CORNER_PX, CORNER_PX)


def _name(sheet: Sheet, rect: QRectF, text: str) -> None:
    """Write a word at the top of a high rectangle."""
    font = sheet.theme.bold()
    size = text_size(text, font)
    if rect.height() < 3 * size.height():
        return
    box = QRectF(QPointF(rect.center().x() - size.width() / 2, rect.top() + STEP), size)
    box.moveLeft(min(max(box.left(), sheet.bounds.left()), sheet.bounds.right() - size.width()))
    sheet.veil(box)
    sheet.write(text, font, sheet.theme.accent_word, box, 0.5)
