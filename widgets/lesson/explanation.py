"""Why a run came out as it did, with its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLayout, QPushButton, QWidget

from experiments.core.teaching.lessons import Explained, Source
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, show_text
from widgets.controls.wrapped import WrappedLink
from widgets.lesson.callout import Aside
from widgets.lesson.paragraph import Paragraph
from widgets.style.look import Look
from widgets.style.theme import STEP

_QUESTION = re.compile(r"((?:[^.?!]|\.(?=\d))+\?)\s+(.+)", re.DOTALL)


class Explanation(QWidget):
    """The headline, the text, a misconception, the limit, and the ways on.

    Its parts are made once; each run fills them anew, so that it is explained without delay.
    `below_band` stands below the words about a recording.
    """

    confirm_wanted = Signal()
    experiment_wanted = Signal(str)

    def __init__(self, words: Words, look: Look, *below_band: QWidget | QLayout) -> None:
        super().__init__()
        self._words, self._look, self._to = words, look, ""
        self._lead = label("", "soft", wrap=True)
        self._band = label("", "attention", wrap=True)
        self._headline = label("", "lesson-head", wrap=True)
        self._text, self._answer, self._confirm, self._limit, self._ask = (
            Paragraph(look) for _ in range(5)
        )
        self._lines = column(space=4 * STEP)
        self._beside = holding(self._lines)  # so that what is read aloud keeps its order
        self._remarks: list[Paragraph] = []  # as many as were ever needed
        self._belief, self._asked = _strong(), _strong()
        self._view, self._next = WrappedLink(), WrappedLink()
        self._view.clicked.connect(lambda _checked=False: self.confirm_wanted.emit())
        self._next.clicked.connect(lambda _checked=False: self.experiment_wanted.emit(self._to))
        self._sources = _Sources(words)
        many, and_next = (words.say(key) for key in ("lesson.many_believe", "lesson.and_next"))
        parts = (
            self._text,
            self._beside,
            Aside(label(many, "soft"), self._belief, self._answer),
            column(self._confirm, self._view, space=STEP),
            Aside(self._asked, self._limit, edge="second"),
            Aside(_strong(and_next), self._ask, self._next, edge="main"),
            self._sources,
        )
        self._rest = holding(column(*parts, space=4 * STEP))
        above = self._lead, self._band, *below_band
        self.setLayout(column(*above, self._headline, self._rest, space=4 * STEP))

    def show_explained(
        self,
        told: Explained | None,
        *,
        view: str = "",
        to: str = "",
        title: str = "",
        sources: Sequence[Source] = (),
        lead: str = "",
        band: str = "",
    ) -> None:
        """Replace what is shown; None says that this run explains nothing.

        `lead` is said first: who was busy meanwhile. `band` names the recording whose numbers
        explain in place of the run's own, and says why.
        `view` is the title of the confirming view; `to` and `title` are the id and the question of
        the experiment that comes next. Without them there is no link.
        """
        say = self._words.say
        self._rest.setVisible(told is not None)
        show_text(self._lead, unbroken(lead))
        show_text(self._band, unbroken(band))
        self._headline.setText(unbroken(told.headline if told else say("lesson.cannot_tell")))
        if told is None:
            return
        self._text.tell(told.text)
        self._show_beside(told.beside)
        self._belief.setText(unbroken(told.belief))
        self._answer.tell(told.answer)
        self._confirm.tell(told.confirm)
        self._view.tell(say("lesson.look_at", {"view": view}))
        self._view.setVisible(bool(view))
        self._show_limit(told.why_not_double)
        self._ask.tell(told.transfer)
        self._to = to
        self._next.tell(f"{title or to} →")
        self._next.setVisible(bool(to))
        self._sources.show_sources(sources)

    def _show_beside(self, texts: Sequence[str]) -> None:
        for _ in texts[len(self._remarks) :]:
            self._remarks.append(Paragraph(self._look))
            self._lines.addWidget(self._remarks[-1])
        for remark in self._remarks[len(texts) :]:
            remark.hide()
        for remark, text in zip(self._remarks, texts, strict=False):
            remark.tell(text)
            remark.show()
        self._beside.setVisible(bool(texts))

    def _show_limit(self, text: str) -> None:
        """Show the block that names the limit; its question, where it begins with one, leads."""
        found = _QUESTION.fullmatch(text)
        asked, rest = found.groups() if found else (self._words.say("lesson.why_not_double"), text)
        self._asked.setText(unbroken(asked))
        self._limit.tell(rest)


class _Sources(QWidget):
    """The sources of the facts, folded at first."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._fold: QPushButton = button("", "small-link", clicked=self._turn)
        self._list = label("", "soft", wrap=True)
        head = column(self._fold)
        head.setAlignment(self._fold, Qt.AlignmentFlag.AlignLeft)
        self.setLayout(column(head, self._list))
        self._list.hide()
        self._tell()

    def show_sources(self, sources: Sequence[Source]) -> None:
        """Show other sources, or nothing; an unfolded list stays unfolded."""
        texts = (
            self._words.say("lesson.source", {"fact": each.fact, "source": each.source})
            for each in sources
        )
        self._list.setText("\n\n".join(texts))
        self.setVisible(bool(sources))

    def _turn(self) -> None:
        self._list.setVisible(self._list.isHidden())
        self._tell()

    def _tell(self) -> None:
        key = "lesson.show_sources" if self._list.isHidden() else "lesson.hide_sources"
        self._fold.setText(self._words.say(key))


def _strong(text: str = "") -> QLabel:
    return label(unbroken(text), "strong", wrap=True)
