"""Why a run came out as it did, with its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from experiments.core.lessons import Explained, Source
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import button, column, label
from widgets.controls.wrapped import WrappedLink
from widgets.lesson.aside import Aside
from widgets.lesson.paragraph import Paragraph
from widgets.style.look import Look
from widgets.style.theme import STEP

_QUESTION = re.compile(r"([^.?!]+\?)\s+(.+)", re.DOTALL)


class Explanation(QWidget):
    """The headline, the text, a misconception, the limit, and the ways on."""

    confirm_wanted = Signal()
    experiment_wanted = Signal(str)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._inside = QVBoxLayout(self)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(4 * STEP)

    def show_explained(
        self,
        told: Explained | None,
        *,
        view: str = "",
        to: str = "",
        title: str = "",
        sources: Sequence[Source] = (),
    ) -> None:
        """Replace what is shown; None says that this run explains nothing.

        `view` is the title of the confirming view; `to` and `title` are the id and the question of
        the experiment that comes next. Without them there is no link.
        """
        while (item := self._inside.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if told is None:
            self._inside.addWidget(Paragraph(self._look, self._words.say("lesson.cannot_tell")))
            return
        for part in self._parts(told, view, to, title, sources):
            self._inside.addWidget(part)

    def _parts(
        self, told: Explained, view: str, to: str, title: str, sources: Sequence[Source]
    ) -> Iterator[QWidget]:
        say = self._words.say
        yield label(unbroken(told.headline), "lesson-head", wrap=True)
        yield from (Paragraph(self._look, text) for text in (told.text, *told.beside))
        many = label(say("lesson.many_believe"), "soft")
        yield Aside(many, _strong(told.belief), Paragraph(self._look, told.answer))
        yield self._confirm(told.confirm, view)
        yield self._limit(told.why_not_double)
        yield self._next(told.transfer, to, title)
        if sources:
            yield _Sources(self._words, sources)

    def _confirm(self, text: str, view: str) -> QWidget:
        made = QWidget()
        parts: list[QWidget] = [Paragraph(self._look, text)]
        if view:
            link = WrappedLink(self._words.say("lesson.look_at", {"view": view}))
            link.clicked.connect(lambda _checked=False: self.confirm_wanted.emit())
            parts.append(link)
        made.setLayout(column(*parts, space=STEP))
        return made

    def _limit(self, text: str) -> QWidget:
        """Return the block that names the limit; its question, where it begins with one, leads."""
        asked = _QUESTION.fullmatch(text)
        head, rest = asked.groups() if asked else (self._words.say("lesson.why_not_double"), text)
        return Aside(_strong(head), Paragraph(self._look, rest), edge="second")

    def _next(self, ask: str, to: str, title: str) -> QWidget:
        parts: list[QWidget] = [
            _strong(self._words.say("lesson.and_next")),
            Paragraph(self._look, ask),
        ]
        if to:
            link = WrappedLink(f"{title or to} →")
            link.clicked.connect(lambda _checked=False: self.experiment_wanted.emit(to))
            parts.append(link)
        return Aside(*parts, edge="main")


class _Sources(QWidget):
    """Where the facts stand, folded until somebody asks."""

    def __init__(self, words: Words, sources: Sequence[Source]) -> None:
        super().__init__()
        self._words = words
        self._fold: QPushButton = button("", "small-link", clicked=self._turn)
        self._list = QWidget()
        texts = (
            words.say("lesson.source", {"fact": each.fact, "source": each.source})
            for each in sources
        )
        self._list.setLayout(column(*(label(text, "soft", wrap=True) for text in texts)))
        head = column(self._fold)
        head.setAlignment(self._fold, Qt.AlignmentFlag.AlignLeft)
        self.setLayout(column(head, self._list))
        self._list.hide()
        self._tell()

    def _turn(self) -> None:
        self._list.setVisible(self._list.isHidden())
        self._tell()

    def _tell(self) -> None:
        key = "lesson.show_sources" if self._list.isHidden() else "lesson.hide_sources"
        self._fold.setText(self._words.say(key))


def _strong(text: str) -> QLabel:
    return label(unbroken(text), "strong", wrap=True)
