"""The sheet that shows what changed between two checkups."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, grid, holding, label
from widgets.controls.layouts import scrolling
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 820


class CompareSheet(Overlay):
    """A sentence, the rows that changed, and what changed with them.

    Of a row it is given the title, what was and is found, and the ratio, which may be "".
    """

    def __init__(
        self,
        words: Words,
        look: Look,
        parent: QWidget,
        *,
        lines: Sequence[str],
        rows: Sequence[tuple[str, str, str, str]],
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        first, *others = lines
        self.add_head(first, words.say("overlay.close"), look)
        self.setFocusProxy(self.closer)
        layout = grid(5 * STEP, 3 * STEP)
        for place, (title, before, now, ratio) in enumerate(rows):
            found = " → ".join(filter(None, (before, now)))
            layout.addWidget(label(title, "strong", wrap=True), place, 0)
            layout.addWidget(label(unbroken(found), "note-number", wrap=True), place, 1)
            layout.addWidget(label(unbroken(ratio), "soft", wrap=True), place, 2)
        for at, share in enumerate((3, 5, 2)):
            layout.setColumnStretch(at, share)
        below = [label(unbroken(each), "soft", wrap=True) for each in others]
        inner = holding(column(layout, *below, None, space=4 * STEP))
        self.content.addWidget(scrolling(inner, first))
