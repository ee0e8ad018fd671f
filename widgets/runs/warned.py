"""A warning or a quiet notice: a sentence behind a sign."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.controls.basics import label, row, set_role
from widgets.style.icons import pixmap
from widgets.style.look import Look

ICON = 16  # pixels at zoom 1


class Warned(QWidget):
    """One sentence, which may be empty."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._is_quiet = look, False
        self._sign, self._text = QLabel(), label("", "attention", wrap=True)
        layout = row(self._sign, self._text, grows=1)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        self.setLayout(layout)
        look.follow(self._draw)

    def text(self) -> str:
        """Return the sentence."""
        return self._text.text()

    def setText(self, text: str, *, is_quiet: bool = False) -> None:
        """Show a sentence; a quiet one is no warning, since the user caused it."""
        self._text.setText(text)
        if is_quiet != self._is_quiet:
            self._is_quiet = is_quiet
            set_role(self._text, "value" if is_quiet else "attention")
            self._draw()

    def _draw(self) -> None:
        theme = self._look.theme
        size, ratio = round(ICON * theme.zoom), self.devicePixelRatioF()
        name, colour = ("stop", theme.soft) if self._is_quiet else ("attention", theme.attention)
        self._sign.setPixmap(pixmap(name, colour, size, ratio))
