"""The three moments of a motion that show what matters, for paper: one below the other."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from experiments.core.teaching.motion_words import moment_text
from experiments.core.teaching.playable import Playable
from widgets.lesson.drawing.motion_painter import MotionPainter
from widgets.style.ink import LEFT, draw_words
from widgets.style.theme import STEP, Theme

MOST_PX = 160  # of a still at zoom 1


class Stills:
    """Draws each still below its time."""

    def __init__(self, playable: Playable, theme: Theme, width_px: float) -> None:
        self._playable, self._theme, motion = playable, theme, playable.motion
        given = playable.diagram, playable.labels, theme, width_px, motion, playable.texts
        self._painter = MotionPainter(*given, MOST_PX * theme.zoom)
        self._line = QFontMetricsF(theme.bold("text")).height() + STEP
        self._each = self._line + self._painter.height + 4 * STEP

    @property
    def height(self) -> float:
        """The height of all three, in pixels."""
        return len(self._playable.motion.stills) * self._each

    def draw(self, painter: QPainter) -> None:
        """Draw all three."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        motion, theme = self._playable.motion, self._theme
        for place, t_s in enumerate(motion.stills):
            painter.save()
            painter.translate(0, place * self._each)
            room, text = QRectF(0, 0, 0, self._line), moment_text(t_s, motion)
            flags = LEFT | Qt.TextFlag.TextDontClip
            draw_words(painter, room, text, theme.bold("text"), theme.ink, flags)
            painter.translate(0, self._line)
            self._painter.draw_ground(painter)
            self._painter.draw_moment(painter, t_s)
            painter.restore()
