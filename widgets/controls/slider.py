"""A slider with a thin track and a round handle that moves from stop to stop.

Its value is the index of a stop, so sizes beyond 32 bits never pass through Qt. The wheel moves it
only while it has the focus, so that scrolling a page changes nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider

from widgets.controls.stops import Stops
from widgets.style.ink import draw_box, painting, use_ink
from widgets.style.look import Look

HANDLE, TRACK, RING = 16, 5, 3  # pixels at zoom 1: across the handle, the track, the focus ring
PAGES = 6  # presses of Page Up from one end to the other


class StopSlider(QSlider):
    """A slider over `stops`; its value is the index of one."""

    def __init__(self, look: Look) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._look = look
        self._stops = Stops((0,), (0.0,))
        self.is_chosen = True  # else it is drawn as nobody's choice
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.updateGeometry)

    def show_stops(self, stops: Stops, value: float) -> None:
        """Set the stops and the current value, which must be one of them; nothing is emitted."""
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
        """Return a size with room for the handle and its focus ring."""
        side = self._handle_px() + 2 * RING
        return QSize(8 * side, side)

    def minimumSizeHint(self) -> QSize:
        """Return the narrowest usable size."""
        side = self._handle_px() + 2 * RING
        return QSize(2 * side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track, its chosen part, and the handle."""
        theme = self._look.theme
        is_lit = self.isEnabled() and self.is_chosen
        chosen = theme.accent if is_lit else theme.soft
        track, at_x = self._track(), self._handle_x()
        middle, radius = track.center().y(), self._handle_px() / 2
        with painting(self) as painter:
            draw_box(painter, track, TRACK / 2, fill=theme.line)
            if self.is_chosen:
                track.setRight(at_x)
                draw_box(painter, track, TRACK / 2, fill=chosen)
            handle = theme.ink if theme.mode == "dark" else theme.panel
            use_ink(painter, chosen, handle if is_lit else theme.ground, 2)
            painter.drawEllipse(QPointF(at_x, middle), radius - 1, radius - 1)
            if self.hasFocus():
                use_ink(painter, theme.accent, width=2)
                painter.drawEllipse(QPointF(at_x, middle), radius + RING - 1, radius + RING - 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the handle to the mouse and start dragging."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._go_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the handle with the mouse."""
        if self.isSliderDown():
            self._go_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop dragging."""
        self.setSliderDown(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move only while focused; otherwise let the page scroll."""
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
        """Return the range of the handle's centre; its ring has room at both ends."""
        margin = self._handle_px() / 2 + RING
        return margin, self.width() - margin

    def _handle_x(self) -> float:
        left, right = self._reach()
        return left + (right - left) * self._stops.places[self.value()]

    def _track(self) -> QRectF:
        return QRectF(RING, (self.height() - TRACK) / 2, self.width() - 2 * RING, TRACK)


class TimeSlider(StopSlider):
    """A slider whose value is a place on a line of time instead of the index of a stop."""

    def _go_to(self, x: float) -> None:
        left, right = self._reach()
        share = (x - left) / max(1.0, right - left)
        self.setValue(round(self.maximum() * min(max(share, 0.0), 1.0)))

    def _handle_x(self) -> float:
        left, right = self._reach()
        return left + (right - left) * self.value() / max(1, self.maximum())
