"""The text in place of the rows, before the first checkup of a machine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame

from experiments.core.words import Words
from widgets.controls.basics import grid, label
from widgets.style.theme import STEP


class EmptyState(QFrame):
    """The four stages, each with its question, and that a check is gentle."""

    def __init__(self, words: Words, stages: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        lines = grid(6 * STEP, 3 * STEP, (6 * STEP, 5 * STEP, 6 * STEP, 5 * STEP))
        self.setLayout(lines)
        lines.setColumnStretch(1, 1)
        lines.addWidget(label(words.say("checkup_page.first"), "head", wrap=True), 0, 0, 1, 2)
        for place, (name, question) in enumerate(stages, 1):
            lines.addWidget(label(name, "strong"), place, 0)
            lines.addWidget(label(question, wrap=True), place, 1)
        gentle = label(words.say("checkup_page.gentle"), "soft", wrap=True)
        lines.addWidget(gentle, len(stages) + 1, 0, 1, 2)
