"""Box with the first fault in words, and the commands that mend it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from machine.doctor.verdicts import State
from widgets.controls.basics import (
    announce,
    column,
    discard,
    label,
    row,
    selectable,
    set_role,
    show_text,
)
from widgets.doctor.command import Command
from widgets.doctor.page_data import PageData
from widgets.doctor.sign import COLOURS, draw_sign
from widgets.style.look import Look
from widgets.style.signs import side_px
from widgets.style.theme import STEP


class FindingBox(QFrame):
    """Shows one thing at a time: progress, the finding, or why there is none."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._sign = _Sign(look)
        self.headline, self.text = label("", "head", wrap=True), selectable(label(wrap=True))
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)  # progress is unknown
        self._bar.setAccessibleName(words.say("doctor.page.progress"))
        self.commands: list[Command] = []
        self._lines = column()
        said = column(self.headline, self.text, self._bar, self._lines)
        edges = (4 * STEP + 2, 4 * STEP, 4 * STEP, 4 * STEP)  # as in the chain
        layout = row(self._sign, said, space=3 * STEP, edges=edges, grows=1)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        self.setLayout(layout)

    def tell(self, data: PageData) -> None:
        """Show what was found."""
        self._show(data.state, data.headline, data.text, data.commands)
        announce(self, f"{data.headline} {data.text}")

    def wait(self, sentence: str, explained: str) -> None:
        """Show that the examination is running."""
        self._show(State.NOT_REACHED, sentence, explained)
        self._bar.show()

    def _show(self, state: State, headline: str, text: str, commands: tuple[str, ...] = ()) -> None:
        role = "plain" if state is State.NOT_REACHED else COLOURS[state]
        set_role(self, f"trouble-{role}")
        self._bar.hide()
        self._sign.show_state(state)
        self._sign.setVisible(state is not State.NOT_REACHED)
        self.headline.setText(unbroken(headline))
        show_text(self.text, unbroken(text))
        self.setAccessibleName(headline)
        self.setAccessibleDescription(text)
        discard(*self.commands)
        self.commands = [Command(each, self._words, self._look) for each in commands]
        for command in self.commands:
            self._lines.addWidget(command)


class _Sign(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._state = look, State.NOT_REACHED
        look.follow(self._fit)

    def show_state(self, state: State) -> None:
        self._state = state
        self.update()

    def _fit(self) -> None:
        side = side_px(self._look.theme)
        self.setFixedSize(side, side + STEP)

    def paintEvent(self, event: QPaintEvent) -> None:
        middle = QRectF(self.rect()).center()
        with QPainter(self) as painter:
            draw_sign(painter, self._state, middle, self._look.theme)
