"""The files of an experiment, to read, copy and save."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QButtonGroup, QPlainTextEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import chip, column, row
from widgets.controls.layouts import FlowLayout
from widgets.experiment.highlighting import PythonHighlighter
from widgets.style.look import Look
from widgets.style.theme import STEP

MEASURES = re.compile(r"^def measure\b", re.MULTILINE)  # what a declaration calls so
BEGINS = re.compile(r"^(?:@|def |class )", re.MULTILINE)


class CodeView(QWidget):
    """One file at a time; all of them are offered as one script, which others make."""

    copy_wanted = Signal()
    save_wanted = Signal()

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._files: Sequence[tuple[str, str]] = ()
        self._chips = QButtonGroup(self)
        self._chooser = FlowLayout()
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setProperty("role", "code")
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName(words.say("page.code"))
        self._colours = PythonHighlighter(self._text.document(), look)
        copy, save = chip(words.say("page.copy_script")), chip(words.say("page.save_script"))
        for use, wanted in ((copy, self.copy_wanted), (save, self.save_wanted)):
            use.setToolTip(words.say("page.script_help"))
            use.clicked.connect(lambda _checked=False, wanted=wanted: wanted.emit())
        uses = row(copy, save)
        head = row(self._chooser, uses, space=4 * STEP)
        head.setStretch(0, 1)
        head.setAlignment(uses, Qt.AlignmentFlag.AlignTop)
        self.setLayout(column(head, self._text, space=3 * STEP))
        look.changed.connect(self._restyle)
        self._restyle()

    def show_sources(self, files: Sequence[tuple[str, str]]) -> None:
        """Show the first of these files, (name, text), and offer the others."""
        self._files = files
        for old in self._chips.buttons():
            self._chips.removeButton(old)
            self._chooser.removeWidget(old)
            old.deleteLater()
        for place, (name, text) in enumerate(files):
            made = chip(name, checkable=True)
            if MEASURES.search(text):
                made.setToolTip(self._words.say("page.code_help"))
            made.clicked.connect(lambda _checked=False, place=place: self._show(place))
            self._chips.addButton(made, place)
            self._chooser.addWidget(made)
        self._show(0)

    def _show(self, place: int) -> None:
        text = self._files[place][1] if self._files else ""
        self._colours.read(text)
        self._text.setPlainText(text)
        block = self._text.document().findBlockByNumber(_first_line(text))
        self._text.setTextCursor(QTextCursor(block))
        self._text.verticalScrollBar().setValue(block.firstLineNumber())
        if self._files:
            self._chips.button(place).setChecked(True)

    def _restyle(self) -> None:
        self._text.setFont(self._look.theme.font("note", mono=True))


def _first_line(text: str) -> int:
    """Return where one begins to read: at what measures, in a helper behind its imports."""
    found = MEASURES.search(text) or BEGINS.search(text)
    return text.count("\n", 0, found.start()) if found else 0
