"""Shared parts of the signs of states: their side, an icon, or a letter around a point."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from widgets.style.icons import pixmap
from widgets.style.ink import CENTRE, draw_words
from widgets.style.theme import Theme

SIGN_PX = 16  # at zoom 1


def side_px(theme: Theme) -> int:
    """Return the side of a sign in pixels."""
    return round(SIGN_PX * theme.zoom)


def room_around(middle: QPointF, theme: Theme) -> QRectF:
    """Return the square of a sign."""
    side = side_px(theme)
    return QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)


def draw_icon(painter: QPainter, name: str, colour: str, middle: QPointF, theme: Theme) -> None:
    """Paint an icon of resources/icons."""
    ratio = painter.device().devicePixelRatioF()
    where = room_around(middle, theme)
    painter.drawPixmap(where.topLeft(), pixmap(name, colour, side_px(theme), ratio))


def draw_letter(painter: QPainter, letter: str, colour: str, middle: QPointF, theme: Theme) -> None:
    """Paint a letter."""
    draw_words(painter, room_around(middle, theme), letter, theme.bold("text"), colour, CENTRE)
