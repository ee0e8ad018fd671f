"""A line that counts the checks by verdict; those to look at stand out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from experiments.checkup.result import Word
from widgets.checkup.sign import colour_of
from widgets.style.look import Look

LOUD = (Word.LOOK, Word.PROBLEM)

Count = tuple[Word, int, str]  # the word, how often, and that as a text


class CountLine(QLabel):
    """Hidden while there is nothing to count."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._counts: Sequence[Count] = ()
        self.setProperty("role", "count")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.hide()
        look.changed.connect(self._write)

    def show_counts(self, counts: Sequence[Count]) -> None:
        """Show these counts; hide for none."""
        self._counts = counts
        self.setAccessibleName(" · ".join(text for _, _, text in counts))
        self.setVisible(bool(counts))
        self._write()

    def _write(self) -> None:
        theme = self._look.theme
        self.setText(
            " · ".join(
                f'<b style="color: {colour_of(word, theme)}">{escape(text)}</b>'
                if word in LOUD and count
                else escape(text)
                for word, count, text in self._counts
            )
        )
