"""A few lines of Python to read, coloured, in a frame."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from widgets.controls.basics import column, label
from widgets.experiment.code_rows import closer, coloured, longest
from widgets.style.look import Look
from widgets.style.theme import STEP

LEAST_CHARACTERS = 12


class CodeBlock(QFrame):
    """Fits code to its width: a long line's remark moves closer, letters shrink, then it wraps."""

    def __init__(self, name: str, look: Look) -> None:
        super().__init__()
        self._look, self._code = look, ""
        self.setProperty("role", "panel")
        self._text = label()
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAccessibleName(name)
        # The letters follow the width, not the width the letters.
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.setLayout(column(self._text, edges=(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)))
        look.changed.connect(self._fit)

    def show_code(self, code: str) -> None:
        """Show code; nothing is shown of none."""
        self._code = code.strip("\n")
        self._text.setAccessibleDescription(self._code)
        self.setVisible(bool(self._code))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the code to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - 8 * STEP - 2
        code, size = self._fitting(room)
        most = int(room / self._advance(size))
        theme = self._look.theme
        font = theme.font(size, mono=True)
        self._text.setFont(font)  # HTML cannot say that signs stay apart
        text = coloured(code, font, max(LEAST_CHARACTERS, most), theme)
        if text != self._text.text():
            self._text.setText(text)

    def _fitting(self, room: int) -> tuple[str, str]:
        """Return the code and the size of its letters."""
        close = closer(self._code)
        for code, size in ((self._code, "note"), (close, "note"), (close, "small")):
            if longest(code) * self._advance(size) <= room:
                return code, size
        return close, "small"

    def _advance(self, size: str) -> float:
        """Return the width of a character; the font is monospaced."""
        return QFontMetricsF(self._look.theme.font(size, mono=True)).horizontalAdvance("0")
