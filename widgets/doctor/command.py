"""A command to copy, or the address of a page to open."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame

from experiments.core.words import Words
from widgets.controls.basics import button, label, row, selectable
from widgets.style.look import Look
from widgets.style.theme import STEP

_LEAST_PX = 60  # least width; a command wraps between words


class Command(QFrame):
    """One command or address, with its button."""

    def __init__(self, text: str, words: Words, look: Look) -> None:
        super().__init__()
        self._text, self._words, self._look = text, words, look
        self.setProperty("role", "command")
        is_page = text.startswith("https://")
        self._shown = selectable(label(text, wrap=True))
        self._shown.setMinimumWidth(_LEAST_PX)
        self.button = button(
            words.say("doctor.page.read" if is_page else "doctor.page.copy"),
            "small-link",
            clicked=self._open if is_page else self._copy,
        )
        self.button.setAccessibleDescription(text)
        edges = (3 * STEP, STEP + 2, 3 * STEP, STEP + 2)
        layout = row(self._shown, self.button, space=4 * STEP, edges=edges, grows=0)
        layout.setAlignment(self.button, Qt.AlignmentFlag.AlignTop)
        self.setLayout(layout)
        look.follow(self._restyle)

    def _restyle(self) -> None:
        self._shown.setFont(self._look.theme.font("note", mono=True))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.button.setText(self._words.say("trouble.copied"))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._text))
