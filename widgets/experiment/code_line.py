"""Painting of one line of code: sign, number, coloured code, and a note below.

A long line is wrapped, so that nothing scrolls sideways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from experiments.core.units import unbroken
from widgets.experiment.highlighting import Span, colour_of
from widgets.style.icons import pixmap
from widgets.style.ink import RIGHT, draw_box, draw_words
from widgets.style.look import Look
from widgets.style.theme import STEP, Theme

SIGN_PX = 14  # at zoom 1
AIR_PX = 2  # above and below a line, at zoom 1
WASH_ALPHA = 36
CORNER = 4.0
READABLE_PX = 640  # of a note, at zoom 1
LEAST_PX = 120
HANG = 4  # characters of extra indent in wrapped rows
LINE_ROLE = Qt.ItemDataRole.UserRole

Index = QModelIndex | QPersistentModelIndex
WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class Mark(Enum):
    """The state of a line of code."""

    NONE = auto()
    SOUND = auto()
    FOUND = auto()
    SHOWN = auto()
    CHANGED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: its text, its mark, and that in words; the note begins with `code`."""

    number: int
    text: str
    mark: Mark = Mark.NONE
    remark: str = ""
    code: str = ""
    note: str = ""

    def said(self) -> str:
        """Return what is known about it."""
        return ". ".join(part for part in (self.remark.rstrip("."), self.code, self.note) if part)

    def spoken(self) -> str:
        """Return all of it, for screen readers."""
        return f"{self.number}: {self.text.strip()}. {self.said()}".strip()


