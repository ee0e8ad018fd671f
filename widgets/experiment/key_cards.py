"""The numbers of a result that are read first, as cards that point at their marks in a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from experiments.core.declare import Key
from experiments.core.units import unbroken
from widgets.controls.basics import column, discard, label, set_role, tip
from widgets.controls.layouts import FlowLayout
from widgets.style.theme import STEP

POINTING = (QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A key number in words; without a `key` it points at nothing."""

    value: str  # the name of the value
    number: str
    label: str
    about: str = ""
    key: Key | None = None


class KeyCards(QWidget):
    """Cards side by side, or one below the other where they lack room."""

    key_pointed = Signal(object)  # Key of the card under the mouse or with the focus, else None

    def __init__(self) -> None:
        super().__init__()
        self._cards: list[KeyCard] = []
        self._flow = EvenLayout()
        self.setLayout(self._flow)

    def show_cards(self, cards: Sequence[Card]) -> None:
        """Show these cards in place of those before."""
        discard(*self._cards)
        self._cards = [KeyCard(card) for card in cards]
        for each in self._cards:
            self._flow.addWidget(each)
            each.pointed.connect(self._point)
        self.setVisible(bool(cards))

    def light_key(self, value: str) -> None:
        """Light the card of a value; "" for none."""
        for each in self._cards:
            each.light(lit=each.card.value == value)

    def _point(self) -> None:
        card = next((each.card for each in self._cards if each.is_pointed), None)
        self.light_key(card.value if card is not None else "")
        self.key_pointed.emit(card.key if card is not None else None)


class KeyCard(QFrame):
    """One number with its name."""

    pointed = Signal()  # at it, or no more

    def __init__(self, card: Card) -> None:
        super().__init__()
        self.card, self._is_under = card, False
        number = label(unbroken(card.number), "key-number", wrap=True)
        name, edges = label(card.label, "small", wrap=True), (3 * STEP, *(2 * STEP,) * 3)
        self.setLayout(column(number, name, None, space=0, edges=edges))
        self.setProperty("role", "key-card")
        self.setAccessibleName(f"{card.label}: {card.number}")
        self.setToolTip(tip(card.about))
        if card.key is not None:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def is_pointed(self) -> bool:
        """Is the mouse over it, or does it have the focus?"""
        return self.card.key is not None and (self._is_under or self.hasFocus())

    def light(self, *, lit: bool) -> None:
        """Light it, or not."""
        set_role(self, "key-card-lit" if lit else "key-card")

    def event(self, event: QEvent) -> bool:
        """Point at its mark while the mouse is over it, or it has the focus."""
        is_done, kind = super().event(event), event.type()
        if kind in POINTING:
            if kind in (QEvent.Type.Enter, QEvent.Type.Leave):
                self._is_under = kind == QEvent.Type.Enter
            self.pointed.emit()
        return is_done


class EvenLayout(FlowLayout):
    """All widgets in one line, equally wide and high; where one lacks room, one a line."""

    def _place(self, rect: QRect, *, move: bool) -> int:
        items = self._shown()
        if not items:
            return 0
        width = (rect.width() + self.spacing()) // len(items) - self.spacing()
        is_line = width >= max(item.minimumSize().width() for item in items)
        if not is_line:
            width = rect.width()
        heights = [
            item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
            for item in items
        ]
        left, top = rect.left(), rect.top()
        for item, own in zip(items, heights, strict=True):
            height = max(heights) if is_line else own
            if move:
                item.setGeometry(QRect(left, top, width, height))
            if is_line:
                left += width + self.spacing()
            else:
                top += height + self.spacing()
        return max(heights) if is_line else top - self.spacing() - rect.top()
