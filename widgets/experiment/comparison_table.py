"""Comparison of two runs: values side by side, each with a verdict in a word and a sign.

In a narrow column the name of a value stands above its numbers instead of before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, discard, grid, holding, label, tip
from widgets.controls.layouts import Fitting
from widgets.style.look import Look
from widgets.style.theme import STEP

NARROW_PX = 520  # at zoom 1
VERDICTS = {  # the sign of each, and what it means
    "higher": ("↑", "terminal.higher_means"),
    "lower": ("↓", "terminal.lower_means"),
    "same": ("≈", "terminal.same_means"),
    "unclear": ("?", "terminal.unclear_means"),
    "too_few": ("…", "terminal.too_few_means"),
    "elsewhere": ("≠", "terminal.elsewhere_means"),
}
HEADINGS = ("A", "B", "B / A")
NONE = "–"  # for a missing value or verdict


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One value of two runs, in words, "" if a run has none; `verdict` is a key of `verdicts`.

    `about` says what was timed or counted.
    """

    label: str
    a: str
    b: str
    ratio: str = ""
    verdict: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs in words. With a `refusal` the rest is empty."""

    a: str = ""  # names of the runs
    b: str = ""
    said: str = ""  # the verdict in a sentence, of a copy beside its original
    cautions: Sequence[str] = ()  # differences between the runs, or missing parts
    rows: Sequence[ComparedRow] = ()
    footnotes: Sequence[str] = ()
    refusal: str = ""


class ComparisonTable(Fitting):
    """Shows one Comparison at its full height."""

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._comparison = Comparison()
        self._is_narrow: bool | None = None
        self._body = QWidget()
        self._layout = column(self._body)
        self.setLayout(self._layout)
        self.setAccessibleName(words.say("runs.comparison"))
        look.changed.connect(self._fit)

    def show_comparison(self, comparison: Comparison) -> bool:
        """Show a comparison; return whether it has changed."""
        if comparison == self._comparison:
            return False
        self._comparison = comparison
        self._fill()
        return True

    def _fit(self) -> None:
        """Put the names above the numbers if room is short."""
        if self._is_narrow != (self.width() < NARROW_PX * self._look.theme.zoom):
            self._fill()

    def _fill(self) -> None:
        self._is_narrow = self.width() < NARROW_PX * self._look.theme.zoom
        shown, say = self._comparison, self._words.say
        parts: list[QWidget] = []
        if shown.refusal:
            parts.append(label(shown.refusal, wrap=True))
        else:
            if shown.said:
                parts.append(label(unbroken(shown.said), "head", wrap=True))
            parts.append(_run("A", shown.a, say("runs.a_drawn")))
            parts.append(_run("B", shown.b, say("runs.b_drawn")))
            parts += [label(unbroken(caution), wrap=True) for caution in shown.cautions]
            if shown.rows:
                parts.append(self._table(shown.rows))
            parts += [label(unbroken(note), "soft", wrap=True) for note in shown.footnotes]
        body = holding(column(*parts, None))
        self._layout.replaceWidget(self._body, body)
        discard(self._body)
        self._body = body
        body.show()

    def _table(self, rows: Sequence[ComparedRow]) -> QWidget:
        cells = grid((2 if self._is_narrow else 3) * STEP, STEP, (0, STEP, 0, STEP))
        first = 0 if self._is_narrow else 1
        for place, heading in enumerate(HEADINGS, first):
            cells.addWidget(_number(heading, "soft"), 0, place)
            cells.setColumnStretch(place, int(bool(self._is_narrow)))
        if not self._is_narrow:
            cells.setColumnStretch(0, 2)
            cells.setColumnStretch(first + 3, 1)
        line, are_judged = 1, any(each.verdict for each in rows)
        for each in rows:
            name = label(each.label, "soft" if self._is_narrow else "text", wrap=True)
            name.setToolTip(tip(each.about))
            if self._is_narrow:
                name.setContentsMargins(0, STEP, 0, 0)
                cells.addWidget(name, line, 0, 1, 3)
                line += 1
            else:
                cells.addWidget(name, line, 0)
            undivided = self._words.say("terminal.no_ratio") if each.verdict else NONE
            texts = (each.a or NONE, each.b or NONE, each.ratio or undivided)
            numbers = [_number(text, "number") for text in texts]
            for number, why in zip(numbers, self._why_none(each, are_judged), strict=True):
                number.setToolTip(tip(self._words.say(why) if why else ""))
            for place, number in enumerate(numbers, first):
                cells.addWidget(number, line, place)
            if each.verdict and self._is_narrow:
                line += 1
                cells.addWidget(self._verdict(each), line, 0, 1, 3, Qt.AlignmentFlag.AlignRight)
            elif each.verdict:
                cells.addWidget(self._verdict(each), line, first + 3)
            line += 1
        return holding(cells)

    def _why_none(self, compared: ComparedRow, are_judged: bool) -> tuple[str, str, str]:
        """Return why A, B and their ratio are missing, each "" if there is nothing to explain."""
        lacks = [("" if text else "runs.lacks_value") for text in (compared.a, compared.b)]
        no_ratio = ""
        if not compared.ratio and compared.verdict:
            no_ratio = "runs.no_ratio"
        elif not compared.ratio and are_judged:
            no_ratio = "terminal.unjudged_means"
        return lacks[0], lacks[1], no_ratio

    def _verdict(self, compared: ComparedRow) -> QLabel:
        differs = compared.verdict in ("higher", "lower")
        word = self._words.say(f"verdicts.{compared.verdict}")
        sign, means = VERDICTS[compared.verdict]
        shown = label(f"{sign} {word}", "differs" if differs else "soft")
        shown.setAccessibleName(f"{compared.label}: {word}")
        shown.setToolTip(tip(self._words.say(means)))
        return shown


def _run(letter: str, name: str, drawn: str) -> QWidget:
    cells = grid(2 * STEP, STEP + 2)
    cells.addWidget(label(letter, "strong"), 0, 0, Qt.AlignmentFlag.AlignTop)
    cells.addWidget(label(name, wrap=True), 0, 1)
    cells.addWidget(label(drawn, "soft", wrap=True), 1, 1)
    cells.setColumnStretch(1, 1)
    return holding(cells)


def _number(text: str, role: str) -> QLabel:
    shown = label(text, role, wrap=not any(map(str.isdigit, text)))  # words may wrap
    shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return shown
