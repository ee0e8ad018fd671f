"""What am I looking at? A sheet with plain words for what misleads."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from experiments.words import Words
from widgets.basics import column, label
from widgets.look import Look
from widgets.overlay import Overlay
from widgets.theme import STEP

WIDTH = 620  # pixels at zoom 1


class Explanation(Overlay):
    """Opened over `window`; Esc closes it."""

    def __init__(self, words: Words, look: Look, window: QWidget) -> None:
        super().__init__(window, width_px=WIDTH)
        self.add_head(words.say("live.explain"), words.say("overlay.close"), look)
        for head, text in (
            (words.say("live.load_head"), words.say("live.load_text")),
            (words.say("live.stolen_head"), words.say("live.stolen_text")),
            (words.say("live.memory_head"), words.say("live.memory_text")),
            (words.say("live.clock_head"), words.say("live.clock_text")),
            (words.say("live.gaps_head"), words.say("live.gaps_text")),
        ):
            part = column(label(head, "strong"), label(text, "soft", wrap=True), space=STEP)
            self.content.addLayout(part)
