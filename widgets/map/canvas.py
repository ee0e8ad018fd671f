"""Widget that shows a map as a picture, zoomed by the wheel and panned by dragging.

The picture is kept and only changes are painted into it: a new load of a few threads costs a
few tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.map.export import MapExport
from widgets.map.handles import Handles
from widgets.map.layout.boxes import Box, Kind, Layout, Rect
from widgets.map.layout.shapes import bounds
from widgets.map.painting.box_texts import BoxTexts
from widgets.map.painting.lettering import FontMeasure
from widgets.map.painting.painting import Painting, paint_skeleton
from widgets.map.painting.state import State
from widgets.map.painting.view import MARGIN, View
from widgets.style.look import Look

ZOOM_STEP = 1.25
NEAR = 8.0  # pixels by which a click may miss a question mark
AROUND = 2  # pixels beside a box that belong to it
FEW = 32  # boxes: from more on, the whole widget is updated
MOST_STALE = 64  # rectangles: from more on, all of it is repainted
EMPTY = Layout(boxes=(), wires=(), width=0, height=0)


class Canvas(QWidget):
    """Shows a layout. A subclass defines `make_layout` and `use_at`."""

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look = look
        self.caption: Callable[[], str] = str  # below an exported picture
        self._state = State()
        self._box_texts = BoxTexts(words, self._state)
        self._view = View()
        self._measure = FontMeasure(look.theme)
        self._layout = EMPTY
        self._painting = self._painting_of(EMPTY)
        self._picture = QPixmap()
        self._stale: list[QRect] | None = None  # parts of the picture to repaint; None for all
        self._pressed: QPoint | None = None
        self._pan_from: QPointF | None = None
        self.handles = Handles(words, self)
        self.handles.all.clicked.connect(self.fit)
        self.handles.dragged.connect(self._drag)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        look.changed.connect(self._restyle)

    def make_layout(self, width: float, height: float) -> Layout:
        """Return the map for a room of this size."""
        raise NotImplementedError

    def use_at(self, box: Box | None, point: QPointF) -> None:
        """Handle a click on a box, or outside all boxes (None)."""
        raise NotImplementedError

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, parents first."""
        return self._layout.boxes

    def rect_of(self, box: Box) -> QRect:
        """Return the rectangle of a box in this widget."""
        return self._view.to_screen(box.rect)

    def box_at(self, point: QPointF) -> Box | None:
        """Return the innermost box at a point of this widget."""
        x, y = self._view.point(point)
        return next((box for box in reversed(self._layout.boxes) if box.rect.holds(x, y)), None)

    def box(self, name: str | None) -> Box | None:
        """Return the box with this id, None if it is not shown."""
        return next((box for box in self._layout.boxes if box.id == name), None)

    def _painting_of(self, layout: Layout) -> Painting:
        return Painting(layout, self._look.theme, self._measure, self._state, self._box_texts)

    def invites_at(self, box: Box, point: QPointF) -> bool:
        """Return whether a point is on a question mark of this box."""
        x, y = self._view.point(point)
        return any(
            text.role == "invitation" and text.rect.inset(-NEAR).holds(x, y)
            for text in self._painting.texts(box)
        )

    def lay_out(self) -> None:
        """Lay out again, after a change of machine, size or theme."""
        width, height = self.width() - 2 * MARGIN, self.height() - 2 * MARGIN
        self._layout = self.make_layout(width, height) if min(width, height) > 0 else EMPTY
        bar = self.handles.down.sizeHint().width()
        if self._layout.height > height and width > bar:
            self._layout = self.make_layout(width - bar, height)
        self._painting = self._painting_of(self._layout)
        size = self._layout.width, self._layout.height
        self._view.show(size, (self.width(), self.height()))
        self.view_changed()

    def zoom(self, factor: float, at: QPointF) -> None:
        """Zoom around a point."""
        self._view.zoom(factor, at)
        self.view_changed()

    def fit(self) -> None:
        """Show the whole map."""
        self._view.fit()
        self.view_changed()

    def view_changed(self) -> None:
        """Repaint after zooming, panning or a new layout."""
        self.handles.follow(self._view)
        self.repaint_all()

    def repaint_all(self) -> None:
        """Repaint everything."""
        self._stale = None
        self.update()

    def repaint_box(self, box: Box | None) -> None:
        """Repaint one box, its surroundings, and its line if it has one."""
        if box is None:
            return
        self._repaint(box.rect)
        self.repaint_wires({wire.name for wire in self._layout.wires if wire.box == box.id})

    def repaint_wires(self, names: Container[str]) -> None:
        """Repaint lines."""
        for wire in self._layout.wires:
            if wire.name in names:
                self._repaint(bounds(wire))

    def repaint_links(self, names: Container[str]) -> None:
        """Repaint lines and labels whose colour or words, but not place, have changed."""
        wires = [w for w in self._layout.wires if w.name in names or w.box in names]
        if self._stale is None or not wires:
            return
        with QPainter(self._picture) as painter:
            self._painting.paint_links(painter, wires, self._view)
        for wire in wires:
            self.update(self._view.to_screen(bounds(wire)))
            self.update(self._view.to_screen(self._painting.box(wire.box).rect))

    def repaint_alone(self, boxes: Sequence[Box]) -> None:
        """Repaint boxes of which only the inside has changed, which is cheap."""
        if self._stale is None or not boxes:  # all of it will be repainted anyway
            return
        tiles = [box for box in boxes if box.kind is Kind.THREAD]
        with QPainter(self._picture) as painter:
            others = [box for box in boxes if box.kind is not Kind.THREAD]
            self._painting.paint_alone(painter, others, self._view)
            self._painting.paint_tiles(painter, tiles, self._view)
        if len(boxes) > FEW:
            self.update()
        else:
            for box in boxes:
                self.update(self.rect_of(box))

    # --- pictures ------------------------------------------------------------------------------

    def whole(self) -> MapExport:
        """Return the whole map for export, whatever part is visible."""
        theme, name = self._look.theme, self.accessibleName()
        layout, measure, caption = self._layout, self._measure, self.caption()
        return MapExport(layout, theme, measure, self._state, self._box_texts, name, caption)

    def _repaint(self, rect: Rect) -> None:
        seen = self._view.to_screen(rect).adjusted(-AROUND, -AROUND, AROUND, AROUND)
        if self._stale is not None and seen not in self._stale:
            self._stale.append(seen)
            if len(self._stale) > MOST_STALE:
                self._stale = None
        self.update(seen)

    def _restyle(self) -> None:
        self._measure = FontMeasure(self._look.theme)
        self.lay_out()

    def hovered(self, box: Box | None) -> None:
        """React to the box under the mouse; None for none."""

    def pan(self, dx: float, dy: float) -> None:
        """Pan by this many pixels."""
        self._drag(self._view.offset - QPointF(dx, dy))

    def _drag(self, offset: QPointF) -> None:
        self._view.pan(offset)
        self.view_changed()

    def _hover(self, box: Box | None, point: QPointF) -> None:
        before = self._state.hovered
        if (None if box is None else box.id) != before:
            self._state.hovered = None if box is None else box.id
            self.repaint_box(self.box(before))
            self.repaint_box(box)
            self.hovered(box)
        can_click = box is not None and (box.kind is Kind.FOLD or self.invites_at(box, point))
        shape = Qt.CursorShape.PointingHandCursor if can_click else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    # --- Qt ------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Return a size at which most machines are readable."""
        return QSize(900, 560)

    def minimumSizeHint(self) -> QSize:
        """Return the least size."""
        return QSize(240, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Show the picture, or a skeleton while there is no machine."""
        if self._layout is EMPTY:
            with QPainter(self) as painter:
                paint_skeleton(painter, self._look.theme, self.width(), self.height())
            return
        self._refresh()
        with QPainter(self) as painter:
            painter.setClipRegion(event.region())
            painter.drawPixmap(0, 0, self._picture)

    def _refresh(self) -> None:
        """Repaint the stale parts of the picture."""
        ratio = self.devicePixelRatioF()
        if self._picture.size() != self.size() * ratio:
            self._picture = QPixmap(self.size() * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._stale = None
        rects = [self.rect()] if self._stale is None else self._stale
        self._stale = []
        if not rects:
            return
        region = QRegion()
        for rect in rects:
            region += rect
        with QPainter(self._picture) as painter:
            painter.setClipRegion(region)
            painter.fillRect(region.boundingRect(), QColor(self._look.theme.ground))
            painter.setTransform(self._view.transform)
            seen = [self._view.to_map(rect) for rect in rects]
            self._painting.paint(painter, seen, self._view.scale)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new size."""
        super().resizeEvent(event)
        self.lay_out()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the mouse."""
        self.zoom(ZOOM_STEP ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a click or a drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._pan_from = event.position().toPoint(), None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while the button is down, highlight otherwise."""
        here = event.position()
        if self._pressed is None:
            self._hover(self.box_at(here), here)
            return
        moved = here.toPoint() - self._pressed
        if self._pan_from is None and moved.manhattanLength() > QApplication.startDragDistance():
            self._pan_from = self._view.offset
        if self._pan_from is not None:
            self._drag(self._pan_from + QPointF(moved))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Use the clicked box."""
        was_click = self._pressed is not None and self._pan_from is None
        self._pressed = self._pan_from = None
        if was_click:
            self.use_at(self.box_at(event.position()), event.position())

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the highlight."""
        super().leaveEvent(event)
        self._hover(None, QPointF())
