"""A small round search field that stands among the chips above a list."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit

from widgets.controls.basics import takes_escape
from widgets.style.icons import icon, pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

SIGN_PX = 12  # at zoom 1
PADDING = 9  # of the role's style, border included


class SearchField(QLineEdit):
    """Enter and Down emit `left`, to move on to the list; Esc first clears the text."""

    left = Signal()

    def __init__(self, look: Look, name: str, width: int) -> None:
        super().__init__()
        self._look, self._width = look, width
        self.setProperty("role", "chip-search")
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        look.follow(self._fit)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon before the text; Qt's own icon would ignore the zoom."""
        super().paintEvent(event)
        side = self._side()
        with QPainter(self) as painter:
            sign = pixmap("search", self._look.theme.soft, side)
            painter.drawPixmap(PADDING, (self.height() - side) // 2, sign)

    def event(self, event: QEvent) -> bool:
        """Take Esc while there is text to clear."""
        return takes_escape(event, wanted=bool(self.text())) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the text, or move on to the list."""
        match event.key():
            case Qt.Key.Key_Escape if self.text():
                self.clear()
            case Qt.Key.Key_Escape | Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Down:
                self.left.emit()
            case _:
                super().keyPressEvent(event)

    def _side(self) -> int:
        return round(SIGN_PX * self._look.theme.zoom)

    def setClearButtonEnabled(self, enable: bool) -> None:
        """Let a cross clear the text: our icon instead of Qt's disc."""
        super().setClearButtonEnabled(enable)
        self._fit()

    def _fit(self) -> None:
        for cross in self.findChildren(QAction):  # the field has no other
            cross.setIcon(icon("close", self._look.theme.soft))
        self.setFixedWidth(round(self._width * self._look.theme.zoom))
        self.setTextMargins(self._side() + STEP, 0, 0, 0)
