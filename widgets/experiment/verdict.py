"""The result of a run, read in five seconds: badge, verdict, cause and key numbers."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from experiments.core.teaching.glossary import Glossary
from widgets.controls.basics import button, column, holding, label, set_role, show_text
from widgets.controls.layouts import FlowLayout
from widgets.controls.links import TermLabel
from widgets.experiment.key_cards import Card, KeyCards
from widgets.style.look import Look
from widgets.style.theme import STEP

SHORT = 16  # words of a verdict that can be large
SIGNS = {"solid": "✓", "quick": "≈", "busy": "~", "disturbed": "!"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeText:
    """A badge of one of the kinds in SIGNS, in words."""

    kind: str
    name: str
    beside: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a run; empty parts are not shown."""

    lead: str = ""  # said first, in one line
    verdict: str = ""
    because: str = ""
    badge: BadgeText | None = None
    cards: tuple[Card, ...] = ()


class VerdictBlock(QWidget):
    """Shows one verdict. `key_pointed` carries the Key of the card that is pointed at, or None."""

    key_pointed = Signal(object)

    def __init__(self, glossary: Glossary, look: Look) -> None:
        super().__init__()
        self.badge = button("", "badge-solid")  # pressed, it tells its reason
        self._beside = label("", "soft")
        self.badge.setCheckable(True)
        self._reason = TermLabel(glossary, look, "soft")
        self.badge.toggled.connect(self._show_reason)
        self._head = holding(column(FlowLayout(self.badge, self._beside), self._reason))
        self._lead = TermLabel(glossary, look, "soft")
        self._verdict = TermLabel(glossary, look, "verdict")
        self._because = TermLabel(glossary, look)
        self._cards = KeyCards()
        self._cards.key_pointed.connect(self.key_pointed)
        words = column(self._lead, self._verdict, self._because, space=2 * STEP)
        self.setLayout(column(self._head, words, self._cards, space=3 * STEP))

    def show_verdict(self, shown: Verdict) -> None:
        """Show a verdict; the reason of its badge is folded again."""
        badge = shown.badge
        self._head.setVisible(badge is not None)
        self.badge.setChecked(False)
        if badge is not None:
            self.badge.setText(f"{SIGNS[badge.kind]} {badge.name}")
            self.badge.setAccessibleName(", ".join(filter(None, (badge.name, badge.beside))))
            set_role(self.badge, f"badge-{badge.kind}")
            show_text(self._beside, badge.beside)
        self._reason.say(badge.reason if badge is not None else "")
        self._show_reason(shown=False)
        self._lead.say(shown.lead)
        is_short = len(shown.verdict.split()) <= SHORT
        set_role(self._verdict, "verdict" if is_short else "head")
        self._verdict.say(_in_lines(shown.verdict) if is_short else shown.verdict)
        self._because.say(shown.because)
        self._cards.show_cards(shown.cards)
        self.setVisible(shown != Verdict())

    def light_key(self, value: str) -> None:
        """Light the card of the value with this name; "" for none."""
        self._cards.light_key(value)

    def _show_reason(self, shown: bool) -> None:
        self._reason.setVisible(shown and bool(self._reason.text()))


def _in_lines(verdict: str) -> str:
    """Begin a line with the second sentence: the two are mostly compared."""
    return verdict.replace(". ", ".\n", 1)
