"""Base of all pictures of the last minute: time axis, reading cursor, marks.

Painting happens only when Qt asks for it, so a hidden view costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from experiments.presentation.load.history import SPAN_S, History, Mark, Moment
from widgets.live.ribbon import Ribbon
from widgets.style.look import Look
from widgets.style.theme import STEP


def move(view: QWidget, place: QRect) -> None:
    """Give an opaque view its place.

    WORKAROUND: Qt moves the pixels of an opaque widget, and paints the missing part over widgets
    above it. A notice was cut off until its next repaint.
    """
    view.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
    view.setGeometry(place)
    view.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)


class MinuteView(QWidget):
    """Base of heat strip and sparkline. `pointed` carries the place of the mouse."""

    numbers_marks = True  # False if a view above it numbers them

    pointed = Signal(object, object)  # seconds before the newest sample, row; None when it left

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self._history = History()
        self._ribbon: Ribbon | None = None
        self._drawn_s = -math.inf
        self._cursor_s: float | None = None
        self._words = ""
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        look.changed.connect(self.start_anew)

    def draw(self, history: History) -> None:
        """Show this history; new samples are painted when Qt asks."""
        is_other, self._history = history is not self._history, history
        if not self.stays(history) or is_other:
            self.update()

    def stays(self, history: History) -> bool:
        """Return whether the picture would not change, so that no repaint is needed.

        Several samples may arrive before the picture moves by a pixel.
        """
        ribbon = self._ribbon
        if ribbon is None or history.now_s < self._drawn_s or history.marks:
            return False
        return math.floor(ribbon.column(history.now_s)) <= ribbon.end

    def point_at(self, ago_s: float | None, words: str = "") -> None:
        """Show the reading cursor with words beside it, or remove it."""
        if (ago_s, words) != (self._cursor_s, self._words):
            self._cursor_s, self._words = ago_s, words
            self.update()

    def start_anew(self) -> None:
        """Repaint everything, after size, colours or scale have changed."""
        self._ribbon = None
        self.update()

    def add(self, ribbon: Ribbon, moments: Sequence[Moment]) -> None:
        """Paint new samples."""
        raise NotImplementedError

    def flags(self) -> list[tuple[str, QRectF]]:
        """Return the numbers of the marks by time, and their x.

        Marks whose flags would overlap share one.
        """
        metrics = QFontMetrics(self.look.theme.font("small"))

        def flag(marks: Sequence[Mark]) -> QRectF:
            width = metrics.horizontalAdvance(numbers(marks)) + STEP
            left = self._x(self._history.now_s - marks[0].at_s)  # unrounded, otherwise it flickers
            return QRectF(min(left, self.width() - width), 0, width, metrics.height())

        groups: list[list[Mark]] = []
        for mark in sorted(self._history.marks, key=lambda mark: mark.at_s):
            group = [mark]
            while groups and flag(group).left() < flag(groups[-1]).right() + STEP:
                group = groups.pop() + group
            groups.append(group)
        return [(numbers(group), flag(group)) for group in groups]

    def row_at(self, y: float) -> int | None:
        """Return the row at a height; None if there are no rows."""
        del y
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Update the ribbon and paint it."""
        del event
        ribbon = self._caught_up()
        with QPainter(self) as painter:
            ribbon.show(painter, self.rect().topLeft())
            if self._history.marks:
                self._paint_marks(painter)
            if self._cursor_s is not None:
                self._paint_cursor(painter, self._cursor_s)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Repaint everything at the new size."""
        super().resizeEvent(event)
        self._ribbon = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Emit what is pointed at."""
        share = 1 - event.position().x() / max(self.width(), 1)
        ago_s = min(max(share, 0.0), 1.0) * SPAN_S
        self.pointed.emit(ago_s, self.row_at(event.position().y()))

    def leaveEvent(self, event: QEvent) -> None:
        """Emit that nothing is pointed at."""
        super().leaveEvent(event)
        self.pointed.emit(None, None)

    def minimumSizeHint(self) -> QSize:
        """Return the least readable size."""
        return QSize(24 * STEP, 8 * STEP)

    def _caught_up(self) -> Ribbon:
        theme, ratio, history = self.look.theme, self.devicePixelRatioF(), self._history
        ribbon = self._ribbon
        if ribbon is None or ribbon.ratio != ratio or history.now_s < self._drawn_s:
            colours = (theme.panel, theme.line)
            first_s = history.moments[0].at_s if history.moments else history.now_s
            edge_s = max(history.now_s - SPAN_S, first_s)  # no gap before the first sample
            ribbon = self._ribbon = Ribbon(self.size(), ratio, colours, end_s=edge_s)
            self._drawn_s = -math.inf
            self.begin()
        if new := history.since(self._drawn_s):
            self.add(ribbon, new)
            self._drawn_s = history.now_s
        return ribbon

    def begin(self) -> None:
        """Prepare for a new ribbon."""

    def _x(self, ago_s: float) -> float:
        return self.width() * (1 - ago_s / SPAN_S)

    def _paint_marks(self, painter: QPainter) -> None:
        theme = self.look.theme
        painter.setPen(QPen(QColor(theme.ink), 1, Qt.PenStyle.DotLine))
        for mark in self._history.marks:
            x = math.floor(self._x(self._history.now_s - mark.at_s)) - 0.5
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        if not self.numbers_marks:
            return
        painter.setFont(theme.font("small"))
        painter.setPen(QColor(theme.panel))
        for text, flag in self.flags():
            flag.moveLeft(math.floor(flag.left()) - 0.5)
            painter.fillRect(flag, QColor(theme.ink))
            painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_cursor(self, painter: QPainter, ago_s: float) -> None:
        theme = self.look.theme
        x = min(math.floor(self._x(ago_s)), self.width() - 1) + 0.5
        painter.setPen(QPen(QColor(theme.accent_word), 1))
        painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        if not self._words:
            return
        painter.setFont(theme.font("small"))
        metrics = painter.fontMetrics()
        box = QRectF(0, 0, metrics.horizontalAdvance(self._words) + 2 * STEP, metrics.height() + 4)
        flags = self.flags() if self.numbers_marks else []
        below = flags[0][1].bottom() if flags else 0.0
        box.moveTopLeft(QPointF(x + STEP, min(below + 2, self.height() - box.height())))
        if box.right() > self.width():
            box.moveRight(max(x - STEP, box.width()))
        painter.setBrush(QColor(theme.panel))
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawRect(box)
        painter.setPen(QColor(theme.ink))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._words)


def numbers(marks: Sequence[Mark]) -> str:
    """Return the text on the flag of these marks; of many in a row, first and last."""
    known = [mark.number for mark in marks]
    if len(known) > 2 and known == [*range(known[0], known[-1] + 1)]:
        return f"{known[0]}–{known[-1]}"
    return ", ".join(map(str, known))
