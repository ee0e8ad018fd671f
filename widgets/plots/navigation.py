"""Zooming and panning: changes the visible part of a plot, and keeps data in sight."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from widgets.plots.drawing import Range
from widgets.plots.ranges import kept_near, zoomed
from widgets.plots.scene import Painted, Scene

POINT_PART = 16  # a zoomed point has this part of the whole axis at each of its sides
SAME = 0.01  # a part that differs from all by less than this fraction is all


def zoom(
    scene: Scene, painted: Painted, factor: float, at: QPointF, *, is_upright: bool = False
) -> None:
    """Show `factor` times as much of one axis; the place under the pixel `at` stays there."""
    plan, area, full = scene.drawing.plan(), painted.area, painted.full
    if plan.x.can_zoom and (plan.is_square or not is_upright):
        scene.zoom_x = _part(zoomed(area.sight.x, full.x, factor, area.x_at(at.x())), full.x)
    if plan.y.can_zoom and (plan.is_square or is_upright):
        scene.zoom_y = _part(zoomed(area.sight.y, full.y, factor, area.y_at(at.y())), full.y)


def pan(scene: Scene, painted: Painted, moved: QPointF) -> None:
    """Move the visible part by some pixels; an axis that is not zoomed stays."""
    area, full = painted.area, painted.full
    if scene.zoom_x is not None:
        shift = area.x_at(0.0) - area.x_at(moved.x())
        scene.zoom_x = kept_near((scene.zoom_x[0] + shift, scene.zoom_x[1] + shift), full.x)
    if scene.zoom_y is not None:
        shift = area.y_at(0.0) - area.y_at(moved.y())
        scene.zoom_y = kept_near((scene.zoom_y[0] + shift, scene.zoom_y[1] + shift), full.y)


def zoom_to(scene: Scene, painted: Painted, part: Range) -> None:
    """Show a part of the x axis, cut to all of it, in the middle half; a point in an eighth."""
    full = painted.full.x
    low, high = max(part[0], full[0]), min(part[1], full[1])
    if not scene.drawing.plan().x.can_zoom or low > high:
        return
    middle, half = (low + high) / 2, max(high - low, (full[1] - full[0]) / POINT_PART)
    sight = max(middle - half, full[0]), min(middle + half, full[1])
    scene.zoom_x = _part(sight, full)


def bring_into_sight(scene: Scene, x: float, y: float) -> bool:
    """Move the visible part just enough to show a place; return whether it moved."""
    before = scene.zoom_x, scene.zoom_y
    scene.zoom_x, scene.zoom_y = _holding(scene.zoom_x, x), _holding(scene.zoom_y, y)
    return before != (scene.zoom_x, scene.zoom_y)


def _part(sight: Range, full: Range) -> Range | None:
    """Return a range; None if it is practically the whole axis."""
    slack = SAME * (full[1] - full[0])
    is_all = abs(sight[0] - full[0]) < slack and abs(sight[1] - full[1]) < slack
    return None if is_all else sight


def _holding(sight: Range | None, place: float) -> Range | None:
    if sight is None or sight[0] <= place <= sight[1]:
        return sight
    margin = (sight[1] - sight[0]) / 8
    shift = place - sight[0] - margin if place < sight[0] else place - sight[1] + margin
    return sight[0] + shift, sight[1] + shift
