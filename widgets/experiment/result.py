"""Result of a run: its values in a column, then limits and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, label, row, tip
from widgets.controls.wrapped import WrappedLink
from widgets.style.theme import STEP

_NAMED = re.compile(r"`([a-z-]+)`")  # as written for the terminal


class ResultBlock(QWidget):
    """Values as (label, number with unit[, what was timed or counted]), then sentences.

    An experiment named in a sentence becomes a link below it; `experiment_wanted` carries its id.
    """

    experiment_wanted = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4 * STEP)
        self._shown: tuple[object, ...] = ()

    def show_result(
        self,
        values: Sequence[tuple[str, ...]] = (),
        remarks: Sequence[str] = (),
        notes: Sequence[str] = (),
        *,
        lead: str = "",
    ) -> bool:
        """Show a result; return whether it has changed. `lead` is a sentence above it."""
        wanted = (lead, tuple(values), tuple(remarks), tuple(notes))
        if wanted == self._shown:
            return False
        self._shown = wanted
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if lead:
            self._column.addWidget(label(unbroken(lead), wrap=True))
        if values:
            self._column.addWidget(_table(values))
        if sentences := (*remarks, *notes):
            self._column.addWidget(self._list(sentences))
        self.setVisible(any(wanted))
        return True

    def _list(self, sentences: Sequence[str]) -> QWidget:
        """Return a bulleted list of sentences."""
        made = QWidget()
        lines = QVBoxLayout(made)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(STEP + 2)
        for sentence in sentences:
            words = label(unbroken(self._plain(sentence)), "soft", wrap=True)
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # a command
            line = row(_dot(), column(words, *self._links(sentence), space=0))
            line.setStretch(1, 1)
            lines.addLayout(line)
        return made

    def _plain(self, sentence: str) -> str:
        """Remove the backticks around experiments, which are links below; commands keep them."""
        return _NAMED.sub(
            lambda named: named[1] if self._words.has(f"{named[1]}.question") else named[0],
            sentence,
        )

    def _links(self, sentence: str) -> Iterator[WrappedLink]:
        for named in dict.fromkeys(_NAMED.findall(sentence)):
            if self._words.has(f"{named}.question"):
                link = WrappedLink(f"{named}: {self._words.say(f'{named}.question')}")
                link.clicked.connect(lambda _=False, id_=named: self.experiment_wanted.emit(id_))
                yield link


def _table(values: Sequence[tuple[str, ...]]) -> QWidget:
    made = QWidget()
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(3 * STEP)
    grid.setVerticalSpacing(STEP // 2)  # tight, so that long lists fit
    grid.setColumnStretch(0, 1)
    for place, (name, number, *about) in enumerate(values):
        is_words = not any(map(str.isdigit, number))  # "no clear difference" may wrap
        words, figure = label(name, "value", wrap=True), label(number, "number", wrap=is_words)
        if is_words:
            figure.setAlignment(Qt.AlignmentFlag.AlignRight)
        words.setBuddy(figure)
        figure.setAccessibleName(f"{name}: {number}")
        for part in (words, figure):
            part.setToolTip(tip(*about))
        figure.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(words, place, 0, Qt.AlignmentFlag.AlignTop)
        right = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
        grid.addWidget(figure, place, 1, right)
    return made


def _dot() -> QLabel:
    dot = label("·", "soft")
    dot.setAlignment(Qt.AlignmentFlag.AlignTop)
    return dot
