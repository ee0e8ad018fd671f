"""Sign and colour of each word of the checkup."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from experiments.checkup.result import Word
from widgets.style.icons import pixmap
from widgets.style.theme import Theme

SIGN_PX = 16  # at zoom 1
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


def side_px(theme: Theme) -> int:
    """Return the side of a sign in pixels."""
    return round(SIGN_PX * theme.zoom)


def draw_sign(painter: QPainter, word: Word, middle: QPointF, theme: Theme) -> None:
    """Paint the sign of a word around a point."""
    side, colour = side_px(theme), colour_of(word, theme)
    where = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if word in _ICONS:
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(where.topLeft(), pixmap(_ICONS[word], colour, side, ratio))
    elif word is Word.LOOK:
        path = QPainterPath()
        corners = [where.topLeft() + QPointF(x * side, y * side) for x, y in _TRIANGLE]
        path.moveTo(corners[0])
        for corner in corners[1:]:
            path.lineTo(corner)
        path.closeSubpath()
        painter.fillPath(path, QColor(colour))
    else:
        painter.setFont(theme.font("text", weight=600))
        painter.setPen(QColor(colour))
        painter.drawText(where, Qt.AlignmentFlag.AlignCenter, _LETTERS[word])
