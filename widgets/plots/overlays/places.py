"""Finds the mark or place at a spot in a plot, and the spot of a place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from experiments.core.teaching.lesson_run import Spot
from experiments.core.views import Bars, Heatmap, Lines, Ruler, Timeline
from widgets.plots import reading
from widgets.plots.axes import Painted
from widgets.plots.chart import Chart
from widgets.plots.drawing import GHOST, Area, Range, Track, square
from widgets.plots.overlays.axes_of import x_axis
from widgets.plots.reading import Cursor
from widgets.plots.ticks import from_axis, has_place, to_axis
from widgets.style.theme import STEP

SNAP_PX = 10.0  # a click this near to a mark means the mark, at zoom 1
BAR_ROW, LANE_ROW = 0.46, 0.5  # half the height of what lights up, in rows
LEAST_PX = 6.0  # half the width of a stretch that is a single value


@dataclass(frozen=True, slots=True)
class Place:
    """A mark or a place between marks.

    `label` stands so in the rows, "" if none; `x` has the unit of its column, NaN if it has none.
    `rect` is what lights up, in pixels. `second` is the column of a cell, or the detail of a bar.
    """

    label: str
    x: float
    rect: QRectF
    second: str = ""


def place_at(chart: Chart, painted: Painted, at: QPointF) -> Place | None:
    """Return the mark or the place at a pixel; names beside bars and lanes belong to them."""
    area = painted.area
    tracks = _own(chart.tracks())
    reach = area.rect.adjusted(-2 * STEP, -STEP, 2 * STEP, STEP)
    view = chart.terms.view
    if isinstance(view, Bars | Timeline):
        reach.setLeft(0.0)
    if not tracks or painted.layout.is_empty or not reach.contains(at):
        return None
    match view:
        case Lines():
            return _beside_lines(chart, painted, tracks, at)
        case Bars() | Timeline():
            return _in_row(chart, painted, tracks, at)
        case Ruler():
            return _on_ruler(chart, painted, tracks, at)
        case _:
            found = reading.under(chart.drawing, chart.tracks(), area, at)
            return place_of(chart, painted, found) if found else None


def place_of(chart: Chart, painted: Painted, cursor: Cursor) -> Place | None:
    """Return the mark on which the reading cursor stands; None if its point is gone."""
    tracks = chart.tracks()
    if reading.kept(cursor, tracks) is None:
        return None
    track, view, area = tracks[cursor.track], chart.terms.view, painted.area
    label, place = track.label_of(cursor.point), float(track.xs[cursor.point])
    match view:
        case Bars():
            rect = _row(chart, painted, float(track.ys[0]))
            return Place(label, float(track.xs[0]), rect, track.detail)
        case Timeline():
            return Place(label, place, _row(chart, painted, float(track.ys[0])))
        case Heatmap():
            row = float(track.ys[cursor.point])
            rect = QRectF(area.point(place - 0.5, row - 0.5), area.point(place + 0.5, row + 0.5))
            column = _columns(chart)[cursor.point]
            return Place(label, _number_of(column), rect.normalized(), column)
        case Lines() | Ruler():
            axis = x_axis(view)
            x = from_axis(place, axis.scale) if axis else math.nan
            if isinstance(view, Ruler):
                return Place(label, x, _pin(painted, label, place))
            at = area.point(place, float(track.ys[cursor.point]))
            return Place(label, x, square(at, SNAP_PX * painted.theme.zoom))
        case _:
            return None


def stretch(chart: Chart, spot: Spot) -> Range | None:
    """Return the places on the x axis between which a spot lies; None without a stretch."""
    if spot.low is None and spot.high is None:
        return None
    low = -math.inf if spot.low is None else spot.low
    high = math.inf if spot.high is None else spot.high
    view = chart.terms.view
    if isinstance(view, Heatmap):
        named = enumerate(_columns(chart))
        columns = [at for at, name in named if low <= _number_of(name) <= high]
        places = chart.drawing.plan().x.places
        return (places[columns[0]] - 0.5, places[columns[-1]] + 0.5) if columns else None
    axis = x_axis(view)
    if axis is None:
        return None
    ends = [
        to_axis(value, axis.scale) if has_place(value, axis.scale) else math.copysign(math.inf, way)
        for value, way in ((low, -1.0), (high, 1.0))
    ]
    return ends[0], ends[1]


def extent(chart: Chart, spot: Spot) -> Range | None:
    """Return the places on the x axis that a spot takes: its stretch, or that of its marks."""
    found = stretch(chart, spot)
    if found is not None or isinstance(chart.terms.view, Bars | Heatmap):
        return found
    xs = [
        track.xs[[label in spot.names for label in track.labels]] if track.labels else track.xs
        for track in _own(chart.tracks())
        if track.label in spot.names or set(track.labels) & set(spot.names)
    ]
    every = np.concatenate(xs) if xs else np.empty(0)
    return (float(every.min()), float(every.max())) if every.size else None


def rects_of(chart: Chart, painted: Painted, spot: Spot) -> list[QRectF]:
    """Return what lights up for a spot, in pixels; lines light up by `lines_of`."""
    if spot.pairs and isinstance(chart.terms.view, Heatmap):
        return _blocks(chart, painted, spot)
    rows, column = _rows_of(chart, painted, spot), _column(chart, painted, spot)
    if column is None:
        return rows
    return [row.intersected(column) for row in rows] or [column]


def lines_of(chart: Chart, painted: Painted, spot: Spot) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the lines of a spot's names, in pixels."""
    if not isinstance(chart.terms.view, Lines):
        return []
    area = painted.area
    return [
        (area.x_px(track.xs), area.y_px(track.ys))
        for track in _own(chart.tracks())
        if track.label in spot.names
    ]


