"""The rows of a checkup: each a line that opens, and one stop for Tab."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from experiments.checkup.result import Word
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.checkup.page_data import RowData
from widgets.checkup.row_line import EDGE, RowLine
from widgets.controls.basics import button, column, discard, label, panel, selectable
from widgets.controls.layouts import FlowLayout
from widgets.lesson.arrow_focus import rove, step_to
from widgets.style.look import Look
from widgets.style.theme import STEP


class RowList(QFrame):
    """Rows below each other; `show_rows` keeps those that stay open, and the focus."""

    followed = Signal(str)  # the target of a link

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.rows: list[CheckRow] = []
        self.setProperty("role", "panel")
        self._column = column(space=0, edges=(1, STEP, 1, STEP))
        self.setLayout(self._column)

    def show_rows(self, rows: Sequence[RowData]) -> None:
        """Show these rows in this order."""
        old, self.rows = self.rows, []
        before = {row.data.key: row for row in old}
        stage = ""
        for place, data in enumerate(rows):
            row = before.pop(data.key, None) or self._row(data)
            row.tell(data, data.stage if data.stage != stage else "", is_first=place == 0)
            stage = data.stage
            if self._column.indexOf(row) != place:
                self._column.insertWidget(place, row)
            self.rows.append(row)
        gone = set(old) - set(self.rows)  # two of a stranger's file may have one key
        discard(*gone)
        lines = self.lines
        stop = next((each for each in lines if each.focusPolicy() & Qt.FocusPolicy.TabFocus), None)
        rove(lines, stop or next(iter(lines), None))

    @property
    def lines(self) -> list[RowLine]:
        """The lines in their order."""
        return [row.line for row in self.rows]

    def open_where(self, words: Collection[Word]) -> None:
        """Open the rows with one of these words, and close all others."""
        for row in self.rows:
            row.line.setChecked(row.data.word in words)

    def _row(self, data: RowData) -> CheckRow:
        row = CheckRow(data, self._words, self._look)
        row.line.stepped.connect(lambda key: step_to(self.lines, key))
        row.line.clicked.connect(lambda _checked=False: rove(self.lines, row.line))
        row.followed.connect(self.followed)
        return row


class CheckRow(QWidget):
    """One line, and below it while it is open what it means and what to do."""

    followed = Signal(str)

    def __init__(self, data: RowData, words: Words, look: Look) -> None:
        super().__init__()
        self.data, self._words = data, words
        self._rule = _hairline()
        self.line = RowLine(data, look)
        self.details: QFrame | None = None
        self._below = column()
        self.setLayout(column(self._rule, self.line, self._below, space=0))
        self.line.toggled.connect(self._turn)
        look.changed.connect(self._indent)

    def tell(self, data: RowData, stage: str, *, is_first: bool) -> None:
        """Show other values; `stage` is "" where the row above has the same."""
        has_changed, self.data = data != self.data, data
        self.line.tell(data, stage)
        self._rule.setVisible(not is_first)
        if has_changed and self.details is not None:
            discard(self.details)
            self.details = None
            self._turn(self.line.isChecked())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the details below the title."""
        super().resizeEvent(event)
        self._indent()

    def _turn(self, is_open: bool) -> None:
        if is_open and self.details is None:
            self.details = self._details()
            self._below.addWidget(self.details)
        if self.details is not None:
            self.details.setVisible(is_open)
        self._indent()

    def _indent(self) -> None:
        is_open = self.details is not None and self.line.isChecked()
        below = 3 * STEP if is_open else 0
        self._below.setContentsMargins(self.line.indent() if is_open else 0, 0, EDGE, below)

    def _details(self) -> QFrame:
        """Return what it means, what to do, how sure it is, and the links."""
        data, say = self.data, self._words.say
        frame = QFrame()
        frame.setProperty("role", "row-details")
        frame.setProperty("edge", str(data.word))
        parts: list[QWidget] = [_text(unbroken(escape(data.meaning)))] if data.meaning else []
        if data.advice:
            next_ = escape(say("checkup.next"))
            parts.append(_text(f"<b>{next_}:</b> {unbroken(escape(data.advice))}"))
        if data.sure:
            parts.append(label(unbroken(data.sure), "soft", wrap=True))
        inside = column(*parts, space=STEP, edges=(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP))
        links = [self._link(link.target, link.text) for link in data.links]
        inside.addLayout(FlowLayout(*links, label(data.rule, "small"), space=5 * STEP))
        frame.setLayout(inside)
        return frame

    def _link(self, target: str, text: str) -> QWidget:
        made = button(text, "flush-link", clicked=lambda: self.followed.emit(target))
        made.setAccessibleName(f"{text}: {self.data.title}")
        return made


def _text(html: str) -> QLabel:
    """Return a text with bold words, which can be selected by the mouse."""
    made = selectable(label(wrap=True))
    made.setTextFormat(Qt.TextFormat.RichText)
    made.setText(html)
    return made


def _hairline() -> QWidget:
    line = panel()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line
