"""Sign and colour of each state, in the chain and above it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from machine.doctor.verdicts import State
from widgets.style.icons import pixmap
from widgets.style.theme import Theme

SIGN_PX = 16  # at zoom 1
_ICONS = {State.OK: "checkup", State.LOOK: "attention", State.WRONG: "close"}
_DOT = 0.14  # radius of the dot for a link not examined yet, relative to the sign


def colour_of(state: State, theme: Theme) -> str:
    """Return the colour of sign and words."""
    return {
        State.OK: theme.good,
        State.LOOK: theme.attention,
        State.WRONG: theme.fault,
        State.UNKNOWN: theme.attention,
        State.NOT_REACHED: theme.soft,
    }[state]


def side_px(theme: Theme) -> int:
    """Return the side of a sign in pixels."""
    return round(SIGN_PX * theme.zoom)


def draw_sign(painter: QPainter, state: State, middle: QPointF, theme: Theme) -> None:
    """Paint the sign of a state around a point."""
    side, colour = side_px(theme), colour_of(state, theme)
    where = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state in _ICONS:
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(where.topLeft(), pixmap(_ICONS[state], colour, side, ratio))
    elif state is State.UNKNOWN:
        painter.setFont(theme.font("head", weight=700))
        painter.setPen(QColor(colour))
        painter.drawText(where, Qt.AlignmentFlag.AlignCenter, "?")
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.drawEllipse(middle, side * _DOT, side * _DOT)
