"""A check box whose text wraps, and buttons side by side of which one is on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QFrame,
    QRadioButton,
    QWidget,
)

from widgets.controls.basics import Policy, column, follow_width, set_role
from widgets.controls.layouts import FlowLayout
from widgets.style.ink import LEFT, draw_box, draw_words, painting
from widgets.style.look import Look
from widgets.style.theme import STEP

BOX, CORNER = 16, 4  # pixels at zoom 1
MOST_PX = 2**15  # taller than any text
LEFT_WRAPPED = LEFT | Qt.TextFlag.TextWordWrap
TICK = ((0.24, 0.52), (0.43, 0.70), (0.77, 0.32))  # fractions of the box


class Check(QCheckBox):
    """A check box whose text wraps where it is too long."""

    def __init__(self, text: str, look: Look) -> None:
        super().__init__(text)
        self._look = look
        follow_width(self, Policy.Minimum)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return the size of one line."""
        width = self._indent() + self.fontMetrics().horizontalAdvance(self.text()) + STEP
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return a size that holds one line; the text wraps into more."""
        return QSize(8 * self._indent(), self._line_px())

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped text."""
        room = QRect(0, 0, max(1, width - self._indent()), MOST_PX)
        words = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self.text())
        return max(self._line_px(), words.height() + STEP)

    def hitButton(self, place: QPoint) -> bool:
        """Accept clicks on the text too."""
        return self.rect().contains(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box, the tick and the text."""
        theme = self._look.theme
        side = self._box_px()
        box = QRectF(1.5, (self._line_px() - side) / 2 + 0.5, side - 1, side - 1)
        is_on, is_usable = self.isChecked(), self.isEnabled()
        edge = theme.accent if is_usable and (is_on or self.underMouse()) else theme.soft
        with painting(self) as painter:
            draw_box(painter, box, CORNER, edge, edge if is_on else theme.panel, 1.2)
            if is_on:
                draw_tick(painter, box, theme.on_accent if is_usable else theme.panel, side)
            room = self.rect().adjusted(self._indent(), 0, 0, 0)
            ink = theme.ink if is_usable else theme.soft
            draw_words(painter, room, self.text(), self.font(), ink, LEFT_WRAPPED)
            if self.hasFocus():
                draw_box(painter, box.adjusted(-2, -2, 2, 2), CORNER + 2, theme.accent, width=2)

    def _box_px(self) -> int:
        return round(BOX * self._look.theme.zoom)

    def _indent(self) -> int:
        return self._box_px() + 2 * STEP + 2

    def _line_px(self) -> int:
        return max(self._box_px() + STEP + 2, self.fontMetrics().height() + STEP)


def draw_tick(painter: QPainter, box: QRectF, colour: str, side: int) -> None:
    """Draw a tick within a box with this side."""
    pen = QPen(QColor(colour), side / 9)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    corner, width, height = box.topLeft(), box.width(), box.height()
    painter.drawPolyline([corner + QPointF(x * width, y * height) for x, y in TICK])


def joined(*buttons: QAbstractButton) -> QFrame:
    """Return buttons that switch what is seen, in one frame."""
    frame = QFrame()
    frame.setProperty("role", "views")
    for each in buttons:
        set_role(each, "view")
    frame.setLayout(column(FlowLayout(*buttons, space=0)))
    frame.setSizePolicy(Policy.Maximum, Policy.Preferred)
    return frame


class Segments(QWidget):
    """Buttons side by side, of which one is on; `choices` are (name, text).

    Arrow keys move along. A person's choice emits `chosen`; the method `choose` does not.
    """

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], *, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self.buttons = {choice: self._button(choice, text, name) for choice, text in choices}
        self.setLayout(FlowLayout(*self.buttons.values(), space=STEP))

    def choose(self, name: str) -> None:
        """Select `name` without emitting `chosen`."""
        self.buttons[name].setChecked(True)

    def _button(self, choice: str, text: str, name: str) -> QRadioButton:
        button = QRadioButton(text)
        button.setProperty("role", "segment")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleDescription(name)
        button.clicked.connect(lambda _checked=False: self.chosen.emit(choice))
        self._group.addButton(button)
        return button
