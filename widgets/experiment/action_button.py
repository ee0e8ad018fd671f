"""Buttons that follow a QAction: its text, shortcut, state and visibility."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton

from widgets.controls.basics import Chip, dress
from widgets.style.theme import STEP

HINT_OPACITY = 0.7  # on plain buttons; on coloured ones it would be unreadable


class ActionButton(QPushButton):
    """A button for an action; `hint` (by default the shortcut) follows its text, paler.

    `short` stands for the text of the action where that is long.

    It is visible and enabled while the action is.
    """

    def __init__(
        self, action: QAction, role: str = "plain", *, hint: str | None = None, short: str = ""
    ) -> None:
        super().__init__()
        self._action, self._hint, self._short = action, hint, short
        dress(self, role, clicked=action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    @property
    def hint(self) -> str:
        """The text behind the words."""
        return self._key() if self._hint is None else self._hint

    def _key(self) -> str:
        return self._action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)

    def set_hint(self, hint: str | None) -> None:
        """Change the hint; None for the shortcut."""
        if hint != self._hint:
            self._hint = hint
            self._follow()

    def _follow(self) -> None:
        self.setText(self._short or self._action.text())
        self.setEnabled(self._action.isEnabled())
        _show_if(self, self._action.isVisible())
        self.setAccessibleName(f"{self._action.text()} {self.hint}".strip())
        tip, key = self._action.toolTip(), self._key()
        self.setToolTip(f"{tip} ({key})" if key and key != self.hint else tip)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Leave room for the hint."""
        size = super().sizeHint()
        if self.hint:
            hint = self.fontMetrics().horizontalAdvance(self.hint)
            size.setWidth(size.width() + self._gap() + hint)
        return size

    def minimumSizeHint(self) -> QSize:
        """Never cut the words; drop the hint if there is no room."""
        return super().sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the style's frame with words and hint."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        with QPainter(self) as painter:
            control = QStyle.ControlElement.CE_PushButton
            self.style().drawControl(control, option, painter, self)
            self._draw_words(painter)

    def _gap(self) -> int:
        """Return the space between the words and the hint."""
        return self.fontMetrics().averageCharWidth()

    def _draw_words(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        words, hint = metrics.horizontalAdvance(self.text()), metrics.horizontalAdvance(self.hint)
        room = self.rect()
        gap = self._gap() if self.hint else 0
        if words + gap + hint > room.width() - 2 * STEP:
            gap = hint = 0
        left = (room.width() - words - gap - hint) // 2
        painter.setPen(self.palette().buttonText().color())
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(room.adjusted(left, 0, 0, 0), middle, self.text())
        if hint:
            font = painter.font()
            font.setWeight(font.Weight.Normal)
            painter.setFont(font)
            painter.setOpacity(HINT_OPACITY if self.property("role") == "plain" else 1.0)
            painter.drawText(room.adjusted(left + words + gap, 0, 0, 0), middle, self.hint)


class ActionChip(Chip):
    """A small round button for an action, checked while the action is."""

    def __init__(self, action: QAction) -> None:
        super().__init__(checkable=action.isCheckable())
        self._action = action
        dress(self, "chip", clicked=action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.setText(self._action.text())
        self.setChecked(self._action.isChecked())
        self.setEnabled(self._action.isEnabled())
        _show_if(self, self._action.isVisible())
        self.setToolTip(self._action.toolTip())


def _show_if(button: QPushButton, wanted: bool) -> None:
    """Show or hide a button; without a parent it would open as a window."""
    if not wanted:
        button.hide()
    elif button.parentWidget() is not None:
        button.show()
