"""The motion of an explanation on a slide, as large as there is room."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from experiments.core.teaching.motion_words import factor_text, said_at, time_text
from experiments.core.teaching.playable import Playable
from experiments.core.words import Words
from widgets.lecture.slide_text import SlideText, TextPart
from widgets.lesson.drawing.diagram import DiagramView
from widgets.lesson.drawing.playback import Playback
from widgets.style.look import Look

TITLES, SAID, NOTES = (28, 24, 20), (28, 24, 20), (24, 20)  # heights of letters
LINE, APART = 44, 16  # pixels at a height of 720
TIME_SHARE = 0.5  # of the width, for the time and how much slower it is shown


class SlideMotion(QWidget):
    """Plays when it is shown; it takes neither keys nor mouse."""

    def __init__(
        self, words: Words, look: Look, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.playable: Playable | None = None
        self.playback = Playback(clock, self)
        self.playback.moved.connect(self._show_moment)
        self._room, self._scale = QRectF(), 1.0
        self._title, self._said = SlideText(TITLES), SlideText(SAID)
        self._time = SlideText(NOTES, at_right=True)
        self.view = DiagramView(words, look)
        for each in (self._title, self._time, self.view, self._said):
            each.setParent(self)

    def show_motion(self, playable: Playable | None) -> None:
        """Show a motion and play it: a key asked for it."""
        if playable == self.playable:
            return
        self.playable = playable
        self.playback.take(playable.motion if playable is not None else None)
        if playable is None:
            self.hide()
            return
        labels, motion = playable.labels, playable.motion
        self.view.show_diagram(playable.diagram, labels, motion, playable.texts)
        self.show()
        self._write()
        self.playback.play()

    def fit(self, room: QRectF, scale: float) -> None:
        """Lay it out in a room."""
        self.setGeometry(room.toAlignedRect())
        self._room, self._scale = QRectF(0, 0, room.width(), room.height()), scale
        if self.playable is None:
            return
        line, apart = LINE * scale, APART * scale
        self.view.limit_height(room.height() - 2 * (line + apart))
        wanted = self.view.heightForWidth(self.width())
        spare = max(0.0, (room.height() - 2 * (line + apart) - wanted) / 2)
        self.view.setGeometry(0, round(line + apart + spare), self.width(), wanted)
        self._write()

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw nothing unseen."""
        super().hideEvent(event)
        self.playback.pause()

    def _show_moment(self) -> None:
        self.view.show_at(self.playback.t_s)
        self._write()

    def _write(self) -> None:
        """Write the title with the time of now above, and what is said below."""
        if self.playable is None or self._room.isEmpty():
            return
        theme, texts, motion = self._look.theme, self.playable.texts, self.playable.motion
        t_s, words, line = self.playback.t_s, self._words, LINE * self._scale
        top = QRectF(self._room)
        top.setHeight(line)
        title = QRectF(top)
        title.setWidth(TIME_SHARE * top.width())
        at_right = QRectF(top)
        at_right.setLeft(title.right())
        below = QRectF(self._room)
        below.setTop(below.bottom() - line)
        head = " · ".join(filter(None, (texts.get("title", ""), self.playable.band)))
        told = f"{time_text(words, t_s, motion)} · {factor_text(words, motion)}"
        for each, room, text, colour in (
            (self._title, title, head, theme.ink),
            (self._time, at_right, told, theme.soft),
            (self._said, below, said_at(t_s, motion, texts), theme.ink),
        ):
            each.write(TextPart(text, colour))
            each.fit(room, self._scale)
