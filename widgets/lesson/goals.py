"""Things to try, which tick themselves off."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import announce, column, discard, label, row, set_role
from widgets.controls.choices import BOX, CORNER, draw_tick
from widgets.style.ink import draw_box, painting
from widgets.style.look import Look
from widgets.style.theme import STEP


class Goals(QWidget):
    """A head and a line for each goal; only runs tick them, not clicks."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._lines: list[_Goal] = []
        self._inside = column()
        self._done = label(words.say("lesson.all_reached"), "soft", wrap=True)
        self._head = label(words.say("lesson.to_try"), "head", wrap=True)
        self.setAccessibleName(self._head.text())
        self.setLayout(column(self._head, self._inside, self._done, space=3 * STEP))

    def show_goals(self, texts: Sequence[str], reached: Sequence[bool]) -> None:
        """Show goals, as many as `reached` has; one that is newly reached is announced."""
        if [line.text for line in self._lines] != list(texts):
            discard(*self._lines)
            self._lines = [_Goal(text, self._words, self._look) for text in texts]
            for line in self._lines:
                self._inside.addWidget(line)
            before = list(reached)
        else:
            before = [line.is_reached for line in self._lines]
        for line, was, is_now in zip(self._lines, before, reached, strict=True):
            line.show_reached(is_now)
            if is_now and not was:
                announce(self, self._words.say("lesson.goal_reached", {"goal": line.text}))
        self._head.setVisible(bool(texts))
        self._done.setVisible(bool(texts) and all(reached))


class _Goal(QWidget):
    """A tick box and the goal."""

    def __init__(self, text: str, words: Words, look: Look) -> None:
        super().__init__()
        self.text, self.is_reached = text, False
        self._words = words
        self._box = _Box(look)
        self._label: QLabel = label(unbroken(text), wrap=True)
        inside = row(self._box, self._label, space=2 * STEP + 2, grows=1)
        inside.setAlignment(self._box, Qt.AlignmentFlag.AlignTop)
        self.setLayout(inside)
        self.show_reached(False)

    def show_reached(self, is_reached: bool) -> None:
        """Tick it, or not."""
        self.is_reached = is_reached
        self._box.show_tick(is_reached)
        set_role(self._label, "value" if is_reached else "text")
        key = "lesson.goal_is_reached" if is_reached else "lesson.goal_is_open"
        self.setAccessibleName(self._words.say(key, {"goal": self.text}))


class _Box(QWidget):
    """A box that only its owner ticks."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._is_on = look, False
        look.follow(self._fit)

    def show_tick(self, is_on: bool) -> None:
        """Tick it, or not."""
        self._is_on = is_on
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the box."""
        side = round((BOX + 2) * self._look.theme.zoom)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box and its tick."""
        theme, side = self._look.theme, self.height() - 1
        box = QRectF(0.5, 0.5, side, side)
        edge, fill = (theme.good, theme.good) if self._is_on else (theme.soft, theme.panel)
        with painting(self) as painter:
            draw_box(painter, box.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, edge, fill, 1.2)
            if self._is_on:
                draw_tick(painter, box, theme.ground, side)

    def _fit(self) -> None:
        self.setFixedSize(self.sizeHint())
        self.update()
