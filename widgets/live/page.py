"""The page of Live: controls, messages, scrolling tiles; and its sheet of explanations."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, chip, column, label, leave_keys, row
from widgets.controls.layouts import scrolling
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
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self.board)
        self._scroll.viewport().installEventFilter(self)
        above = (self.controls, self.band, self.instead, self.again)
        layout = column(*above, self._scroll, space=BELOW)
        left, top, right, _ = MARGINS
        layout.setContentsMargins(left, top, right, 0)
        layout.setStretch(4, 1)
        layout.setAlignment(self.again, Qt.AlignmentFlag.AlignLeft)
        self.setLayout(layout)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the tiles grow with the visible height."""
        if event.type() == QEvent.Type.Resize:
            self.board.fill(self._scroll.viewport().height() - FOOT)
        return super().eventFilter(watched, event)


class Band(QWidget):
    """Band above a recording: its name and place, play, and back to now."""

    play_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._name, self._place = label("", "strong", wrap=True), label("", "soft")
        self._play = chip(words.say("live.play"))
        self._back = chip(words.say("live.back_to_now"))
        leave_keys(self._play, self._back)
        self._play.clicked.connect(lambda: self.play_wanted.emit())
        self._back.clicked.connect(lambda: self.back_wanted.emit())
        layout = row(column(self._name, self._place, space=0), self._play, self._back)
        layout.setStretch(0, 1)
        self.setLayout(layout)
        self.hide()

    def say(self, name: str, place: str, *, can_play: bool) -> None:
        """Show the band."""
        self._name.setText(name)
        self._place.setText(place)
        self.setAccessibleName(name)
        for each in (self._play, self._back):
            each.setVisible(can_play)
        self.show()


WIDTH = 620  # pixels at zoom 1


class Explanation(Overlay):
    """Sheet over `window` that explains what is easily misread; Esc closes it."""

    def __init__(self, words: Words, look: Look, window: QWidget) -> None:
        super().__init__(window, width_px=WIDTH)
        title = words.say("live.explain")
        self.add_head(title, words.say("overlay.close"), look)
        parts = column(space=3 * STEP)
        for head, text in (
            (words.say("live.lines_head"), words.say("live.lines_text")),
            (words.say("live.load_head"), words.say("live.load_text")),
            (words.say("live.waited_head"), words.say("live.waited_text")),
            (words.say("live.errors_head"), words.say("live.errors_text")),
            (words.say("live.stolen_head"), words.say("live.stolen_text")),
            (words.say("live.memory_head"), words.say("live.memory_text")),
            (words.say("live.clock_head"), words.say("live.clock_text")),
            (words.say("live.heat_head"), words.say("live.heat_text")),
            (words.say("live.disks_head"), words.say("live.disks_text")),
            (words.say("live.gpu_head"), words.say("live.gpu_text")),
            (words.say("live.held_head"), words.say("live.held_text")),
            (words.say("live.gaps_head"), words.say("live.gaps_text")),
        ):
            part = column(label(head, "strong"), label(text, "soft", wrap=True), space=STEP)
            parts.addLayout(part)
        page = QWidget()
        page.setLayout(parts)
        self.content.addWidget(scrolling(page, title))
