"""A plot over the whole window, until it goes back to its place."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.controls.basics import IconButton, label, row
from widgets.sheets.overlay import Overlay

FIRST = 100  # stretch of the plot: it takes all the room that it can use
MATCH = QKeySequence.SequenceMatch.ExactMatch


class FullPlot(Overlay):
    """Takes a plot out of its layout, and puts it back when it is closed by Esc or its key."""

    def __init__(
        self, plot: QWidget, home: QVBoxLayout, title: str, keys: QKeySequence, closer: IconButton
    ) -> None:
        self._plot, self._home, self._keys = plot, home, keys
        self._at, window = home.indexOf(plot), plot.window()
        self._stretch, self._had_focus = home.stretch(self._at), window.focusWidget()
        super().__init__(window, width_px=0)
        self.setAccessibleName(title)
        closer.clicked.connect(self.dismiss)
        self.content.addLayout(row(label(title, "head", wrap=True), closer, grows=0))
        self.content.addStretch(1)  # of a plot that cannot grow so high, below it too
        self.content.addWidget(plot, FIRST)
        self.content.addStretch(1)

    def open(self) -> None:
        """Cover the window, and give the plot the keys."""
        super().open()
        self._plot.setFocus(Qt.FocusReason.OtherFocusReason)

    def dismiss(self) -> None:
        """Put the plot back, and give the focus to what had it."""
        if not self.isHidden():
            self._home.insertWidget(self._at, self._plot, self._stretch)
        self._focus_before = self._had_focus
        super().dismiss()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close by the key that opened it too."""
        if self._keys.matches(QKeySequence(event.keyCombination())) == MATCH:
            event.accept()
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def _arrange(self) -> None:
        """Cover all of the window."""
        self.setGeometry(QRect(0, 0, self._window.width(), self._window.height()))
        self.sheet.setGeometry(self.rect())
