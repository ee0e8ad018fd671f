"""State of an experiment: head, progress bar, and a sentence."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, label, row, set_role, show_text, tip
from widgets.style.theme import STEP

FINE = 1000  # steps of the bar
LINES = 2  # reserved below the bar, so that the rest does not jump


class StateBlock(QWidget):
    """Shows one state; everything that does not belong to it is hidden."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._title, self._aside = label("", "head", wrap=True), label("", "soft")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(words.say("page.progress"))
        self._sentence = label("", "head", wrap=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._doing, self._detail = (label("", "soft", wrap=True) for _ in range(2))
        self._doing.setAlignment(Qt.AlignmentFlag.AlignTop)
        head = row(self._title, self._aside, grows=0)
        above = column(head, self._bar, self._doing, space=2 * STEP)
        below = column(self._sentence, self._detail, space=2 * STEP)
        self.setLayout(column(above, below, space=3 * STEP))
        self.show_state()

    def show_state(
        self,
        title: str = "",
        aside: str = "",
        *,
        aside_help: str = "",
        sentence: str = "",
        detail: str = "",
        fraction: float | None = None,
        busy: bool = False,
        is_past: bool = False,
    ) -> None:
        """Show a state; the bar is shown with a `fraction`, or moves by itself if `busy`.

        One that `is_past` is quiet: its result is read first.
        """
        for words, text in (
            (self._title, title),
            (self._aside, aside),
            (self._doing, "" if sentence else detail),
            (self._sentence, unbroken(sentence)),
            (self._detail, detail if sentence else ""),
        ):
            show_text(words, text)
        self._aside.setToolTip(tip(aside_help))
        # A title above a sentence is less important than the sentence.
        set_role(self._title, "soft" if sentence or is_past else "head")
        has_bar = busy or fraction is not None
        self._bar.setVisible(has_bar)
        self._doing.setVisible(has_bar or bool(self._doing.text()))
        self._doing.setMinimumHeight(self._doing.fontMetrics().height() * LINES * has_bar)
        self._bar.setRange(0, 0 if busy else FINE)
        if fraction is not None:
            self._bar.setValue(round(fraction * FINE))
        self.setAccessibleName(title or sentence)
        self.setAccessibleDescription(" ".join(text for text in (aside, detail) if text))
