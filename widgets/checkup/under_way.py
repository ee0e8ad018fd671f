"""The progress of a checkup, its current step, and Stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, label, row, show_text
from widgets.style.theme import STEP

PARTS = 1000  # of the bar


class UnderWay(QWidget):
    """Hidden while nothing is under way."""

    stop_wanted = Signal()

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._doing, self._left = label("", "strong", wrap=True), label("", "soft")
        self._note = label("", "doubt", wrap=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(words.say("checkup_page.progress"))
        stop, help_ = words.say("checkup_page.stop"), words.say("checkup_page.stop_help")
        self.stop = button(stop, "stop", clicked=self.stop_wanted.emit, tip=help_)
        self.stop.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        head = row(self._doing, self._left, space=4 * STEP, grows=0)
        layout = row(column(head, self._bar, self._note), self.stop, space=6 * STEP, grows=0)
        layout.setAlignment(self.stop, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(layout)
        self.hide()

    def tell(self, doing: str, left: str = "", fraction: float | None = None) -> None:
        """Show what is done now; without a fraction the bar only moves."""
        self._doing.setText(doing)
        self._left.setText(left)
        self._bar.setRange(0, 0 if fraction is None else PARTS)
        if fraction is not None:
            self._bar.setValue(round(fraction * PARTS))
        self._bar.setAccessibleDescription(" ".join(filter(None, (doing, left))))
        self.show()

    def note(self, text: str) -> None:
        """Say why it waits; "" for nothing."""
        show_text(self._note, text)

    def allow_stop(self, allowed: bool) -> None:
        """Let Stop be pressed, once."""
        self.stop.setEnabled(allowed)
