"""Links from what is to be tried to the follow-ups of the lesson."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, discard
from widgets.controls.wrapped import WrappedLink
from widgets.style.theme import STEP


class GoOn(QWidget):
    """A link for each follow-up; `wanted` carries its id. Hidden where there is none."""

    wanted = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._shown: list[tuple[str, str]] = []
        self._links: list[WrappedLink] = []
        self._inside = column(space=STEP)
        self.setLayout(self._inside)
        self.hide()

    def show_links(self, follow_ups: Sequence[tuple[str, str]]) -> None:
        """Show these follow-ups: pairs of an id and a question."""
        self.setVisible(bool(follow_ups))
        if self._shown == list(follow_ups):
            return
        self._shown = list(follow_ups)
        discard(*self._links)
        self._links = []
        for name, question in follow_ups:
            link = WrappedLink(self._words.say("lesson.go_on_to", {"question": question}))
            link.clicked.connect(lambda _checked=False, name=name: self.wanted.emit(name))
            self._inside.addWidget(link)
            self._links.append(link)
