"""The parts of a plot from pyqtgraph: the view box, which zooms and pans, its axes, and layers."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsItem

from widgets.plots import axes
from widgets.plots.axes import Layout
from widgets.plots.drawing import Range, Span
from widgets.plots.ranges import CLOSEST_IN

# Its cleaning at exit destroys what Qt still needs; its limit of mouse moves drops the last one.
pg.setConfigOptions(exitCleanup=False, mouseRateLimit=0)

ZOOM_STEP = 1.4  # per key press, or notch of the wheel
NOTCH = 120.0
POINT_PART = 16  # a zoomed point has this part of the whole axis at each of its sides
SAME = 0.01  # a part that differs from all by less than this fraction is all
MARKS, BESIDE, FRONT = 0.0, 1.0, 2.0  # heights: of marks, of axes and view box, of the cursor


def guarded(paint: Callable[..., None]) -> Callable[..., None]:
    """Report what an item raises while it paints, and raise nothing through Qt.

    PySide6 6.11 may end by a segmentation fault when an exception leaves an item. This happens if
    one Python override was called through another, such as by `grab`.
    """

    @functools.wraps(paint)
    def safe(*args: Any) -> None:
        try:
            paint(*args)
        except Exception:  # noqa: BLE001  (reported as every exception in the window is)
            sys.excepthook(*sys.exc_info())

    return safe


class Box(pg.ViewBox):
    """The area of the marks: the wheel zooms one axis, dragging pans; nothing leads beyond all."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.full = Span((0.0, 1.0), (0.0, 1.0))
        self.is_held = self.is_square = False
        self.state["wheelScaleFactor"] = -math.log(ZOOM_STEP, 1.02) / NOTCH
        self.disableAutoRange()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsFocusable, False)  # the plot has the keys
        self.setZValue(BESIDE)

    def whole(self, axis: int) -> Range:
        """Return all there is of an axis, 0 for x."""
        return self.full.y if axis else self.full.x

    def part(self, axis: int) -> Range | None:
        """Return what is visible of an axis; None for all of it."""
        (low, high), (first, last) = self.viewRange()[axis], self.whole(axis)
        slack = SAME * (last - first)
        return None if abs(low - first) < slack and abs(high - last) < slack else (low, high)

    @property
    def is_zoomed(self) -> bool:
        """Return whether only a part is visible."""
        return self.part(0) is not None or self.part(1) is not None

    def hold(self, layout: Layout) -> None:
        """Take place and ranges of a layout, without announcing a move."""
        area, full, plan = layout.area, layout.full, layout.plan
        self.is_held = True
        self.full, self.is_square = full, plan.is_square
        self.setGeometry(area.rect)
        self.setMouseEnabled(plan.x.can_zoom, plan.y.can_zoom)
        self.invertY(area.is_downward)
        (left, right), (low, high) = full.x, full.y
        self.setLimits(
            xMin=left, xMax=right, minXRange=CLOSEST_IN * (right - left),
            yMin=low, yMax=high, minYRange=CLOSEST_IN * (high - low),
        )  # fmt: skip
        self.setRange(xRange=area.sight.x, yRange=area.sight.y, padding=0.0)
        self.updateMatrix()  # which would wait for a paint of pyqtgraph's own view
        self.is_held = False

    def show_all(self) -> None:
        """Undo every zoom."""
        self.setRange(xRange=self.full.x, yRange=self.full.y, padding=0.0)

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Show `factor` times as much of the x axis around a place, or around the middle."""
        if self.mouseEnabled()[0]:
            middle = self.viewRect().center()
            center = QPointF(middle.x() if x is None else x, middle.y())
            self.scaleBy(x=factor, y=factor if self.is_square else None, center=center)

    def show_part(self, part: Range) -> None:
        """Show a part of the x axis, cut to all of it, in the middle half; a point in an eighth."""
        first, last = self.full.x
        low, high = max(part[0], first), min(part[1], last)
        if self.mouseEnabled()[0] and low <= high:
            middle, half = (low + high) / 2, max(high - low, (last - first) / POINT_PART)
            self.setXRange(max(middle - half, first), min(middle + half, last), padding=0.0)

    def bring_into_sight(self, x: float, y: float) -> None:
        """Move the visible part just enough to show a place."""
        for axis, place in ((0, x), (1, y)):
            part = self.part(axis)
            if part is not None and not part[0] <= place <= part[1]:
                margin = (part[1] - part[0]) / 8
                shift = place - part[0] - margin if place < part[0] else place - part[1] + margin
                self.translateBy(**{"y" if axis else "x": shift})

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom at the mouse, with Shift the y axis; leave to the page what would show no more."""
        held = event.modifiers()
        if held & Qt.KeyboardModifier.ControlModifier or (event.delta() < 0 and not self.is_zoomed):
            event.ignore()
            return
        if axis is None:
            axis = int(bool(held & Qt.KeyboardModifier.ShiftModifier))
        super().wheelEvent(event, None if self.is_square else axis)

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Pan by the left button."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        super().mouseDragEvent(event, axis)
        view = self.getViewWidget()
        if event.isFinish():
            view.unsetCursor()
        else:
            view.setCursor(Qt.CursorShape.ClosedHandCursor)

    def linkedViewChanged(self, view: Box | None, axis: int) -> None:
        """Show the same as a linked plot; pyqtgraph would align the pixels, which zooms too."""
        if not (view is None or view.is_held or self.linksBlocked):
            part = view.part(axis) or self.whole(axis)
            self.setRange(**{"yRange" if axis else "xRange": part}, padding=0.0)

    @guarded
    def paint(self, *_: Any) -> None:
        """Paint nothing: the plot has the ground, and there is no border."""


class UnitAxis(pg.AxisItem):
    """Ticks in real units, or names at their places; the grid lies below the marks."""

    def __init__(self, orientation: str, box: Box) -> None:
        super().__init__(orientation, linkView=box)
        self.enableAutoSIPrefix(False)
        self.setZValue(BESIDE)
        self._layout: Layout | None = None

    def hold(self, layout: Layout) -> None:
        """Take the place beside the area of a layout."""
        self._layout = layout
        area, bounds = layout.area.rect, layout.bounds
        if self.orientation == "left":
            self.setWidth(max(area.left() - bounds.left(), 0.0))
            self.setGeometry(QRectF(QPointF(bounds.left(), area.top()), area.bottomLeft()))
        else:
            self.setHeight(max(bounds.bottom() - area.bottom(), 0.0))
            self.setGeometry(QRectF(area.bottomLeft(), QPointF(area.right(), bounds.bottom())))

    def boundingRect(self) -> QRectF:
        """Return the whole plot: texts reach beyond the axis."""
        return self.mapRectFromScene(self.scene().sceneRect()) if self.scene() else QRectF()

    def wheelEvent(self, event: Any) -> None:
        """Zoom this axis alone, if its view box does."""
        self.linkedView().wheelEvent(event, int(self.orientation == "left"))

    @guarded
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Paint as a file would: the texts stand where the layout has room for them."""
        if self._layout is not None:
            painter.translate(-self.pos())
            paint = axes.paint_down if self.orientation == "left" else axes.paint_across
            paint(self._layout.sheet(painter), self._layout)


class Layer(pg.GraphicsObject):
    """Something painted over the whole plot, in its pixels."""

    def __init__(self, paint: Callable[[QPainter], None], height: float) -> None:
        super().__init__()
        self._paint = paint
        self.setZValue(height)

    def boundingRect(self) -> QRectF:
        """Return the whole plot."""
        return self.scene().sceneRect() if self.scene() else QRectF()

    @guarded
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Paint it."""
        self._paint(painter)
