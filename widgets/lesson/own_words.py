"""Room to say in one's own words why a run came out so, and the worksheet that holds it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, label, row
from widgets.experiment.action_button import ActionButton
from widgets.style.look import Look
from widgets.style.theme import STEP

LINES = 3
PAUSE_MS = 800  # after the last letter, what was written is kept


class OwnWords(QWidget):
    """`written` carries the text once writing pauses, or the keyboard goes elsewhere."""

    written = Signal(str)

    def __init__(self, words: Words, look: Look, worksheet: QAction) -> None:
        super().__init__()
        self._look = look
        name = words.say("worksheet.own_words")
        self.text = QPlainTextEdit()
        self.text.setProperty("role", "note")
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(name)
        self.text.setPlaceholderText(words.say("worksheet.own_words_hint"))
        self.text.textChanged.connect(self._wait)
        self.text.installEventFilter(self)
        self._kept = ""
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self.keep)
        button = row(ActionButton(worksheet), None)
        self.setLayout(column(label(name, "strong"), self.text, button, space=2 * STEP))
        look.follow(self._fit)

    def show_text(self, text: str) -> None:
        """Show what was written about another run; unsaved words are kept first."""
        self.keep()
        self._kept = text
        if text != self.text.toPlainText():
            self.text.setPlainText(text)

    def keep(self) -> None:
        """Hand on what was written since."""
        self._pause.stop()
        text = self.text.toPlainText().strip()
        if text != self._kept:
            self._kept = text
            self.written.emit(text)

    def hideEvent(self, event: QHideEvent) -> None:
        """Keep the text when the page or the window goes."""
        super().hideEvent(event)
        self.keep()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the text when the keyboard goes elsewhere."""
        if event.type() == QEvent.Type.FocusOut:
            self.keep()
        return super().eventFilter(watched, event)

    def _wait(self) -> None:
        if self.text.toPlainText().strip() != self._kept:
            self._pause.start()

    def _fit(self) -> None:
        self.text.setFixedHeight(round(self._look.theme.px("text") * 1.25 * LINES) + 5 * STEP)
