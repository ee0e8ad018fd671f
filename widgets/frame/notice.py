"""Short notices at the foot of the window, which disappear by themselves.

A new notice replaces the old one. It stays while the mouse is over it or it has the focus.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from experiments.core.words import Words
from widgets.controls.basics import (
    IconButton,
    announce,
    button,
    label,
    row,
    show_text,
    takes_escape,
)
from widgets.sheets.overlay import give_focus
from widgets.style.look import Look
from widgets.style.theme import STEP

MARGIN = 4 * STEP
WIDTH_FRACTION = 0.9  # of the parent at most
MS_PER_S = 1000


class Notices(QFrame):
    """The notice at the foot of `parent`: one at a time."""

    def __init__(self, parent: QWidget, words: Words, look: Look) -> None:
        super().__init__(parent)
        self._parent = parent
        self._action: Callable[[], object] | None = None
        self.setProperty("role", "notice")
        self.setAccessibleName(words.say("notice.name"))
        self.text = label("", wrap=True)
        self.button = button("", "link", clicked=self._act)
        self.closer = IconButton(look, "close", words.say("notice.close"), clicked=self.dismiss)
        parts, edges = (self.text, self.button, self.closer), (4 * STEP, *(2 * STEP,) * 3)
        self.setLayout(row(*parts, space=3 * STEP, edges=edges, grows=0))
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._dismiss_if_unused)
        self._focus_before: QWidget | None = None
        look.changed.connect(self._arrange)
        parent.installEventFilter(self)
        self.hide()

    def tell(
        self,
        text: str,
        action_text: str | None = None,
        action: Callable[[], object] | None = None,
        seconds: float = 8,
    ) -> None:
        """Show a text for some seconds, with a button such as "Undo" if there is an action."""
        self._action = action
        self.text.setText(text)
        show_text(self.button, action_text or "")
        self.setAccessibleDescription(text)
        self._timer.start(round(seconds * MS_PER_S))
        if not self._has_focus():
            self._focus_before = QApplication.focusWidget()
        self._arrange()  # first: the mouse may rest at its old place
        self.show()
        self._arrange()  # a style sheet gives true sizes only to visible widgets
        self.raise_()
        announce(self, text)

    def dismiss(self) -> None:
        """Hide the notice, and give the focus back."""
        had_focus = self._has_focus()
        self._timer.stop()
        self.hide()
        if had_focus:
            give_focus(self._focus_before)
        self._focus_before = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move when the parent changes its size."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._arrange()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Disappear on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc before the window's shortcuts while the focus is here."""
        return takes_escape(event) or super().event(event)

    def _act(self) -> None:
        action = self._action
        self.dismiss()
        if action is not None:
            action()

    def _dismiss_if_unused(self) -> None:
        if self.underMouse() or self._has_focus():
            self._timer.start(MS_PER_S)
        else:
            self.dismiss()

    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def _arrange(self) -> None:
        """Centre the notice at the foot, as wide as its text needs."""
        most = round(self._parent.width() * WIDTH_FRACTION)
        self.text.setWordWrap(False)
        width = self.sizeHint().width()
        self.text.setWordWrap(width > most)
        width = min(width, most)
        height = self.heightForWidth(width) if width == most else self.sizeHint().height()
        left = (self._parent.width() - width) // 2
        self.setGeometry(left, self._parent.height() - height - MARGIN, width, height)