def _own(tracks: Sequence[Track]) -> list[Track]:
    return [track for track in tracks if track.colour != GHOST and len(track.xs)]


def _beside_lines(chart: Chart, painted: Painted, tracks: list[Track], at: QPointF) -> Place | None:
    """Return the point of a line, or the stretch between two neighbouring places and its line."""
    area, snap = painted.area, SNAP_PX * painted.theme.zoom
    axis = x_axis(chart.terms.view)
    if axis is None:
        return None
    near = reading.nearest(tracks, area, at)
    if near is not None:
        track = tracks[near.track]
        mark = area.point(float(track.xs[near.point]), float(track.ys[near.point]))
        if math.hypot(mark.x() - at.x(), mark.y() - at.y()) <= snap:
            x = from_axis(float(track.xs[near.point]), axis.scale)
            return Place(track.label, x, square(mark, snap))
    x = min(max(area.x_at(at.x()), area.sight.x[0]), area.sight.x[1])
    before, after = area.sight.x
    for track in tracks:
        behind = int(np.searchsorted(track.xs, x, side="right"))
        if behind > 0:
            before = max(before, float(track.xs[behind - 1]))
        if behind < len(track.xs):
            after = min(after, float(track.xs[behind]))
    y = area.y_at(at.y())
    over = [track for track in tracks if track.xs[0] <= x <= track.xs[-1]] or tracks
    label = min(over, key=lambda track: abs(float(np.interp(x, track.xs, track.ys)) - y)).label
    rect = _between(area, before, after)
    return Place(label, from_axis(x, axis.scale), rect)


def _in_row(chart: Chart, painted: Painted, tracks: list[Track], at: QPointF) -> Place | None:
    """Return the bar of a row, or the time on a lane."""
    area, y = painted.area, painted.area.y_at(at.y())
    track = min(tracks, key=lambda track: abs(float(track.ys[0]) - y))
    if abs(float(track.ys[0]) - y) > LANE_ROW:
        return None
    x = float(track.xs[0])
    if isinstance(chart.terms.view, Timeline):
        is_time = area.rect.left() <= at.x() <= area.rect.right()
        x = area.x_at(at.x()) if is_time else math.nan
    return Place(track.label, x, _row(chart, painted, float(track.ys[0])), track.detail)


def _on_ruler(chart: Chart, painted: Painted, tracks: list[Track], at: QPointF) -> Place | None:
    """Return the pin whose flag is there, else the nearest pin."""
    named = next((each.of for each in painted.labels if each.of and each.rect.contains(at)), "")
    pins = [
        (track.label_of(point), float(place))
        for track in tracks
        for point, place in enumerate(track.xs)
    ]
    label, place = min(
        pins, key=lambda pin: (pin[0] != named, abs(painted.area.x_px(pin[1]) - at.x()))
    )
    if label != named and abs(painted.area.x_px(place) - at.x()) > reading.NEAR_PX:
        return None
    return Place(label, from_axis(place, "log10"), _pin(painted, label, place))


