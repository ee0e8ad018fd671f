"""The sheet for what was bought: lines of an invoice, and below them what became of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from experiments.core.problems import UserError
from experiments.core.words import Words
from widgets.checkup.page_data import RowData
from widgets.checkup.row_list import RowList
from widgets.controls.basics import button, label
from widgets.controls.layouts import FlowLayout, scrolling
from widgets.form.typed_input import ErrorLine
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 720
LINES, FEWEST_LINES = 7, 3  # of the field
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)

# Answers the lines of a text. Raises UserError where it cannot be an order.
Compare = Callable[[str], Sequence[RowData]]


class OrderSheet(Overlay):
    """Takes lines, and shows the answer to each as it is typed.

    Emits `wanted` with the text that was saved, or `left` with one that was not.
    """

    wanted, left = Signal(str), Signal(str)

    def __init__(
        self, words: Words, look: Look, parent: QWidget, text: str, compare: Compare
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words, self._compare, self._is_saved = words, compare, False
        say = words.say
        self.add_head(say("checkup_page.order_sheet.title"), say("overlay.close"), look)
        about = say("checkup_page.order_sheet.text")
        self.setAccessibleDescription(about)
        self.content.addWidget(label(about, wrap=True))
        self.lines = _Lines(self._save)
        self.lines.setAccessibleName(say("checkup_page.order_sheet.lines"))
        self.lines.setPlaceholderText(say("checkup_page.order_sheet.example"))
        self.lines.setPlainText(text)
        self.content.addWidget(self.lines)
        self.error = ErrorLine(look)
        self.content.addWidget(self.error)
        self._empty = label(say("checkup_page.order_sheet.empty"), "soft", wrap=True)
        self.content.addWidget(self._empty)
        self.answers = RowList(words, look)
        self._area = scrolling(self.answers, say("checkup_page.order_sheet.answers"))
        self.content.addWidget(self._area, 1)
        self.save = button(say("checkup_page.order_sheet.save"), "main", clicked=self._save)
        self.cancel = button(say("checkup_page.order_sheet.cancel"), clicked=self.dismiss)
        keys = label(say("checkup_page.order_sheet.keys"), "small")
        self.content.addLayout(FlowLayout(self.save, self.cancel, keys))
        self.setFocusProxy(self.lines)
        self.lines.textChanged.connect(self._answer)
        self._answer()

    def dismiss(self) -> None:
        """Close; a text that was not saved is handed on."""
        is_open = not self.isHidden()
        super().dismiss()
        if is_open and not self._is_saved:
            self.left.emit(self.lines.toPlainText())

    def _answer(self) -> None:
        """Compare the lines anew."""
        rows: Sequence[RowData] = ()
        problem = ""
        try:
            rows = self._compare(self.lines.toPlainText())
        except UserError as error:
            problem = self._words.say(f"problems.{error.problem.key}", error.problem.values)
        self.error.say(problem)
        self.save.setEnabled(not problem)
        self.answers.show_rows(rows)
        self._area.setVisible(bool(rows))
        self._empty.setVisible(not rows and not problem)

    def _save(self) -> None:
        if self.save.isEnabled():
            self._is_saved = True
            self.dismiss()
            self.wanted.emit(self.lines.toPlainText())


class _Lines(QPlainTextEdit):
    """A field for lines; Ctrl+Enter calls `done`, Tab goes on."""

    def __init__(self, done: Callable[[], object]) -> None:
        super().__init__()
        self._done = done
        self.setProperty("role", "note")
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)

    def showEvent(self, event: QShowEvent) -> None:
        """Be as high as some lines, which need the font of the style."""
        super().showEvent(event)
        line = self.fontMetrics().lineSpacing()
        self.setMinimumHeight(FEWEST_LINES * line + 4 * STEP)
        self.setMaximumHeight(LINES * line + 4 * STEP)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End with Ctrl+Enter."""
        is_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() in ENTER and is_control:
            self._done()
        else:
            super().keyPressEvent(event)
