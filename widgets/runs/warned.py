"""How is something told that asks for a look? A sentence behind the sign for it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.basics import label, row
from widgets.icons import pixmap
from widgets.look import Look

ICON = 16  # pixels at zoom 1


class Warned(QWidget):
    """One sentence, which may be empty."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._sign, self._text = QLabel(), label("", "attention", wrap=True)
        layout = row(self._sign, self._text)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        look.changed.connect(self._draw)
        self._draw()

    def text(self) -> str:
        """Return the sentence."""
        return self._text.text()

    def setText(self, text: str) -> None:
        """Show another sentence."""
        self._text.setText(text)

    def _draw(self) -> None:
        theme = self._look.theme
        size, ratio = round(ICON * theme.zoom), self.devicePixelRatioF()
        self._sign.setPixmap(pixmap("attention", theme.attention, size, ratio))
