"""The window that a class sees: the slide, black when that is asked for, and a thin strip."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent, QMouseEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from experiments.core.words import Words
from widgets.controls.basics import row
from widgets.lecture.over import Over
from widgets.lecture.slide import Slide
from widgets.style.look import Look
from widgets.style.theme import STEP, Theme

EDGE_PX = 2 * STEP  # at the bottom, where the mouse calls the strip
OnKey = Callable[[QKeyEvent], bool]


class LectureWindow(QWidget):
    """A window that a lecture shows full screen. It emits `closed` when a person closes it."""

    closed = Signal()

    def __init__(self, name: str, look: Look, on_key: OnKey) -> None:
        super().__init__()
        self._on_key = on_key
        self.setWindowTitle(name)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.over = Over(look, self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hand the key to who leads the lecture."""
        if not self._on_key(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit `closed`: the lecture ends with its window."""
        event.accept()
        self.closed.emit()


class Audience(LectureWindow):
    """A slide over a whole screen."""

    def __init__(self, words: Words, look: Look, on_key: OnKey) -> None:
        super().__init__(words.say("lecture.audience"), look, on_key)
        self.setMouseTracking(True)
        self.slide = Slide(words, look)
        self.slide.setParent(self)
        self._black = QWidget(self)
        self._black.setAutoFillBackground(True)
        dark = QPalette()
        dark.setColor(QPalette.ColorRole.Window, QColor(Qt.GlobalColor.black))
        self._black.setPalette(dark)
        self._black.hide()
        self.strip = Strip(look.theme)
        self.strip.setParent(self)
        self.strip.hide()
        self._is_pinned = self._is_called = False
        for each in (self.slide, *self.slide.findChildren(QWidget)):
            each.setMouseTracking(True)

    def blacken(self, on: bool) -> None:
        """Hide the slide behind black, or show it."""
        self._black.setVisible(on)
        if on:
            self._black.raise_()
            self.strip.raise_()
            self.over.raise_()

    @property
    def is_black(self) -> bool:
        """Is the slide hidden?"""
        return not self._black.isHidden()

    def pin_strip(self) -> None:
        """Keep the strip in sight, or let it go."""
        self._is_pinned = not self._is_pinned
        self._show_strip()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the strip while the mouse is at the bottom edge."""
        super().mouseMoveEvent(event)
        room = self.strip.height() if self._is_called else EDGE_PX
        self._is_called = event.position().y() >= self.height() - room
        self._show_strip()

    def leaveEvent(self, event: QEvent) -> None:
        """Let the strip go."""
        super().leaveEvent(event)
        self._is_called = False
        self._show_strip()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the screen."""
        super().resizeEvent(event)
        self.slide.setGeometry(self.rect())
        self._black.setGeometry(self.rect())
        height = self.strip.sizeHint().height()
        self.strip.setGeometry(0, self.height() - height, self.width(), height)

    def _show_strip(self) -> None:
        self.strip.setVisible(self._is_pinned or self._is_called)
        self.strip.raise_()
        self.over.raise_()


class Strip(QFrame):
    """One line for the presenter that the audience can live with."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAutoFillBackground(True)
        colours = QPalette()
        colours.setColor(QPalette.ColorRole.Window, QColor(theme.panel))
        self.setPalette(colours)
        self._left, self._right = QLabel(), QLabel()
        for each, colour in ((self._left, theme.soft), (self._right, theme.ink)):
            each.setTextFormat(Qt.TextFormat.PlainText)
            each.setFont(theme.font("note"))
            each.setStyleSheet(f"color: {colour}; font-size: {theme.px('note')}px")
        self._right.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        edges = (4 * STEP, STEP, 4 * STEP, STEP)
        self.setLayout(row(self._left, None, self._right, space=4 * STEP, edges=edges))

    def show_text(self, left: str, right: str) -> None:
        """Show where the lecture is, and what comes next."""
        self._left.setText(left)
        self._right.setText(right)

    @property
    def text(self) -> str:
        """All that it says."""
        return f"{self._left.text()} {self._right.text()}"
