"""The reading cursor: one point of one track, moved by keys or the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPen

from widgets.plots.axes import shortened
from widgets.plots.drawing import Area, Drawing, HasInsides, Track
from widgets.plots.sheet import Sheet, text_size
from widgets.style.theme import STEP

NEAR_PX = 48.0  # the mouse reads a point within this distance


@dataclass(frozen=True, slots=True)
class Cursor:
    """The numbers of a track and of one of its points."""

    track: int
    point: int


def stepped(
    cursor: Cursor | None, tracks: Sequence[Track], *, along: int = 0, across: int = 0
) -> Cursor | None:
    """Return the cursor moved along its track, or to another track; None without points."""
    filled = [number for number, track in enumerate(tracks) if len(track.xs)]
    if not filled:
        return None
    if cursor is None or cursor.track not in filled:
        return Cursor(filled[0], 0)
    if not across:
        last = len(tracks[cursor.track].xs) - 1
        return Cursor(cursor.track, min(max(cursor.point + along, 0), last))
    at = min(max(filled.index(cursor.track) + across, 0), len(filled) - 1)
    old, new = tracks[cursor.track], tracks[filled[at]]
    if new.is_aligned:
        return Cursor(filled[at], min(cursor.point, len(new.xs) - 1))
    return Cursor(filled[at], int(np.argmin(np.abs(new.xs - old.xs[cursor.point]))))


def kept(cursor: Cursor | None, tracks: Sequence[Track]) -> Cursor | None:
    """Return the cursor if its point still exists."""
    if cursor is None or cursor.track >= len(tracks):
        return None
    return cursor if cursor.point < len(tracks[cursor.track].xs) else None


def under(drawing: Drawing, tracks: Sequence[Track], area: Area, at: QPointF) -> Cursor | None:
    """Return the mark that contains a pixel, else the nearest point."""
    if isinstance(drawing, HasInsides) and area.rect.contains(at):
        inside = drawing.point_at(area.x_at(at.x()), area.y_at(at.y()))
        if inside is not None:
            return Cursor(*inside)
    return nearest(tracks, area, at)


def nearest(tracks: Sequence[Track], area: Area, at: QPointF) -> Cursor | None:
    """Return the visible point nearest to a pixel; None if all are far away."""
    best, least = None, NEAR_PX
    within = area.rect.adjusted(-1, -1, 1, 1)
    if not within.adjusted(-NEAR_PX, -NEAR_PX, NEAR_PX, NEAR_PX).contains(at):
        return None
    for number, track in enumerate(tracks):
        xs, ys = area.x_px(track.xs), area.y_px(track.ys)
        away = np.hypot(xs - at.x(), ys - at.y())
        away[(xs < within.left()) | (xs > within.right())] = np.inf
        away[(ys < within.top()) | (ys > within.bottom())] = np.inf
        if len(away) and away.min() < least:
            least = float(away.min())
            best = Cursor(number, int(away.argmin()))
    return best


def paint(sheet: Sheet, track: Track, point: int, text: str) -> None:
    """Draw a line through the point, a ring around it and its text."""
    area, theme = sheet.area, sheet.theme
    colour = sheet.colour(track.colour)
    at = area.point(float(track.xs[point]), float(track.ys[point]))
    at.setX(min(max(at.x(), area.rect.left()), area.rect.right()))  # of a mark partly visible
    at.setY(min(max(at.y(), area.rect.top()), area.rect.bottom()))
    px = round(at.x()) + 0.5
    with sheet.brushed(QPen(QColor(theme.soft), 1.0), is_smooth=False) as painter:
        painter.drawLine(QPointF(px, area.rect.top()), QPointF(px, area.rect.bottom()))
    sheet.ring(at, colour)
    font = theme.font("note")
    text = shortened(text, font, sheet.bounds.width() - 4 * STEP)
    size = text_size(text, font)
    rect = QRectF(0, 0, size.width() + 3 * STEP, size.height() + 2 * STEP)
    away = 3 * STEP
    rect.moveBottomLeft(QPointF(at.x() + away, at.y() - away))
    if rect.right() > sheet.bounds.right():
        rect.moveRight(at.x() - away)
    if rect.left() < sheet.bounds.left():  # fits on neither side of the point
        rect.moveLeft(sheet.bounds.left())
        if rect.right() > sheet.bounds.right():
            rect.moveRight(sheet.bounds.right())
    if rect.top() < sheet.bounds.top():
        rect.moveTop(at.y() + away)
    paint_box(sheet, rect, text)


def paint_box(sheet: Sheet, rect: QRectF, text: str) -> None:
    """Write a line on a ground of its own."""
    theme = sheet.theme
    with sheet.brushed(QPen(QColor(theme.line), 1.0), QColor(theme.ground)) as painter:
        painter.drawRoundedRect(rect, 6.0, 6.0)
    sheet.write(text, theme.font("note"), theme.ink, rect, 0.5)
