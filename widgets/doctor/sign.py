"""Sign and colour of each state, in the chain and above it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter

from machine.doctor.verdicts import State
from widgets.style.signs import draw_icon, draw_letter, side_px
from widgets.style.theme import Theme

COLOURS = {  # by their names in a theme
    State.OK: "good",
    State.LOOK: "attention",
    State.WRONG: "fault",
    State.UNKNOWN: "attention",
    State.NOT_REACHED: "soft",
}
_ICONS = {State.OK: "checkup", State.LOOK: "attention", State.WRONG: "close"}
_DOT = 0.14  # radius of the dot for a link not examined yet, relative to the sign


def colour_of(state: State, theme: Theme) -> str:
    """Return the colour of sign and words."""
    return str(getattr(theme, COLOURS[state]))


def draw_sign(painter: QPainter, state: State, middle: QPointF, theme: Theme) -> None:
    """Paint the sign of a state around a point."""
    colour = colour_of(state, theme)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state in _ICONS:
        draw_icon(painter, _ICONS[state], colour, middle, theme)
    elif state is State.UNKNOWN:
        draw_letter(painter, "?", colour, middle, theme)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        radius = side_px(theme) * _DOT
        painter.drawEllipse(middle, radius, radius)
