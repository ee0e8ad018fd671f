"""The page of Live: controls, messages, scrolling tiles; and its sheet of explanations."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, chip, column, holding, label, leave_keys, row
from widgets.controls.layouts import DownArea, scrolling
from widgets.controls.place_head import BELOW, MARGINS
from widgets.live.board import Board
from widgets.live.controls import Controls
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

FOOT = 4 * STEP  # below the tiles


class LivePage(QWidget):
    """`instead` is shown without samples, `again` beside it once they have ended."""

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self.controls, self.board, self.band = Controls(words), Board(look, words), Band(words)
        self.instead = label(words.say("live.first_sample"), "soft", wrap=True)
        self.again = button(words.say("frame.watch_again"))
        self.again.hide()
        self._scroll = DownArea(self.board)
        self._scroll.viewport().installEventFilter(self)
        above = (self.controls, self.band, self.instead, self.again)
        layout = column(*above, self._scroll, space=BELOW, edges=(*MARGINS[:3], 0), grows=4)
        layout.setAlignment(self.again, Qt.AlignmentFlag.AlignLeft)
        self.setLayout(layout)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the tiles grow with the visible height."""
        if event.type() == QEvent.Type.Resize:
            self.board.fill(self._scroll.viewport().height() - FOOT)
        return super().eventFilter(watched, event)


class Band(QWidget):
    """Band above a recording: its name and place, play, and back to now."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._name, self._place = label("", "strong", wrap=True), label("", "soft")
        self.play, self.back = chip(words.say("live.play")), chip(words.say("live.back_to_now"))
        leave_keys(self.play, self.back)
        said = column(self._name, self._place, space=0)
        self.setLayout(row(said, self.play, self.back, grows=0))
        self.hide()

    def say(self, name: str, place: str, *, can_play: bool) -> None:
        """Show the band."""
        self._name.setText(name)
        self._place.setText(place)
        self.setAccessibleName(name)
        for each in (self.play, self.back):
            each.setVisible(can_play)
        self.show()


WIDTH = 620  # pixels at zoom 1
EXPLAINED = (
    *("lines", "load", "waited", "errors", "stolen", "memory"),
    *("clock", "heat", "disks", "gpu", "held", "gaps"),
)


class Explanation(Overlay):
    """Sheet over `window` that explains what is easily misread; Esc closes it."""

    def __init__(self, words: Words, look: Look, window: QWidget) -> None:
        super().__init__(window, width_px=WIDTH)
        title = words.say("live.explain")
        self.add_head(title, words.say("overlay.close"), look)
        parts = column(space=3 * STEP)
        for name in EXPLAINED:
            head, text = words.say(f"live.{name}_head"), words.say(f"live.{name}_text")
            part = column(label(head, "strong"), label(text, "soft", wrap=True), space=STEP)
            parts.addLayout(part)
        self.content.addWidget(scrolling(holding(parts), title))
