"""The answers that a class votes on, with letters, bars and hands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.wrapped import draw_lines, line_px, wrapped
from widgets.lecture.slide_data import SlideData
from widgets.style.ink import CENTRE, draw_box, draw_words, painting
from widgets.style.look import Look
from widgets.style.theme import mixed, sized_font

LETTERS = "ABCD"
# Pixels at a height of 720.
ROW, MOST_ROW, BOX, CORNER, ASIDE = 84, 112, 46, 9, 18
BAR, BEFORE, COUNT, GAP = 12, 20, 90, 7
SIZES = (28, 25, 22, 20)
LETTER, HANDS = 24, 28
FAINT, TRACK = 0.68, 0.75  # of the way to the ground: first votes; the track, from line
DOT, CURSOR = "•", "▏"  # a digit that nobody may see; where the next one comes


class VoteBoard(QWidget):
    """Up to four answers; a bar is as long as its share of all hands."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._data: SlideData | None = None
        self._options: Sequence[str] = ()
        self._votes: Sequence[int] = ()
        self._before: Sequence[int] = ()
        self._scale = 1.0
        self.setAccessibleName(words.say("slide.votes"))

    def show_votes(self, data: SlideData) -> None:
        """Show answers with their hands, and behind them faintly those of an earlier vote.

        While votes are hidden, no number of hands is shown, not even a number that is typed.
        """
        self._data, nobody = data, (0,) * len(data.options)
        self._options = [" ".join(option.split()) for option in data.options]
        self._votes, self._before = data.votes or nobody, data.before or nobody
        say = self._words.say
        key = "slide.option_hidden" if data.is_hidden else "slide.option"
        told = (
            say(
                "slide.option_one" if count == 1 and not data.is_hidden else key,
                {"letter": letter, "option": option, "count": count},
            )
            for letter, option, count in zip(LETTERS, self._options, self._votes, strict=False)
        )
        self.setAccessibleDescription(" ".join(told))
        self.update()

    def use_scale(self, scale: float) -> None:
        """Take the height of the slide, in heights of 720 pixels."""
        self._scale = scale
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw one answer below the other."""
        data = self._data
        if data is None or not self._options:
            return
        scale, count = self._scale, len(self._options)
        row_px = min(self.height() / count, MOST_ROW * scale)
        options = [unbroken(option) for option in self._options]
        left = (BOX + ASIDE) * scale
        width = self.width() - left - COUNT * scale
        room_px = row_px - (BAR + 3 * GAP) * scale
        font = self._font_that_fits(options, width, room_px)
        most = max(1, int(room_px // line_px(font)))
        lines = max(len(wrapped(each, font, width, most)) for each in options)
        text_px = lines * line_px(font)
        row_px = min(row_px, max(ROW * scale, text_px + (BAR + 5 * GAP) * scale))
        with painting(self) as painter:
            for place in range(count):
                room = QRectF(0.0, place * row_px, self.width(), text_px + (BAR + GAP) * scale)
                self._paint_letter(painter, room, LETTERS[place])
                text = QRectF(left, room.top(), width, text_px)
                painter.setPen(QColor(self._look.theme.ink))
                draw_lines(painter, text, options[place], font, most)
                bar = QRectF(left, text.bottom() + GAP * scale, width, BAR * scale)
                self._paint_bars(painter, bar, place, is_hidden=data.is_hidden)
                self._paint_count(painter, room, place, data)

    def _font_that_fits(self, options: Sequence[str], width: float, room_px: float) -> QFont:
        fonts = [sized_font(max(1, round(size * self._scale)), 400) for size in SIZES]
        for font in fonts:
            most = max(1, int(room_px // line_px(font)))
            if all(len(wrapped(each, font, width, most + 1)) <= most for each in options):
                return font
        return fonts[-1]

    def _paint_letter(self, painter: QPainter, room: QRectF, letter: str) -> None:
        scale, theme = self._scale, self._look.theme
        size = QSizeF(BOX * scale, BOX * scale)
        box = QRectF(QPointF(scale, room.center().y() - size.height() / 2), size)
        draw_box(painter, box, CORNER * scale, theme.accent, width=2.0 * scale)
        font = sized_font(max(1, round(LETTER * scale)), 600)
        draw_words(painter, box, letter, font, theme.accent_word, CENTRE)

    def _paint_bars(self, painter: QPainter, track: QRectF, place: int, *, is_hidden: bool) -> None:
        theme, scale = self._look.theme, self._scale
        ground, accent = QColor(theme.ground), QColor(theme.accent)
        _block(painter, track, mixed(ground, QColor(theme.line), TRACK))
        if is_hidden:
            return
        before = QRectF(track.left(), 0.0, track.width() * _share(self._before, place), 1.0)
        if before.width():
            before.setHeight(BEFORE * scale)
            before.moveCenter(QPointF(before.center().x(), track.center().y()))
            _block(painter, before, mixed(accent, ground, FAINT))
        now = QRectF(track)
        now.setWidth(track.width() * _share(self._votes, place))
        if now.width():
            _block(painter, now, accent)

    def _paint_count(self, painter: QPainter, room: QRectF, place: int, data: SlideData) -> None:
        is_typed = bool(data.typed) and place == data.typed_for
        text = "" if data.is_hidden else str(self._votes[place])
        if is_typed:
            text = (DOT * len(data.typed) if data.is_hidden else data.typed) + CURSOR
        font = sized_font(max(1, round(HANDS * self._scale)), 600)
        painter.setFont(font)
        painter.setPen(QColor(self._look.theme.accent_word if is_typed else self._look.theme.ink))
        metrics = QFontMetricsF(font)
        baseline = room.center().y() + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(room.right() - metrics.horizontalAdvance(text), baseline), text)


def _share(votes: Sequence[int], place: int) -> float:
    return votes[place] / total if (total := sum(votes)) else 0.0


def _block(painter: QPainter, rect: QRectF, colour: QColor) -> None:
    draw_box(painter, rect, min(rect.width(), rect.height()) / 2, fill=colour)
