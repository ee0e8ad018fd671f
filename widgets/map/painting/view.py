"""Visible part and scale of the map: zoomed at the mouse, panned, or fitted."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QTransform

from widgets.map.layout.boxes import Rect

MARGIN = 2.0  # for the ring around the chosen box
LARGEST, SMALLEST = 6.0, 0.65  # at SMALLEST the smallest words are just readable
ALIKE = 0.001  # scales that differ by less are equal
LEAST_IN_SIGHT = 0.25  # of the widget, always covered by the map
LEAST_FIT = 1.0  # below the size chosen for letters, the map scrolls instead


class View:
    """Transformation from units of the map to pixels of its widget."""

    def __init__(self) -> None:
        self.scale, self.is_zoomed = 1.0, False
        self._offset = QPointF(MARGIN, MARGIN)
        self._map, self._room = (0.0, 0.0), (0.0, 0.0)

    def show(self, map_size: tuple[float, float], room: tuple[float, float]) -> None:
        """Set the sizes of map and widget; fit the map unless zoomed."""
        self._map, self._room = map_size, room
        if self.is_zoomed:
            self._keep_in_sight()
        else:
            self.fit()

    def fit(self) -> None:
        """Show the whole map, as far as it stays readable."""
        self.is_zoomed = False
        self._offset = QPointF(MARGIN, MARGIN)
        self.scale = self._fitting()

    def zoom(self, factor: float, at: QPointF) -> None:
        """Zoom around this pixel."""
        scale = min(LARGEST, max(self._least(), self.scale * factor))
        self._offset = at - (at - self._offset) * (scale / self.scale)
        self.scale, self.is_zoomed = scale, True
        self._keep_in_sight()

    def pan(self, offset: QPointF) -> None:
        """Move the corner of the map to this pixel, or as near as allowed."""
        self._offset, self.is_zoomed = offset, True
        self._keep_in_sight()

    def bring_into_sight(self, rect: Rect) -> bool:
        """Pan just enough to show a rectangle; return whether that was needed."""
        shown, room = QRectF(self.to_screen(rect)), QRectF(0, 0, *self._room)
        dx = max(0.0, -shown.left()) or min(0.0, room.right() - shown.right())
        dy = max(0.0, -shown.top()) or min(0.0, room.bottom() - shown.bottom())
        needed = bool(
            (dx and shown.width() <= room.width()) or (dy and shown.height() <= room.height())
        )
        if needed:
            self.pan(self._offset + QPointF(dx, dy))
        return needed

    @property
    def is_away(self) -> bool:
        """Return whether the view differs from the fitted one."""
        whole, room = self.extent(), QRectF(0, 0, *self._room)
        is_sought = whole.left() > 1 or whole.top() > 1
        is_sought |= whole.right() < min(room.right(), whole.width()) - 1
        is_sought |= whole.bottom() < min(room.bottom(), whole.height()) - 1
        return self.is_zoomed and (is_sought or abs(self.scale / self._fitting() - 1) > ALIKE)

    def extent(self) -> QRectF:
        """Return the rectangle of the whole map with its margin, in pixels of the widget."""
        whole = QRectF(self.transform.mapRect(QRectF(0, 0, *self._map)))
        return whole.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)

    @property
    def offset(self) -> QPointF:
        """The pixel of the map's upper left corner."""
        return QPointF(self._offset)

    @property
    def transform(self) -> QTransform:
        """The transformation for a painter."""
        return QTransform(self.scale, 0, 0, self.scale, self._offset.x(), self._offset.y())

    def to_screen(self, rect: Rect) -> QRect:
        """Return the pixels that a rectangle of the map touches."""
        return self.transform.mapRect(QRectF(*rect)).toAlignedRect()

    def to_map(self, rect: QRect) -> Rect:
        """Return the part of the map below these pixels."""
        x, y = self.point(QPointF(rect.topLeft()))
        return Rect(x, y, rect.width() / self.scale, rect.height() / self.scale)

    def point(self, pixel: QPointF) -> tuple[float, float]:
        """Return the point of the map below a pixel."""
        at = (pixel - self._offset) / self.scale
        return at.x(), at.y()

    def _fitting(self) -> float:
        return max(LEAST_FIT, self._whole())

    def _least(self) -> float:
        """Return the least scale: all is visible, or the words are just readable."""
        return max(SMALLEST, min(self._whole(), self._fitting()))

    def _whole(self) -> float:
        if min(self._map) <= 0:
            return self.scale
        sides = zip(self._room, self._map, strict=True)
        return min((room - 2 * MARGIN) / size for room, size in sides)

    def _keep_in_sight(self) -> None:
        """Keep a part of the map visible on every side."""
        places = []
        for at, size, room in zip(self._offset.toTuple(), self._map, self._room, strict=True):
            least = LEAST_IN_SIGHT * room
            places.append(min(max(at, least - size * self.scale), room - least))
        self._offset = QPointF(*places)
