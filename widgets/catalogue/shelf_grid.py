"""Grid of the cards, shelf by shelf, in as many columns as fit; follow-ups below their lesson."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.catalogue.card import Card
from widgets.catalogue.card_data import CardData, Filter, counted
from widgets.controls.basics import discard, label
from widgets.style.look import Look
from widgets.style.theme import STEP

NARROWEST, MOST_COLUMNS = 276, 4  # pixels of a card at zoom 1
GAP, BELOW_HEAD, BELOW_SHELF = 4 * STEP, 2 * STEP, 6 * STEP
BETWEEN = STEP  # a lesson and its follow-ups
ON_PATH = "path"  # names the head of a path
Stack = list[Card]  # a lesson's card, and below it those of its follow-ups


class ShelfGrid(QWidget):
    """All cards. `opened` carries an id, `reached` the card that got the focus."""

    opened = Signal(str)
    reached = Signal(QWidget)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._cards: dict[str, Card] = {}
        self._heads: dict[str, tuple[QLabel, QLabel]] = {}
        self._rows: list[list[Stack]] = []
        self._filter = Filter()
        self._margin, self._room = 0, 0
        look.changed.connect(self._arrange)

    @property
    def cards(self) -> list[CardData]:
        """All cards, shown or not, as data."""
        return [card.data for card in self._cards.values()]

    @property
    def shown(self) -> list[Card]:
        """The visible cards, in order."""
        return [card for row in self._rows for stack in row for card in stack]

    def show_cards(self, cards: Sequence[CardData]) -> None:
        """Show these experiments; existing cards stay, with their focus."""
        for gone in self._cards.keys() - {data.id for data in cards}:
            discard(self._cards.pop(gone))
        self._cards = {data.id: self._card(data) for data in cards}
        for shelf in dict.fromkeys(data.shelf for data in cards):
            self._head(shelf)
        self._count()
        self._arrange()
        for before, card in pairwise(self._cards.values()):
            QWidget.setTabOrder(before, card)

    def show_only(self, wanted: Filter) -> None:
        """Show only the cards that pass a filter."""
        self._filter = wanted
        if wanted.path is not None:
            self._head(ON_PATH)
        self._count()
        self._arrange()

    def arrange(self, width: int, margin: int) -> None:
        """Arrange the cards within `width`, with a margin on both sides."""
        self._room, self._margin = max(1, width - 2 * margin), margin
        self._arrange()

    def focus_on(self, experiment_id: str = "") -> bool:
        """Focus a card, the first one if the id is unknown; return whether there is any."""
        card = self._cards.get(experiment_id)
        if card is None or card.isHidden():
            card = next(iter(self.shown), None)
        if card is None:
            return False
        card.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _card(self, data: CardData) -> Card:
        card = self._cards.get(data.id)
        if card is not None:
            if card.data != data:
                card.show_data(data)
            return card
        card = Card(data, self._words, self._look)
        card.setParent(self)
        card.clicked.connect(lambda _checked=False: self.opened.emit(data.id))
        card.walked.connect(lambda key: self._walk(card, key))
        card.reached.connect(lambda: self.reached.emit(card))
        return card

    def _head(self, shelf: str) -> tuple[QLabel, QLabel]:
        if shelf not in self._heads:
            text = "" if shelf == ON_PATH else self._words.say(f"shelves.{shelf}")
            name, count = label(text, "head"), label(role="soft")
            name.setParent(self)
            count.setParent(self)
            self._heads[shelf] = name, count
        return self._heads[shelf]

    def _count(self) -> None:
        """Show at each shelf how much of it has been measured, once known."""
        path = self._filter.path
        for shelf, (name, count) in self._heads.items():
            counts = counted(data for data in self.cards if data.shelf == shelf)
            if shelf == ON_PATH and path is not None:
                counts = counted(data for data in self.cards if self._filter.passes(data))
                name.setText(path.about)
            key = "catalogue.count_lacking" if counts.get("lacking") else "catalogue.count"
            count.setText(self._words.say(key, counts) if counts.get("count") else "")

    def _walk(self, card: Card, key: int) -> None:
        """Move the focus to a neighbouring card, or to the first or last."""
        shown = self.shown
        place = shown.index(card)
        match key:
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                place += 1 if key == Qt.Key.Key_Right else -1
                target = shown[min(max(place, 0), len(shown) - 1)]
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                target = self._beyond(card, 1 if key == Qt.Key.Key_Down else -1)
            case _:
                target = shown[0 if key == Qt.Key.Key_Home else -1]
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _beyond(self, card: Card, way: int) -> Card:
        """Return the card below one (`way` 1) or above it (-1), the same one at the end."""
        row, column, level = next(
            (row, column, stack.index(card))
            for row, stacks in enumerate(self._rows)
            for column, stack in enumerate(stacks)
            if card in stack
        )
        stack = self._rows[row][column]
        if 0 <= level + way < len(stack):
            return stack[level + way]
        if not 0 <= row + way < len(self._rows):
            return card
        beyond = self._rows[row + way]
        return beyond[min(column, len(beyond) - 1)][0 if way > 0 else -1]

    def _arrange(self) -> None:
        """Place heads and cards; hide cards that do not pass."""
        zoom = self._look.theme.zoom
        columns = min(MOST_COLUMNS, max(1, (self._room + GAP) // (round(NARROWEST * zoom) + GAP)))
        width = (self._room - (columns - 1) * GAP) // columns
        passing = [card for card in self._cards.values() if self._filter.passes(card.data)]
        path = self._filter.path
        if path is not None:
            order = path.experiments
            passing.sort(key=lambda card: order.index(card.data.id))
        for card in self._cards.values():
            card.setVisible(card in passing)
        for parts in self._heads.values():
            for part in parts:
                part.hide()
        self._rows = []
        top = 0
        for shelf, cards in groupby(passing, key=self._head_of):
            top = self._place_head(shelf, top) + BELOW_HEAD
            standing = [
                [*stack]
                for _, stack in groupby(cards, key=_stands_with if path is None else _stands_alone)
            ]
            for start in range(0, len(standing), columns):
                row = standing[start : start + columns]
                self._rows.append(row)
                bottom = top
                for place, stack in enumerate(row):
                    below = top
                    for card in stack:
                        height = card.sizeHint().height()
                        card.setGeometry(self._margin + place * (width + GAP), below, width, height)
                        below += height + BETWEEN
                    bottom = max(bottom, below - BETWEEN)
                top = bottom + GAP
            top += BELOW_SHELF - GAP
        self.setFixedHeight(top)

    def _head_of(self, card: Card) -> str:
        """Return under which head a card stands: of its shelf, or of the path that is shown."""
        return card.data.shelf if self._filter.path is None else ON_PATH

    def _place_head(self, shelf: str, top: int) -> int:
        """Put the head of a shelf at `top`; return where it ends."""
        name, count = self._heads[shelf]
        for part in (name, count):
            part.show()
            part.ensurePolished()
            part.adjustSize()
        name.move(self._margin, top)
        right = self._margin + self._room
        count.move(right - count.width(), top + name.height() - count.height())
        return top + name.height()


def _stands_alone(card: Card) -> str:
    return card.data.id


def _stands_with(card: Card) -> str:
    return card.data.follows or card.data.id
