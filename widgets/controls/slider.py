"""How does one choose a number by hand? A thin track with a round handle that stops at values.

Positions are indices of stops: sizes beyond 32 bits never pass through Qt. The wheel turns it only
where it has the focus, so that scrolling a page changes nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider

from widgets.controls.stops import Stops
from widgets.style.look import Look

HANDLE, TRACK, RING = 16, 5, 3  # pixels at zoom 1: across the handle, the track, the focus ring
PAGES = 6  # Page Up so often goes from one end to the other


class StopSlider(QSlider):
    """A slider over `stops`; its value is the index of one."""

    def __init__(self, look: Look) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._look = look
        self._stops = Stops((0,), (0.0,))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.updateGeometry)

    def show_stops(self, stops: Stops, value: float) -> None:
        """Stop at these values from now on, and stand at one of them; nothing is emitted."""
        self._stops = stops
        with QSignalBlocker(self):
            self.setRange(0, len(stops.values) - 1)
            self.setPageStep(max(1, round(len(stops.values) / PAGES)))
            self.setValue(stops.values.index(value))
        self.update()

    @property
    def values(self) -> tuple[float, ...]:
        """The values of the stops."""
        return self._stops.values

    def sizeHint(self) -> QSize:
        """Leave room for the handle and its ring."""
        side = self._handle_px() + 2 * RING
        return QSize(8 * side, side)

    def minimumSizeHint(self) -> QSize:
        """Remain usable when it is narrow."""
        side = self._handle_px() + 2 * RING
        return QSize(2 * side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track, the part of it that is chosen, and the handle."""
        theme = self._look.theme
        chosen = QColor(theme.accent if self.isEnabled() else theme.soft)
        track, at_x = self._track(), self._handle_x()
        middle, radius = track.center().y(), self._handle_px() / 2
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.line))
            painter.drawRoundedRect(track, TRACK / 2, TRACK / 2)
            painter.setBrush(chosen)
            painter.drawRoundedRect(
                QRectF(track.left(), track.top(), at_x - track.left(), track.height()),
                TRACK / 2,
                TRACK / 2,
            )
            handle = QColor(theme.ink if theme.mode == "dark" else theme.panel)
            painter.setBrush(handle if self.isEnabled() else QColor(theme.ground))
            painter.setPen(QPen(chosen, 2))
            painter.drawEllipse(QPointF(at_x, middle), radius - 1, radius - 1)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(QPointF(at_x, middle), radius + RING - 1, radius + RING - 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the handle where the mouse is."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._go_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Let the handle follow."""
        if self.isSliderDown():
            self._go_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the handle."""
        self.setSliderDown(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Turn only with the focus; the page scrolls otherwise."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _go_to(self, x: float) -> None:
        left, right = self._reach()
        self.setValue(self._stops.nearest((x - left) / max(1.0, right - left)))

    def _handle_px(self) -> int:
        return round(HANDLE * self._look.theme.zoom)

    def _reach(self) -> tuple[float, float]:
        """Return how far the middle of the handle goes; its ring has room at both ends."""
        margin = self._handle_px() / 2 + RING
        return margin, self.width() - margin

    def _handle_x(self) -> float:
        left, right = self._reach()
        return left + (right - left) * self._stops.places[self.value()]

    def _track(self) -> QRectF:
        return QRectF(RING, (self.height() - TRACK) / 2, self.width() - 2 * RING, TRACK)
