"""The widget that shows a scene: painted once, then cached as a pixmap until it changes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from widgets.controls.basics import chip
from widgets.plots import export
from widgets.plots.scene import Painted, Scene
from widgets.style.look import Look
from widgets.style.theme import STEP

PADDING_PX = 2.0 * STEP
KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Canvas(QWidget):
    """Shows a scene on the screen, and exports it as pictures and files."""

    def __init__(self, scene: Scene, look: Look) -> None:
        super().__init__()
        self.scene, self._look = scene, look
        self._picture: QPixmap | None = None
        self._painted: Painted | None = None
        self._has_ring = False
        self._all = chip(scene.terms.say("plot.show_all"))
        self._all.setParent(self)
        self._all.setVisible(False)
        self._all.clicked.connect(self.show_all)
        self.setAccessibleName(scene.terms.title())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 120)
        look.changed.connect(self._refresh)

    def set_caption(self, text: str) -> None:
        """Set the text above the plot in exported pictures; its first line is the heading."""
        self.scene.caption = text

    def set_band(self, text: str) -> None:
        """Set a banner for exported pictures, such as RECORDED; the window does not show it."""
        self.scene.band = text

    def summary(self) -> str:
        """Return what the plot shows, as text for screen readers."""
        return self.scene.summary()

    def show_all(self) -> None:
        """Undo every zoom."""
        self.scene.show_all()
        self._refresh()

    def least_height(self, width: float) -> float:
        """Return the least height for a width; 0 if any height will do."""
        least = self.scene.least_px(width - 2 * PADDING_PX, self._look.theme)
        return least + 2 * PADDING_PX if least else 0.0

    def most_height(self) -> float:
        """Return the height beyond which the foot would stay empty; may be infinite."""
        return self.scene.most_px(self._look.theme) + 2 * PADDING_PX

    def picture(self, verdict: str = "", because: str = "", *, scale: float = 2.0) -> QImage:
        """Return a picture with the caption, at `scale` device pixels per pixel.

        A verdict and its cause stand above it.
        """
        theme, size = self._look.theme, self.size()
        return export.picture(self.scene, size, theme, scale, verdict, because)

    def svg(self) -> bytes:
        """Return an SVG file with the caption."""
        return export.svg(self.scene, self.size(), self._look.theme)

    def save(self, path: Path) -> None:
        """Write a .png or .svg file. Raises OSError, or ValueError for another suffix."""
        export.save(self.scene, self.size(), self._look.theme, path, 2.0)

    def copy_picture(self) -> None:
        """Put a picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.picture())

    def copy_svg(self) -> None:
        """Put an SVG file on the clipboard."""
        QGuiApplication.clipboard().setMimeData(export.as_mime(self.svg()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cached picture, and over it what changes often."""
        painted = self.painted()
        with QPainter(self) as painter:
            if self._picture is not None:
                painter.drawPixmap(0, 0, self._picture)
            painted.sheet.painter = painter
            self.paint_over(painted)
            if self._has_ring:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(QColor(self._look.theme.accent), 2.0))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6.0, 6.0)

    def paint_over(self, painted: Painted) -> None:
        """Paint over the scene; subclasses draw their cursor here."""

    def painted(self) -> Painted:
        """Return the painted scene, painting it first if it has changed."""
        if self._picture is None or self._painted is None:
            scale = self.devicePixelRatioF()
            self._picture = QPixmap(self.size() * scale)
            self._picture.setDevicePixelRatio(scale)
            self._picture.fill(QColor(self._look.theme.panel))
            bounds = QRectF(self.rect()).adjusted(PADDING_PX, PADDING_PX, -PADDING_PX, -PADDING_PX)
            with QPainter(self._picture) as painter:
                self._painted = self.scene.paint(painter, bounds, self._look.theme, scale=scale)
        return self._painted

    def _refresh(self) -> None:
        self._picture = None
        is_zoomed = self.scene.is_zoomed
        if is_zoomed != self._all.isVisibleTo(self):
            if not is_zoomed and self._all.hasFocus():
                self.setFocus()
            self._all.setVisible(is_zoomed)
        if is_zoomed:
            self._place_chip()
        self.update()

    def _place_chip(self) -> None:
        """Place the chip beside the title of the x axis; without a title, in the upper corner."""
        size = self._all.sizeHint()
        has_title = bool(self.scene.drawing.plan().x.title)
        top = self.height() - size.height() - 2 if has_title else round(PADDING_PX)
        self._all.resize(size)
        self._all.move(self.width() - size.width() - 2, top)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a focus ring if the focus came by keyboard."""
        self._has_ring = event.reason() in KEYBOARD
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus ring."""
        self._has_ring = False
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay everything out again."""
        self._refresh()

    def sizeHint(self) -> QSize:
        """Return a size that suits most plots."""
        return QSize(720, 360)
