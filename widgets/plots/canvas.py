"""The widget that shows a chart: axes, marks, view box and cursor in a scene of pyqtgraph."""

from __future__ import annotations

from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QPainter,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView

from widgets.controls.basics import chip
from widgets.controls.picture_files import as_mime
from widgets.plots import export
from widgets.plots.axes import Painted
from widgets.plots.chart import Chart
from widgets.plots.frame import FRONT, MARKS, Box, Layer, UnitAxis, guarded
from widgets.style.look import Look
from widgets.style.theme import STEP

PADDING_PX = 2.0 * STEP
KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Canvas(QGraphicsView):
    """Shows a chart on the screen, and exports it as pictures and files.

    It is no `pg.GraphicsView`: that paints in Python, around the painting of its items, and what an
    item raises there may end the process.
    """

    sigDeviceRangeChanged = Signal(object, object)  # items of pyqtgraph connect to these
    sigDeviceTransformChanged = Signal(object)

    def __init__(self, chart: Chart, look: Look) -> None:
        super().__init__()
        self.chart, self._look = chart, look
        self._picture = QPixmap()
        self._painted: Painted | None = None
        self._has_ring = False
        self.box = Box()
        self._axes = UnitAxis("left", self.box), UnitAxis("bottom", self.box)
        # WORKAROUND: after a click, PySide6 6.11.3 destroys an item that only its scene holds.
        self._marks = Layer(self._paint_picture, MARKS)
        self._front = Layer(self._paint_front, FRONT)
        scene = pg.GraphicsScene(parent=self)
        scene.setSceneRect(QRectF(self.rect()))
        scene.setItemIndexMethod(scene.ItemIndexMethod.NoIndex)  # few items, as large as the plot
        for item in (self._marks, *self._axes, self.box, self._front):
            scene.addItem(item)
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(False)  # files are dropped on the window
        self._all = chip(chart.terms.say("plot.show_all"))
        self._all.setParent(self)
        self._all.setVisible(False)
        self._all.clicked.connect(self.show_all)
        self.setAccessibleName(chart.terms.title())
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it tells its proxy, the plot
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 120)
        self.viewport().setAutoFillBackground(False)  # the view has a ground
        self.viewport().installEventFilter(self)
        self.box.sigRangeChanged.connect(self._zoomed)
        look.changed.connect(self._refresh)

    def viewRect(self) -> QRectF:
        """Return what is in sight, as items of pyqtgraph ask."""
        return QRectF(self.rect())

    def summary(self) -> str:
        """Return what the plot shows, as text for screen readers."""
        return self.chart.summary()

    def show_all(self) -> None:
        """Undo every zoom."""
        self.box.show_all()

    def least_height(self, width: float) -> float:
        """Return the least height for a width; 0 if any height will do."""
        least = self.chart.least_px(width - 2 * PADDING_PX, self._look.theme)
        return least + 2 * PADDING_PX if least else 0.0

    def most_height(self) -> float:
        """Return the height beyond which the foot would stay empty; may be infinite."""
        return self.chart.most_px(self._look.theme) + 2 * PADDING_PX

    def picture(self, verdict: str = "", because: str = "", *, scale: float = 2.0) -> QImage:
        """Return a picture with the caption, at `scale` device pixels per pixel.

        A verdict and its cause stand above it.
        """
        theme, size = self._look.theme, self.size()
        return export.picture(self.chart, size, theme, scale, verdict, because)

    def svg(self) -> bytes:
        """Return an SVG file with the caption."""
        return export.svg(self.chart, self.size(), self._look.theme)

    def save(self, path: Path) -> None:
        """Write a .png or .svg file. Raises OSError, or ValueError for another suffix."""
        export.save(self.chart, self.size(), self._look.theme, path, 2.0)

    def copy_picture(self) -> None:
        """Put a picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.picture())

    def copy_svg(self) -> None:
        """Put an SVG file on the clipboard."""
        QGuiApplication.clipboard().setMimeData(as_mime(self.svg()))

    def painted(self) -> Painted:
        """Return where everything is, after laying it out and painting the marks if need be."""
        if self._painted is None:
            theme, scale = self._look.theme, self.devicePixelRatioF()
            bounds = QRectF(self.rect()).adjusted(PADDING_PX, PADDING_PX, -PADDING_PX, -PADDING_PX)
            layout = self.chart.lay_out(bounds, theme)
            self._picture = QPixmap(self.size() * scale)
            self._picture.setDevicePixelRatio(scale)
            self._picture.fill(QColor(theme.panel))  # letters are smoothed against a ground
            with QPainter(self._picture) as painter:
                painted = layout.sheet(painter, scale=scale)
                self.chart.paint_marks(painted)
            self._painted = painted
            for item in (self.box, *self._axes):
                item.hold(layout)
        return self._painted

    @guarded
    def _prepare(self) -> None:
        self.painted()

    def paint_over(self, painted: Painted) -> None:
        """Paint over the chart; subclasses draw their cursor here."""

    def _paint_picture(self, painter: QPainter) -> None:
        painter.drawPixmap(0, 0, self._picture)

    def _paint_front(self, painter: QPainter) -> None:
        """Paint what changes often."""
        painted = self.painted()
        painted.painter = painter
        self.paint_over(painted)
        if self._has_ring:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._look.theme.accent), 2.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6.0, 6.0)

    def _zoomed(self) -> None:
        if not self.box.is_held:
            self.chart.zoom_x, self.chart.zoom_y = self.box.part(0), self.box.part(1)
            self._refresh()

    def _refresh(self) -> None:
        self._painted = None
        is_zoomed = self.chart.is_zoomed
        if is_zoomed != self._all.isVisibleTo(self):
            if not is_zoomed and self._all.hasFocus():
                self.setFocus()
            self._all.setVisible(is_zoomed)
        if is_zoomed:
            self._place_chip()
        self.setBackgroundBrush(QColor(self._look.theme.panel))  # which also updates all

    def _place_chip(self) -> None:
        """Place the chip beside the title of the x axis; without a title, in the upper corner."""
        size = self._all.sizeHint()
        has_title = bool(self.chart.drawing.plan().x.title)
        top = self.height() - size.height() - 2 if has_title else round(PADDING_PX)
        self._all.resize(size)
        self._all.move(self.width() - size.width() - 2, top)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lay out before Qt paints."""
        if event.type() == QEvent.Type.Paint:
            self._prepare()
        return super().eventFilter(watched, event)

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> object:
        """Answer as a plain widget, so that a scroll area brings all of it into sight."""
        return QFrame.inputMethodQuery(self, query)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show a focus ring if the focus came by keyboard."""
        self._has_ring = event.reason() in KEYBOARD
        self._front.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus ring."""
        self._has_ring = False
        self._front.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay everything out again."""
        super().resizeEvent(event)
        self.scene().setSceneRect(QRectF(self.rect()))
        self._refresh()

    def sizeHint(self) -> QSize:
        """Return a size that suits most plots."""
        return QSize(720, 360)
