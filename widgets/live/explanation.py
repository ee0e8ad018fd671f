"""What am I looking at? A sheet with plain words for what misleads."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, label
from widgets.controls.layouts import scrolling
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH = 620  # pixels at zoom 1


class Explanation(Overlay):
    """Opened over `window`; Esc closes it."""

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
