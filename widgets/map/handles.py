"""Scroll bars over the map, and a button that shows all of it again."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtWidgets import QScrollBar, QWidget

from experiments.core.words import Words
from widgets.controls.basics import chip
from widgets.map.painting.view import View
from widgets.style.theme import STEP

PAGE_SHARE, STEP_SHARE = 0.9, 0.1  # of the visible part


class Handles(QObject):
    """Lies over the map, `around`. `dragged` carries the wanted offset of the map's corner."""

    dragged = Signal(QPointF)

    def __init__(self, words: Words, around: QWidget) -> None:
        super().__init__(around)
        self._corner = QPointF()
        self.across = QScrollBar(Qt.Orientation.Horizontal, around)
        self.down = QScrollBar(Qt.Orientation.Vertical, around)
        for bar in (self.across, self.down):
            bar.setCursor(Qt.CursorShape.ArrowCursor)
            bar.valueChanged.connect(self._drag)
            bar.hide()
        self.all = chip(words.say("plot.show_all"))
        self.all.setParent(around)
        self.all.hide()

    def follow(self, view: View) -> None:
        """Update the bars to the current view."""
        whole, around = view.extent(), self.parent()
        assert isinstance(around, QWidget)
        self._corner = view.offset - whole.topLeft()
        for bar, start, length, seen in (
            (self.across, whole.x(), whole.width(), around.width()),
            (self.down, whole.y(), whole.height(), around.height()),
        ):
            bar.blockSignals(True)
            bar.setRange(round(min(0.0, -start)), round(max(length - seen, -start)))
            bar.setValue(round(-start))
            bar.setPageStep(max(1, round(PAGE_SHARE * seen)))
            bar.setSingleStep(max(1, round(STEP_SHARE * seen)))
            bar.blockSignals(False)
            bar.setVisible(start < -1 or start + length > seen + 1)
        wide, high = self.down.sizeHint().width(), self.across.sizeHint().height()
        self.down.setGeometry(around.width() - wide, 0, wide, around.height() - high)
        self.across.setGeometry(0, around.height() - high, around.width() - wide, high)
        if not view.is_away and self.all.hasFocus():
            around.setFocus()
        self.all.setVisible(view.is_away)
        if view.is_away:
            size = self.all.sizeHint()
            right, low = around.width() - wide - STEP, around.height() - high - STEP
            self.all.setGeometry(right - size.width(), low - size.height(), *size.toTuple())

    def _drag(self) -> None:
        at = QPointF(-self.across.value(), -self.down.value())
        self.dragged.emit(at + self._corner)