class LinePainter(QStyledItemDelegate):
    """Draws sign, number, code, remark, and the note below."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look
        self.width = 0  # of a line, in pixels
        self.spans: Sequence[Sequence[Span]] = ()

    def height_of(self, line: Line) -> int:
        """Return the height of a line with its note."""
        rows = len(self._rows(line.text)) + (not self._has_room_beside(line))
        return self._air_px() + rows * self._row_px() + self._note_px(line)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of a line; its width is the list's."""
        return QSize(0, self.height_of(index.data(LINE_ROLE)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one line."""
        line: Line = index.data(LINE_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, line)
        rect = QRect(option.rect)
        rect.setTop(rect.top() + self._air_px() // 2)
        rect.setHeight(self._row_px())
        self._paint_number(painter, rect, line)
        rect.setLeft(rect.left() + self._gutter_px())
        self._paint_code(painter, rect, line, index.row())
        if line.note:
            self._paint_note(painter, rect, line)
        if option.state & QStyle.StateFlag.State_HasFocus:
            seen = QRectF(option.rect).adjusted(1, 1, -1, -1)
            draw_box(painter, seen, CORNER, self._look.theme.accent, width=1.5)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        is_below_mouse = bool(option.state & QStyle.StateFlag.State_MouseOver)
        has_sign = line.mark in _SIGNS
        colour = QColor(_colour_of(line.mark, self._look.theme))
        colour.setAlpha(WASH_ALPHA if has_sign else WASH_ALPHA // 2)
        if has_sign or is_below_mouse:
            draw_box(painter, QRectF(option.rect), CORNER, fill=colour)

    def _paint_number(self, painter: QPainter, rect: QRect, line: Line) -> None:
        theme = self._look.theme
        side = self._sign_px()
        if line.mark in _SIGNS:
            name, colour = _SIGNS[line.mark], _colour_of(line.mark, theme)
            ratio = painter.device().devicePixelRatioF()
            top = rect.top() + (rect.height() - side) / 2
            painter.drawPixmap(QPointF(rect.left() + STEP, top), pixmap(name, colour, side, ratio))
        rect = rect.adjusted(0, 0, self._gutter_px() - 2 * STEP - rect.width(), 0)
        font = theme.font("note", mono=True)
        draw_words(painter, rect, str(line.number), font, theme.soft, RIGHT)

    def _paint_code(self, painter: QPainter, rect: QRect, line: Line, row: int) -> None:
        """Draw the coloured code and the remark; leave `rect` at the last row."""
        theme, step = self._look.theme, self._step_px()
        coloured = self.spans[row] if row < len(self.spans) else ()
        colours = [theme.ink] * len(line.text)
        for start, end, kind in coloured:
            end = min(end, len(line.text))
            colours[start:end] = [colour_of(kind, theme)] * (end - start)
        rows = self._rows(line.text)
        left = x = float(rect.left())
        for place, (start, end) in enumerate(rows):
            x = left + (self._hang(line.text) * step if place else 0.0)
            painter.setFont(theme.font("note", mono=True))
            baseline = self._baseline(rect)
            for at in range(start, end):
                painter.setPen(QColor(colours[at]))
                painter.drawText(QPointF(x, baseline), line.text[at])
                x += step
            rect.translate(0, self._row_px() if place < len(rows) - 1 else 0)
        if line.remark:
            x += 4 * STEP
            if not self._has_room_beside(line):
                x = left
                rect.translate(0, self._row_px())
            painter.setFont(theme.font("note"))
            painter.setPen(QColor(_colour_of(line.mark, theme)))
            painter.drawText(QPointF(x, self._baseline(rect)), line.remark)

    def _paint_note(self, painter: QPainter, rect: QRect, line: Line) -> None:
        top, theme = rect.bottom() + 1, self._look.theme
        for text, is_mono in _note(line):
            room = QRect(rect.left(), top, self._note_width(), self._text_px(text, mono=is_mono))
            draw_words(painter, room, text, theme.font("note", mono=is_mono), theme.ink, WRAPPED)
            top += room.height() + STEP // 2

    def _note_px(self, line: Line) -> int:
        heights = [self._text_px(text, mono=is_mono) + STEP // 2 for text, is_mono in _note(line)]
        return sum(heights) + STEP * bool(heights)

    def _note_width(self) -> int:
        most = round(READABLE_PX * self._look.theme.zoom)
        return max(LEAST_PX, min(self._room_px(), most))

    def _text_px(self, text: str, *, mono: bool) -> int:
        measure = QFontMetrics(self._look.theme.font("note", mono=mono))
        room = QRect(0, 0, self._note_width(), 2**15)
        return measure.boundingRect(room, WRAPPED, text).height()

    def _rows(self, text: str) -> list[tuple[int, int]]:
        """Return start and end of the text in each row; more than one if it is wrapped."""
        rows: list[tuple[int, int]] = []
        start, most = 0, max(2 * HANG + 1, int(self._room_px() / self._step_px()))
        while len(text) - start > (room := most - (self._hang(text) if rows else 0)):
            space = text.rfind(" ", start + 1, start + room)
            is_word = space > start and text[start:space].strip()
            end = space + 1 if is_word else start + max(1, room)
            rows.append((start, end))
            start = end
        return [*rows, (start, len(text))]

    def _hang(self, text: str) -> int:
        most = int(self._room_px() / self._step_px())
        return min(len(text) - len(text.lstrip()) + HANG, most // 2)

    def _has_room_beside(self, line: Line) -> bool:
        """Return whether the remark fits behind the code."""
        if not line.remark:
            return True
        rows = self._rows(line.text)
        start, end = rows[-1]
        hang = self._hang(line.text) if len(rows) > 1 else 0
        remark = QFontMetrics(self._look.theme.font("note")).horizontalAdvance(line.remark)
        return (hang + end - start) * self._step_px() + 4 * STEP + remark <= self._room_px()

    def _gutter_px(self) -> int:
        """Return the width left of the code: sign and number."""
        return self._sign_px() + round(3 * self._step_px()) + 4 * STEP

    def _room_px(self) -> int:
        return self.width - self._gutter_px() - 2 * STEP

    def _step_px(self) -> float:
        """Return the width of a character; the font is monospaced."""
        return QFontMetricsF(self._look.theme.font("note", mono=True)).horizontalAdvance("0")

    def _row_px(self) -> int:
        return QFontMetrics(self._look.theme.font("note", mono=True)).height()

    def _air_px(self) -> int:
        return round(2 * AIR_PX * self._look.theme.zoom)

    def _baseline(self, rect: QRect) -> float:
        measure = QFontMetricsF(self._look.theme.font("note", mono=True))
        return rect.top() + (rect.height() + measure.ascent() - measure.descent()) / 2

    def _sign_px(self) -> int:
        return round(SIGN_PX * self._look.theme.zoom)


def _note(line: Line) -> list[tuple[str, bool]]:
    """Return the texts below a line, and whether each is code."""
    texts = ((line.code, True), (unbroken(line.note), False))
    return [(text, is_mono) for text, is_mono in texts if text]


_SIGNS = {Mark.FOUND: "checkup", Mark.SHOWN: "attention", Mark.CHANGED: "checkup"}


def _colour_of(mark: Mark, theme: Theme) -> str:
    known = {
        Mark.FOUND: theme.good,
        Mark.SHOWN: theme.attention,
        Mark.CHANGED: theme.accent_word,
    }
    return known.get(mark, theme.soft)
