"""The drawing of a lesson: shapes on a grid, in the colours of the theme, and what moves on it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from experiments.core.teaching.diagram import Diagram
from experiments.core.teaching.motion import Motion
from experiments.core.words import Words
from widgets.controls.basics import follow_width
from widgets.lesson.drawing.motion_painter import MotionPainter
from widgets.style.ink import painting
from widgets.style.look import Look

CELL_PX, LEAST_CELL_PX = 15, 8  # of a cell at zoom 1: usually, and in the narrowest drawing


class DiagramView(QWidget):
    """As wide as there is room, and as high as that makes it."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._look = look
        self._diagram: Diagram | None = None
        self._labels: Mapping[str, str] = {}
        self._motion: Motion | None = None
        self._texts: Mapping[str, str] = {}
        self._most_px = math.inf
        self._made: dict[int, MotionPainter] = {}  # by width: layouts ask for several
        self._ground = QPixmap()  # null: to be drawn
        self.t_s = 0.0  # the moment that is shown
        follow_width(self)
        self.setAccessibleName(words.say("lesson.drawing"))
        look.changed.connect(self._follow)

    def show_diagram(
        self,
        diagram: Diagram | None,
        labels: Mapping[str, str],
        motion: Motion | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Show a drawing with its labels, still or at the first moment of its motion; None hides.

        The label `about` says what the drawing shows.
        """
        self._diagram, self._labels = diagram, labels
        self._motion, self._texts, self.t_s = motion, texts or {}, 0.0
        self.setAccessibleDescription(labels.get("about", ""))
        self.setVisible(diagram is not None)
        self._follow()

    def show_at(self, t_s: float) -> None:
        """Show another moment."""
        if t_s != self.t_s:
            self.t_s = t_s
            self.update()

    def limit_height(self, most_px: float) -> None:
        """Let it be no higher, and so less wide."""
        if most_px != self._most_px:
            self._most_px = most_px
            self._follow()

    def sizeHint(self) -> QSize:
        """Return the usual size."""
        return self._size(CELL_PX)

    def minimumSizeHint(self) -> QSize:
        """Return the narrowest size in which letters still fit into boxes."""
        return QSize(self._size(LEAST_CELL_PX).width(), 1)

    def heightForWidth(self, width: int) -> int:
        """Return the height that keeps the aspect."""
        painter = self.painter_for(width)
        return math.ceil(painter.height) if painter is not None else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shapes, which are kept, and the moment over them."""
        made = self.painter_for(self.width())
        if made is None:
            return
        scale = self.devicePixelRatioF()
        if self._ground.size() != self.size() * scale:
            self._ground = QPixmap(self.size() * scale)
            self._ground.setDevicePixelRatio(scale)
            self._ground.fill(Qt.GlobalColor.transparent)
            with QPainter(self._ground) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                made.draw_ground(painter)
        with painting(self) as painter:
            painter.drawPixmap(0, 0, self._ground)
            made.draw_moment(painter, self.t_s)

    def painter_for(self, width: int) -> MotionPainter | None:
        """Return what draws at a width; None without a drawing."""
        if self._diagram is None:
            return None
        if width not in self._made:
            given = self._diagram, self._labels, self._look.theme, float(width)
            self._made[width] = MotionPainter(*given, self._motion, self._texts, self._most_px)
        return self._made[width]

    def _size(self, cell_px: float) -> QSize:
        if self._diagram is None:
            return QSize(0, 0)
        width = math.ceil(self._diagram.size[0] * cell_px * self._look.theme.zoom) + 2
        return QSize(width, self.heightForWidth(width))

    def _follow(self) -> None:
        self._made, self._ground = {}, QPixmap()
        self.updateGeometry()
        self.update()