def _row(chart: Chart, painted: Painted, place: float) -> QRectF:
    """Return the rectangle of a bar or a lane, with its name at the left."""
    area = painted.area
    half = LANE_ROW if isinstance(chart.terms.view, Timeline) else BAR_ROW
    if isinstance(chart.terms.view, Bars):
        place = float(round(place))  # two runs' bars share a row
    rect = QRectF(
        QPointF(STEP, area.y_px(place - half)), QPointF(area.rect.right(), area.y_px(place + half))
    )
    return rect.intersected(area.rect.adjusted(-area.rect.left(), 0.0, 0.0, 0.0))


def _rows_of(chart: Chart, painted: Painted, spot: Spot) -> list[QRectF]:
    tracks, view, names = _own(chart.tracks()), chart.terms.view, spot.names
    if isinstance(view, Ruler):
        pins = chain.from_iterable(zip(track.labels, track.xs, strict=True) for track in tracks)
        return [_pin(painted, label, float(place)) for label, place in pins if label in names]
    if not isinstance(view, Bars | Timeline | Heatmap):
        return []
    lit = (t for t in tracks if t.label in names or (t.label, t.detail) in spot.pairs)
    places = [float(track.ys[0]) for track in lit]
    rects = sorted((_row(chart, painted, place) for place in places), key=QRectF.top)
    found: list[QRectF] = []
    for rect in rects:
        if rect.isEmpty():
            continue
        if found and rect.top() - found[-1].bottom() < 2.0:  # lanes of one group
            found[-1] = found[-1].united(rect)
        else:
            found.append(rect)
    return found


def _column(chart: Chart, painted: Painted, spot: Spot) -> QRectF | None:
    found, area = stretch(chart, spot), painted.area
    if found is None:
        return None
    rect = _between(area, max(found[0], area.sight.x[0]), min(found[1], area.sight.x[1]))
    if rect.width() < 2 * LEAST_PX and found[0] <= area.sight.x[1] and found[1] >= area.sight.x[0]:
        rect = QRectF(rect.center().x() - LEAST_PX, rect.top(), 2 * LEAST_PX, rect.height())
    return rect


def _between(area: Area, low: float, high: float) -> QRectF:
    left, right = area.x_px(low), area.x_px(high)
    return QRectF(left, area.rect.top(), max(right - left, 0.0), area.rect.height())


def _pin(painted: Painted, label: str, place: float) -> QRectF:
    """Return the rectangle of a pin's flag; of its head where it has no flag."""
    flags = (each.rect for each in painted.labels if each.of == label)
    head = QPointF(painted.area.x_px(place), painted.area.y_px(0.0))
    return next(flags, square(head, SNAP_PX * painted.theme.zoom))


def _blocks(chart: Chart, painted: Painted, spot: Spot) -> list[QRectF]:
    """Return the rectangles around the cells of a spot; neighbours of equal rows are one block."""
    columns, places = _columns(chart), chart.drawing.plan().x.places
    blocks: dict[Range, list[Range]] = {}  # of each stretch across, those down
    for track in _own(chart.tracks()):
        y = float(track.ys[0])
        lit = [(track.label, column) in spot.pairs for column in columns]
        for is_lit, group in groupby(range(len(lit)), key=lit.__getitem__):
            if not is_lit:
                continue
            across = [places[at] for at in group]
            down = blocks.setdefault((across[0] - 0.5, across[-1] + 0.5), [])
            if down and down[-1][1] == y - 0.5:
                down[-1] = down[-1][0], y + 0.5
            else:
                down.append((y - 0.5, y + 0.5))
    point = painted.area.point
    return [
        QRectF(point(left, top), point(right, bottom))
        for (left, right), down in blocks.items()
        for top, bottom in down
    ]


def _columns(chart: Chart) -> list[str]:
    """Return the names of the columns of cells, as they stand in the rows."""
    return [name.label for name in chart.drawing.plan().x.names or ()]


def _number_of(column: str) -> float:
    """Return the number that names a column; NaN where it is a word."""
    try:
        return float(column)
    except ValueError:
        return math.nan
