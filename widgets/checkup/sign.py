"""Sign and colour of each word of the checkup."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPainterPath

from experiments.checkup.result import Word
from widgets.style.signs import draw_icon, draw_letter, room_around, side_px
from widgets.style.theme import Theme

_ICONS = {Word.FINE: "checkup", Word.PROBLEM: "close"}
_LETTERS = {Word.UNCHECKED: "?", Word.ABSENT: "–"}
_TRIANGLE = ((0.5, 0.1), (0.96, 0.9), (0.04, 0.9))  # in sides of the sign


def colour_of(word: Word, theme: Theme) -> str:
    """Return the colour of sign and word; what could not be checked looks like neither."""
    return {
        Word.FINE: theme.good,
        Word.LOOK: theme.attention,
        Word.PROBLEM: theme.fault,
        Word.UNCHECKED: theme.soft,
        Word.ABSENT: theme.soft,
    }[word]


def draw_sign(painter: QPainter, word: Word, middle: QPointF, theme: Theme) -> None:
    """Paint the sign of a word around a point."""
    colour = colour_of(word, theme)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if word in _ICONS:
        draw_icon(painter, _ICONS[word], colour, middle, theme)
    elif word is Word.LOOK:
        side, corner = side_px(theme), room_around(middle, theme).topLeft()
        path = QPainterPath()
        for place, (x, y) in enumerate(_TRIANGLE):
            at = corner + QPointF(x * side, y * side)
            path.lineTo(at) if place else path.moveTo(at)
        path.closeSubpath()
        painter.fillPath(path, QColor(colour))
    else:
        draw_letter(painter, _LETTERS[word], colour, middle, theme)
