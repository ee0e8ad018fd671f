"""A prediction by choice: one large row for each option."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QRadioButton

from experiments.core.teaching.lessons import Choice
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import Policy, column, follow_width, takes_key
from widgets.controls.choices import LEFT_WRAPPED, MOST_PX
from widgets.lesson.arrow_focus import MOVES, rove, step_to
from widgets.lesson.prediction_input import PredictionInput
from widgets.style.ink import draw_box, draw_words, painting
from widgets.style.look import Look
from widgets.style.theme import STEP

LETTERS = "ABCDEFGHIJ"
CORNER, AIR, EDGE = 6, 11, 3 * STEP  # pixels at zoom 1: corner; above and below, beside the text


class ChoiceInput(PredictionInput):
    """A click, a letter, or Enter on a row answers; arrow keys move along the rows."""

    def __init__(self, predict: Choice, words: Words, look: Look) -> None:
        super().__init__(predict.ask)
        self.rows: Sequence[OptionRow] = [
            OptionRow(letter, option.text, words, look)
            for letter, option in zip(LETTERS, predict.options, strict=False)
        ]
        for place, made in enumerate(self.rows):
            made.clicked.connect(lambda _=False, place=place: self._answer((float(place),)))
        self.setLayout(column(*self.rows))
        self._show()

    def focus_first(self) -> None:
        """Give the focus to the chosen row, or the first."""
        next((each for each in self.rows if each.isChecked()), self.rows[0]).setFocus()

    def event(self, event: QEvent) -> bool:
        """Take a letter before a shortcut of the window does."""
        return takes_key(event, wanted=self._row_of(event) is not None) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Answer by a letter, or move along the rows."""
        if (row := self._row_of(event)) is not None:
            row.setFocus()
            row.click()
        elif step_to(self.rows, event.key()) is None:
            super().keyPressEvent(event)

    def _row_of(self, event: QEvent) -> OptionRow | None:
        """Return the row whose letter was pressed."""
        if not isinstance(event, QKeyEvent) or event.modifiers():
            return None
        letter = event.text().upper()
        return next((each for each in self.rows if letter == each.letter), None)

    def _show(self) -> None:
        chosen = None if self._at is None else self.rows[int(self._at[0])]
        for each in self.rows:
            each.setAutoExclusive(False)  # else the last one could not be taken back
            each.setChecked(each is chosen)
            each.setAutoExclusive(True)
        rove(self.rows, chosen or self.rows[0])


class OptionRow(QRadioButton):
    """A letter and a text that wraps, in a frame that takes clicks everywhere."""

    def __init__(self, letter: str, text: str, words: Words, look: Look) -> None:
        super().__init__(unbroken(text))
        self.letter = letter
        self._look = look
        follow_width(self, Policy.Minimum)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(text)
        self.setAccessibleDescription(words.say("lesson.option_key", {"letter": letter}))
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return the size of one line."""
        words = QFontMetrics(self._look.theme.font("text")).horizontalAdvance(self.text())
        width = words + self._indent() + EDGE + STEP
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return a size that holds a word; the text wraps."""
        return QSize(4 * self._indent(), self.heightForWidth(MOST_PX))

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped text."""
        room = QRect(0, 0, max(1, width - self._indent() - EDGE), MOST_PX)
        metrics = QFontMetrics(self._look.theme.font("text"))
        words = metrics.boundingRect(room, LEFT_WRAPPED, self.text())
        return words.height() + 2 * round(AIR * self._look.theme.zoom)

    def hitButton(self, place: QPoint) -> bool:
        """Accept clicks everywhere."""
        return self.rect().contains(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Answer by Enter or Space; the rows above take all other keys."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in MOVES:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, the letter and the text."""
        theme, is_on = self._look.theme, self.isChecked()
        is_lit = self.isEnabled() and (is_on or self.underMouse())
        width = 2.0 if self.hasFocus() else 1.0
        edge = theme.accent if is_lit or self.hasFocus() else theme.soft if is_on else theme.line
        ink = theme.accent_word if is_on else theme.ink if self.isEnabled() else theme.soft
        inset = width / 2
        with painting(self) as painter:
            frame = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
            fill = theme.accent_wash if is_on else theme.panel
            draw_box(painter, frame, CORNER, edge, fill, width)
            place = QRect(EDGE, 0, self._indent() - EDGE, self.height())
            soft = theme.accent_word if is_on else theme.soft
            draw_words(painter, place, self.letter, theme.bold(), soft)
            room = self.rect().adjusted(self._indent(), 0, -EDGE, 0)
            draw_words(painter, room, self.text(), theme.font("text"), ink, LEFT_WRAPPED)

    def _indent(self) -> int:
        return EDGE + round(5 * STEP * self._look.theme.zoom)
