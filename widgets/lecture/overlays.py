"""Layers over a slide: the halo around the mouse, and the picture that is kept."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap, QRadialGradient
from PySide6.QtWidgets import QWidget

from widgets.style.ink import painting
from widgets.style.look import Look

RADIUS = 44  # of the halo, in pixels at a height of 720
EDGE = 0.82  # of the radius, where it begins to fade
ALPHA = 70


class Halo(QWidget):
    """A soft circle where the mouse is."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._scale = look, 1.0
        self._at: QPointF | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def use_scale(self, scale: float) -> None:
        """Take the height of the slide, in heights of 720 pixels."""
        self._scale = scale

    def move_to(self, at: QPointF | None) -> None:
        """Draw it there; None: the mouse has left."""
        for place in (self._at, at):
            if place is not None:
                self.update(self._circle(place).toAlignedRect())
        self._at = at

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the circle."""
        if self._at is None:
            return
        colour, gone = QColor(self._look.theme.accent), QColor(self._look.theme.accent)
        colour.setAlpha(ALPHA)
        gone.setAlpha(0)
        soft = QRadialGradient(self._at, RADIUS * self._scale)
        soft.setColorAt(0.0, colour)
        soft.setColorAt(EDGE, colour)
        soft.setColorAt(1.0, gone)
        with painting(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(soft)
            painter.drawEllipse(self._circle(self._at))

    def _circle(self, at: QPointF) -> QRectF:
        radius = RADIUS * self._scale
        return QRectF(at - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius))


class Still(QWidget):
    """A picture that stays, whatever goes on below it."""

    def __init__(self, picture: QPixmap, look: Look) -> None:
        super().__init__()
        self._picture, self._look = picture, look
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it as large as it fits, if the window has another size now."""
        size = QSizeF(self._picture.size())
        size.scale(QSizeF(self.size()), Qt.AspectRatioMode.KeepAspectRatio)
        rect = QRectF(QPointF(0.0, 0.0), size)
        rect.moveCenter(QRectF(self.rect()).center())
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._look.theme.ground))
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(rect, self._picture, QRectF(self._picture.rect()))
