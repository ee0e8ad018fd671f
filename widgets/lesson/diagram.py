"""The drawing of a lesson: shapes on a grid, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from experiments.core.teaching.diagram import Diagram
from experiments.core.words import Words
from widgets.controls.basics import follow_width
from widgets.lesson.diagram_painter import DiagramPainter
from widgets.style.ink import painting
from widgets.style.look import Look

CELL_PX, MOST_CELL_PX = 15, 24  # of a cell at zoom 1: usually, and in the widest drawing
LEAST_CELL_PX = 8


class DiagramView(QWidget):
    """As wide as there is room, and as high as that makes it."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._look = look
        self._diagram: Diagram | None = None
        self._labels: Mapping[str, str] = {}
        follow_width(self)
        self.setAccessibleName(words.say("lesson.drawing"))
        look.changed.connect(self._follow)

    def show_diagram(self, diagram: Diagram | None, labels: Mapping[str, str]) -> None:
        """Show a drawing with its labels; None hides it. `about` tells what it shows."""
        self._diagram, self._labels = diagram, labels
        self.setAccessibleDescription(labels.get("about", ""))
        self.setVisible(diagram is not None)
        self._follow()

    def sizeHint(self) -> QSize:
        """Return the usual size."""
        return self._size(CELL_PX * self._look.theme.zoom)

    def minimumSizeHint(self) -> QSize:
        """Return the narrowest size in which letters still fit into boxes."""
        least = self._size(LEAST_CELL_PX * self._look.theme.zoom)
        return QSize(least.width(), 1)

    def heightForWidth(self, width: int) -> int:
        """Return the height that keeps the aspect."""
        return self._size(self._cell_px(width)).height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shapes."""
        if self._diagram is None:
            return
        cell_px = self._cell_px(self.width())
        made = DiagramPainter(self._diagram, self._labels, self._look.theme, cell_px)
        with painting(self) as painter:
            made.draw(painter)

    def _cell_px(self, width: int) -> float:
        across = self._diagram.size[0] if self._diagram is not None else 1.0
        return min(MOST_CELL_PX * self._look.theme.zoom, max(1, width - 2) / across)

    def _size(self, cell_px: float) -> QSize:
        if self._diagram is None:
            return QSize(0, 0)
        across, down = self._diagram.size
        return QRectF(0, 0, across * cell_px + 2, down * cell_px + 2).toAlignedRect().size()

    def _follow(self) -> None:
        self.updateGeometry()
        self.update()
