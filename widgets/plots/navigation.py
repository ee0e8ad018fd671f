"""Which part of a plot is in sight? Zoomed around a place, moved, and never lost."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from widgets.plots.drawing import Range
from widgets.plots.ranges import kept_near, zoomed
from widgets.plots.scene import Painted, Scene

SAME = 0.01  # nearer to everything than this share of it is everything


def zoom(
    scene: Scene, painted: Painted, factor: float, at: QPointF, *, is_upright: bool = False
) -> None:
    """Show `factor` as much as before of one axis, with the pixel `at` staying where it is."""
    plan, area, full = scene.drawing.plan(), painted.area, painted.full
    if plan.x.can_zoom and (plan.is_square or not is_upright):
        scene.zoom_x = _part(zoomed(area.sight.x, full.x, factor, area.x_at(at.x())), full.x)
    if plan.y.can_zoom and (plan.is_square or is_upright):
        scene.zoom_y = _part(zoomed(area.sight.y, full.y, factor, area.y_at(at.y())), full.y)


def pan(scene: Scene, painted: Painted, moved: QPointF) -> None:
    """Move what is in sight by so many pixels; where nothing is zoomed nothing moves."""
    area, full = painted.area, painted.full
    if scene.zoom_x is not None:
        shift = area.x_at(0.0) - area.x_at(moved.x())
        scene.zoom_x = kept_near((scene.zoom_x[0] + shift, scene.zoom_x[1] + shift), full.x)
    if scene.zoom_y is not None:
        shift = area.y_at(0.0) - area.y_at(moved.y())
        scene.zoom_y = kept_near((scene.zoom_y[0] + shift, scene.zoom_y[1] + shift), full.y)


def bring_into_sight(scene: Scene, x: float, y: float) -> bool:
    """Move what is in sight as little as shows a place; return whether that was needed."""
    before = scene.zoom_x, scene.zoom_y
    scene.zoom_x, scene.zoom_y = _holding(scene.zoom_x, x), _holding(scene.zoom_y, y)
    return before != (scene.zoom_x, scene.zoom_y)


def _part(sight: Range, full: Range) -> Range | None:
    """Return a range; None if it is the whole one."""
    slack = SAME * (full[1] - full[0])
    is_all = abs(sight[0] - full[0]) < slack and abs(sight[1] - full[1]) < slack
    return None if is_all else sight


def _holding(sight: Range | None, place: float) -> Range | None:
    if sight is None or sight[0] <= place <= sight[1]:
        return sight
    margin = (sight[1] - sight[0]) / 8
    shift = place - sight[0] - margin if place < sight[0] else place - sight[1] + margin
    return sight[0] + shift, sight[1] + shift
