"""Result of a run: the verdict, what to do next, and folded below it all that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from experiments.core.teaching.glossary import Glossary
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, grid, holding, label, row, tip
from widgets.controls.fold import Fold
from widgets.controls.links import Link, LinkLabel, TermLabel
from widgets.controls.wrapped import WrappedLink
from widgets.experiment.verdict import Verdict, VerdictBlock
from widgets.style.look import Look
from widgets.style.theme import STEP

MOST_LIMITS = 4  # more are not read; the rest tells how it was measured
_NAMED = re.compile(r"`([a-z-]+)`")  # as written for the terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """The next steps: settings to change, and an experiment; "" where there is none.

    The words before a colon are the link.
    """

    setting_text: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)
    experiment_text: str = ""
    experiment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A run that has ended. Values are (label, number with unit[, what was timed or counted])."""

    verdict: Verdict = field(default_factory=Verdict)
    further: Further = field(default_factory=Further)
    values: Sequence[tuple[str, ...]] = ()
    limits: Sequence[str] = ()  # what it cannot tell, the most important first
    measured: Sequence[str] = ()  # how it was measured, in sentences
    conditions: Sequence[tuple[str, str]] = ()


class ResultBlock(QWidget):
    """Shows one result; unfolded parts stay unfolded with the next result.

    An experiment named in a sentence becomes a link below it; `experiment_wanted` carries its id.
    """

    experiment_wanted = Signal(str)
    setting_wanted = Signal(dict)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look, self.glossary = words, look, Glossary(words)
        self._shown: Result | None = None
        self.verdict = VerdictBlock(self.glossary, look)
        self._next = _NextBlock(words, look)
        self._next.setting_wanted.connect(self.setting_wanted)
        self._next.experiment_wanted.connect(self.experiment_wanted)
        self._values, self._limits, self._measured = (
            Fold(words.say(key))
            for key in ("page.all_numbers", "page.cannot_tell", "page.how_measured")
        )
        folds = column(self._values, self._limits, self._measured, space=0)
        self.setLayout(column(self.verdict, self._next, folds, space=4 * STEP))

    def show_result(self, result: Result) -> bool:
        """Show a result; return whether it has changed."""
        if result == self._shown:
            return False
        self._shown = result
        self.verdict.show_verdict(result.verdict)
        self._next.show_further(result.further)
        values, limits = result.values, result.limits[:MOST_LIMITS]
        measured = (*result.measured, *result.limits[MOST_LIMITS:])
        conditions = result.conditions
        self._values.hold((lambda: _table(values)) if values else None, len(values))
        self._limits.hold((lambda: self._list(limits)) if limits else None, len(limits))
        self._measured.hold(
            (lambda: self._how(measured, conditions)) if measured or conditions else None
        )
        return True

    def _how(self, sentences: Sequence[str], conditions: Sequence[tuple[str, str]]) -> QWidget:
        facts = (
            label(unbroken(f"{name}: {value}"), "soft", wrap=True) for name, value in conditions
        )
        parts = [self._list(sentences)] if sentences else []
        return holding(column(*parts, column(*facts, space=STEP), space=3 * STEP))

    def _list(self, sentences: Sequence[str]) -> QWidget:
        """Return a bulleted list of sentences."""
        lines = column(space=STEP + 2)
        for sentence in sentences:
            words = TermLabel(self.glossary, self._look, "soft")
            words.say(self._plain(sentence))
            text = column(words, *self._links(sentence), space=0)
            lines.addLayout(row(_dot(), text, grows=1))
        return holding(lines)

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


class _NextBlock(QFrame):
    """Two links: settings to change, and another experiment."""

    setting_wanted = Signal(dict)
    experiment_wanted = Signal(str)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self.setProperty("role", "next")
        self._further = Further()
        self._setting, self._experiment = LinkLabel(look), LinkLabel(look)
        self._setting.linkActivated.connect(
            lambda _link: self.setting_wanted.emit(dict(self._further.setting))
        )
        self._experiment.linkActivated.connect(self.experiment_wanted)
        head = label(words.say("page.next"), "strong")
        parts, edges = (head, self._setting, self._experiment), (4 * STEP, *(3 * STEP,) * 3)
        self.setLayout(column(*parts, space=STEP, edges=edges))

    def show_further(self, further: Further) -> None:
        self._further = further
        _show_link(self._setting, further.setting_text, "setting")
        _show_link(self._experiment, further.experiment_text, further.experiment)
        self.setVisible(bool(further.setting_text or further.experiment_text))


def _show_link(shown: LinkLabel, text: str, target: str) -> None:
    """Show a text, of which what stands before its colon is a link."""
    linked = text.partition(":")[0]
    shown.show_text(text, [Link(0, len(linked), target)] if text else ())


def _table(values: Sequence[tuple[str, ...]]) -> QWidget:
    cells = grid(3 * STEP, STEP // 2)  # tight, so that long lists fit
    cells.setColumnStretch(0, 1)
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
        cells.addWidget(words, place, 0, Qt.AlignmentFlag.AlignTop)
        right = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
        cells.addWidget(figure, place, 1, right)
    return holding(cells)


def _dot() -> QLabel:
    dot = label("·", "soft")
    dot.setAlignment(Qt.AlignmentFlag.AlignTop)
    return dot
