"""A modal sheet over the page, inside the window.

While it is open it gets all keys: the window's shortcuts are off, and Tab stays on the sheet. Esc
or a click beside it closes it, and the focus returns to where it was.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from widgets.controls.basics import IconButton, announce, label, panel, row
from widgets.controls.tab_order import go_on
from widgets.style.look import Look
from widgets.style.theme import SIZES, STEP

VEIL_ALPHA = 0.75  # the page below stays recognisable
MARGIN = 6 * STEP  # between the sheet and the edge of the window


class Overlay(QWidget):
    """A sheet over `parent`, used once. Fill `content`, then `open()`; it ends with `closed`."""

    closed = Signal()

    def __init__(self, parent: QWidget, *, width_px: int, top: bool = False) -> None:
        """Make a sheet `width_px` wide at zoom 1, in the middle or near the `top`."""
        super().__init__(parent)
        self._window, self._width, self._top = parent, width_px, top
        self._focus_before: QWidget | None = None
        self.sheet = panel()
        self.sheet.setParent(self)
        self.content = QVBoxLayout(self.sheet)
        self.content.setContentsMargins(6 * STEP, 5 * STEP, 6 * STEP, 6 * STEP)
        self.content.setSpacing(3 * STEP)
        self.sheet.installEventFilter(self)
        parent.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show the sheet above the window's content, and focus it."""
        # The window knows: while a system dialog closes, the application has no focus widget.
        self._focus_before = self.window().focusWidget()
        self._arrange()
        self.show()
        self.raise_()
        self.setFocus()
        if self.window().focusWidget() in (self, self._focus_before):
            self.focusNextPrevChild(True)
        if self.accessibleName():
            announce(self, self.accessibleName())

    def dismiss(self) -> None:
        """Close and delete the sheet, and give the focus back."""
        if self.isHidden():
            return
        self.hide()
        give_focus(self._focus_before)
        self.closed.emit()
        self.deleteLater()

    def add_area(self, area: QScrollArea, around_px: int) -> None:
        """Add an area as high as what it scrolls; above and below it stays room in the window."""
        shown, margins = area.widget(), self.content.contentsMargins()
        assert shown is not None  # each is made with one
        for each in (shown, *shown.findChildren(QWidget)):
            each.ensurePolished()  # otherwise their heights are wrong
        height = shown.heightForWidth(self._sheet_px() - margins.left() - margins.right())
        area.setFixedHeight(min(height + 2 * STEP, self._window.height() - around_px))
        self.content.addWidget(area)

    def add_head(self, title: str, close_text: str, look: Look) -> None:
        """Add a title with a close button above the content."""
        self.setAccessibleName(title)
        self.closer = IconButton(look, "close", close_text, clicked=self.dismiss)
        self.content.addLayout(row(label(title, "head"), None, self.closer))
        self.content.addSpacing(STEP)

    def event(self, event: QEvent) -> bool:
        """Take all keys before the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrange the sheet when the window or its content changes size."""
        if event.type() == (
            QEvent.Type.Resize if watched is self._window else QEvent.Type.LayoutRequest
        ):
            self._arrange()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc, press the focused button on Enter; swallow all other keys."""
        event.accept()
        focused = QApplication.focusWidget()
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(
            focused, QAbstractButton
        ):
            focused.click()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close on a click beside the sheet."""
        event.accept()
        if not self.sheet.geometry().contains(event.position().toPoint()):
            self.dismiss()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Keep Tab on the sheet."""
        go_on(self, forward=forward)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim the page below."""
        veil = self.palette().window().color()
        veil.setAlphaF(VEIL_ALPHA)
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), veil)

    def _arrange(self) -> None:
        """Cover the window, and place the sheet."""
        self.setGeometry(QRect(0, 0, self._window.width(), self._window.height()))
        width = self._sheet_px()
        height = self.sheet.sizeHint().height()
        if self.sheet.hasHeightForWidth():
            height = self.sheet.heightForWidth(width)
        height = min(height, self.height() - 2 * MARGIN)
        above = self.height() // 9 if self._top else (self.height() - height) // 2
        above = min(above, self.height() - height - MARGIN)
        self.sheet.setGeometry((self.width() - width) // 2, above, width, height)

    def _sheet_px(self) -> int:
        zoom = self.font().pixelSize() / SIZES["text"]
        return min(round(self._width * zoom), self._window.width() - 2 * MARGIN)


def give_focus(widget: QWidget | None) -> None:
    """Give the focus back to a widget that had it, if it still exists."""
    if widget is not None and isValid(widget):
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
