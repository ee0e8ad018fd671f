"""The line of one check: stage, sign, title, what was measured and expected, and the word."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from widgets.checkup.page_data import RowData
from widgets.checkup.sign import colour_of, draw_sign
from widgets.controls.basics import follow_width, tip
from widgets.controls.wrapped import draw_lines, line_px, wrapped
from widgets.style.look import Look
from widgets.style.signs import side_px
from widgets.style.theme import STEP, Theme

EDGE, PAD = 5 * STEP, 3 * STEP  # left and right of a line; above and below its text
GAP = 4 * STEP  # between two columns
STAGE = 108  # pixels of the first column, at zoom 1
TITLE, FOUND = 0.25, 0.335  # shares of what sign, stage and word leave
NARROW = 640  # pixels for title, found and expected at zoom 1; below they stand in lines
MOST_LINES = 3  # of one text; the tooltip has the rest
OPENS, CLOSES = Qt.Key.Key_Right, Qt.Key.Key_Left
TURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
STEPS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)


class _Text(NamedTuple):
    """A text at its place."""

    text: str
    font: QFont
    colour: str
    room: QRectF


class RowLine(QAbstractButton):
    """A line to press; it is checked while the row is open. Emits `stepped` for up and down."""

    stepped = Signal(int)  # the key

    def __init__(self, data: RowData, look: Look) -> None:
        super().__init__()
        self._data, self._look, self._stage = data, look, ""
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab stops at one line of the list
        follow_width(self, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Expanding)
        look.changed.connect(self.updateGeometry)
        self.tell(data, "")

    def tell(self, data: RowData, stage: str) -> None:
        """Show a row; `stage` is "" where the row above has the same."""
        self._data, self._stage = data, stage
        self.setAccessibleName(data.spoken)
        self.setAccessibleDescription(" ".join(filter(None, (data.meaning, data.advice))))
        self.setToolTip(tip(data.found) if self._is_cut() else "")
        self.updateGeometry()
        self.update()

    def indent(self) -> int:
        """Return the x of the title, under which the details begin."""
        return round(self._left(self.width()) + self._sign_px())

    def hasHeightForWidth(self) -> bool:
        """Say that a narrow line needs more height."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all texts with padding."""
        return round(max(text.room.bottom() for text in self._texts(width)) + PAD)

    def sizeHint(self) -> QSize:
        """Return the height at the present width."""
        return QSize(0, self.heightForWidth(max(self.width(), 1)))

    def minimumSizeHint(self) -> QSize:
        """Let the line become narrow."""
        return QSize(0, self.heightForWidth(max(self.width(), 1)))

    def event(self, event: QEvent) -> bool:
        """Show whether the mouse is over it, and which text is cut at another width."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.update()
        elif event.type() == QEvent.Type.Resize:
            self.setToolTip(tip(self._data.found) if self._is_cut() else "")
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open and close, or go to another line."""
        if event.key() in TURNS:
            self.click()
        elif event.key() in (OPENS, CLOSES):
            if self.isChecked() is not (event.key() == OPENS):
                self.click()
        elif event.key() in STEPS:
            self.stepped.emit(event.key())
        else:
            event.ignore()  # not QAbstractButton's, which goes to any button near by

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line."""
        theme, width = self._look.theme, self.width()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_ground(painter)
            top = self._head_px(width) + PAD
            middle = QPointF(
                self._left(width) + side_px(theme) / 2, top + line_px(theme.font("text")) / 2
            )
            draw_sign(painter, self._data.word, middle, theme)
            for text in self._texts(width):
                painter.setPen(QColor(text.colour))
                draw_lines(painter, text.room, text.text, text.font, MOST_LINES)

    def _draw_ground(self, painter: QPainter) -> None:
        theme = self._look.theme
        inner = QRectF(self.rect()).adjusted(2 * STEP, 3, -2 * STEP, -3)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 2))
        elif self.underMouse():
            painter.setPen(QPen(QColor(theme.line), 1))
        else:
            return
        painter.drawRoundedRect(inner, 6, 6)

    # --- where everything stands ----------------------------------------------------------------

    def _texts(self, width: int) -> list[_Text]:
        """Return every text at its place in a line of this width."""
        theme, data = self._look.theme, self._data
        bold, plain = theme.font("text", weight=600), theme.font("text")
        note, mono = theme.font("note"), theme.font("note", mono=True)
        word = theme.font("text", weight=500)
        word_px = QFontMetricsF(word).horizontalAdvance(data.word_text) + 1
        left, right = self._left(width) + self._sign_px(), float(width - EDGE)
        top = float(self._head_px(width) + PAD)
        texts = [
            _placed(
                data.word_text, word, colour_of(data.word, theme), right - word_px, top, word_px
            )
        ]
        if self._is_wide(width):
            room = right - left - self._word_px(theme) - GAP
            places = (0.0, TITLE * room, (TITLE + FOUND) * room, room + GAP)
            columns = [(x, after - x - GAP) for x, after in itertools.pairwise(places)]
            parts = ((data.title, bold, theme.ink), (data.found, mono, theme.ink),
                     (data.expected, plain, theme.soft))  # fmt: skip
            for (x, wide), (text, font, colour) in zip(columns, parts, strict=True):
                texts.append(_placed(text, font, colour, left + x, top, wide, like=bold))
            if self._stage:
                texts.append(_placed(self._stage, note, theme.soft, EDGE, top, STAGE, like=bold))
            return texts
        if self._stage:
            texts.append(_placed(self._stage, note, theme.soft, EDGE, PAD, right - EDGE))
        texts.append(_placed(data.title, bold, theme.ink, left, top, right - left - word_px - GAP))
        for text, font, colour in (
            (data.found, mono, theme.ink),
            (data.expected, note, theme.soft),
        ):
            if text:
                below = texts[-1].room.bottom() + STEP / 2
                texts.append(_placed(text, font, colour, left, below, right - left))
        return texts

    def _is_cut(self) -> bool:
        """Does what was measured not fit?"""
        return any(
            len(wrapped(text.text, text.font, text.room.width(), MOST_LINES + 1)) > MOST_LINES
            for text in self._texts(self.width())
        )

    def _is_wide(self, width: int) -> bool:
        theme = self._look.theme
        taken = 2 * EDGE + STAGE * theme.zoom + self._sign_px() + self._word_px(theme) + GAP
        return width - taken >= NARROW * theme.zoom

    def _left(self, width: int) -> float:
        """Return where the sign begins."""
        return EDGE + (STAGE * self._look.theme.zoom if self._is_wide(width) else 0)

    def _head_px(self, width: int) -> float:
        """Return the height of the stage above a narrow line."""
        if self._is_wide(width) or not self._stage:
            return 0.0
        return line_px(self._look.theme.font("note")) + STEP

    def _sign_px(self) -> int:
        return side_px(self._look.theme) + 3 * STEP

    def _word_px(self, theme: Theme) -> float:
        """Return the width of the column of words, the same in all lines."""
        return 27 * STEP * theme.zoom


def _placed(
    text: str,
    font: QFont,
    colour: str,
    left: float,
    top: float,
    width: float,
    *,
    like: QFont | None = None,
) -> _Text:
    """Return a text below `top`; its first line stands in the middle of one of the font `like`."""
    lines = wrapped(text, font, width, MOST_LINES) if text else [""]
    lower = (line_px(like) - line_px(font)) / 2 if like is not None else 0.0
    room = QRectF(left, top + lower, max(1.0, width), len(lines) * line_px(font))
    return _Text(text, font, colour, room)
