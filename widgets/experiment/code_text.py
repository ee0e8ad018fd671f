"""Python code to be read: coloured, some of its lines marked."""

from __future__ import annotations

import math

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from widgets.experiment.highlighting import PythonHighlighter
from widgets.style.look import Look

WASH_ALPHA = 36
MOST_PX = 2**24 - 1  # Qt's own: as high as may be


class CodeText(QPlainTextEdit):
    """A text that can be read, scrolled, selected and copied. Lines count from 1."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._is_whole = look, False
        self._marked: tuple[int, int] | None = None
        self.setReadOnly(True)
        self.setProperty("role", "code")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self._colours = PythonHighlighter(self.document(), look)
        look.follow(self._restyle)

    def show_text(
        self, text: str, top: int, marked: tuple[int, int] | None = None, *, is_whole: bool = False
    ) -> None:
        """Show a text from line `top` on, with the lines from `marked[0]` to `marked[1]` marked.

        It takes all the room, or where it is seen whole no more than its lines need.
        """
        self._marked, self._is_whole = marked, is_whole
        self._colours.read(text)
        self.setPlainText(text)
        self._restyle()
        block = self.document().findBlockByNumber(top - 1)
        self.setTextCursor(QTextCursor(block))
        self.verticalScrollBar().setValue(block.firstLineNumber())

    def _restyle(self) -> None:
        self.setFont(self._look.theme.font("note", mono=True))
        self._wash()
        most = MOST_PX
        if self._is_whole:
            frame = 2 * (self.frameWidth() + round(self.document().documentMargin()))
            bar = self.horizontalScrollBar().sizeHint().height()
            line = self.blockBoundingRect(self.firstVisibleBlock()).height()
            # Qt scrolls by whole lines: without room for one more it shows a bar for none.
            most = math.ceil((self.blockCount() + 1) * line) + frame + bar
        self.setMaximumHeight(most)

    def _wash(self) -> None:
        colour = QColor(self._look.theme.accent)
        colour.setAlpha(WASH_ALPHA)
        shown = QTextCharFormat()
        shown.setBackground(colour)
        shown.setProperty(QTextFormat.Property.FullWidthSelection, True)
        first, last = self._marked or (1, 0)
        washes = []
        for number in range(first - 1, last):
            wash = QTextEdit.ExtraSelection()
            wash.cursor = QTextCursor(self.document().findBlockByNumber(number))
            wash.format = shown
            washes.append(wash)
        self.setExtraSelections(washes)
