"""The catalogue: all experiments on their shelves, filters, search, and a surprise."""

from __future__ import annotations

import random
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.catalogue.card import WALKS, Card
from widgets.catalogue.card_data import CardData, Filter, PathData, State, counted
from widgets.catalogue.filter_bar import FilterBar
from widgets.catalogue.shelf_grid import NARROWEST, ShelfGrid
from widgets.controls.actions import PAGE, Actions
from widgets.controls.basics import button, column, holding, label, row
from widgets.controls.layouts import DownArea, Fitting
from widgets.controls.place_head import BELOW, MARGINS, PlaceHead
from widgets.style.look import Look
from widgets.style.theme import STEP

MARGIN = MARGINS[0]
SCROLL_BAR_PX = 16
SURPRISE_S = 30.0  # a surprise takes at most that long


class Catalogue(Fitting):
    """Filters above, shelves below. `opened` carries the id of an experiment."""

    opened = Signal(str)
    guesses_wanted = Signal()  # ten guesses in three minutes
    path_chosen = Signal(str)  # the id of a path, "" for none
    lecture_wanted = Signal(str)  # this experiment shall be an item of a lecture

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._bar = FilterBar(words, look)
        self._grid = ShelfGrid(words, look)
        self._paths: Sequence[PathData] = ()
        self._bar.changed.connect(self._filter)
        self._bar.changed.connect(self._tell_path)
        self._bar.surprised.connect(self._surprise)
        self._bar.guesses_wanted.connect(self.guesses_wanted)
        self._bar.left.connect(self._grid.focus_on)
        self._grid.opened.connect(self.opened)
        self._grid.reached.connect(self._show_whole)
        self._scroll = DownArea(self._grid)
        self._nothing = self._sentence()
        about = label(words.say("catalogue.about"), "soft")
        title = label(words.say("catalogue.title"), "title")
        head = column(PlaceHead(about, title, self._bar), edges=(*MARGINS[:3], BELOW))
        layout = column(head, self._nothing, self._scroll, space=0, grows=1)
        layout.setStretch(2, 1)
        self.setLayout(layout)
        actions = self._actions = Actions(self, words, PAGE)
        actions.add("catalogue.search", self._bar.search, "/ Ctrl+F")
        self._surprise_action = actions.add("catalogue.surprise", self._surprise)
        actions.add("catalogue.show_all", self._bar.show_all)
        actions.add("catalogue.add_to_lecture", self._add_to_lecture, "L")
        self._filter()
        self._allow_surprise()
        look.changed.connect(self._fit)

    @property
    def cards(self) -> Sequence[CardData]:
        """All cards, shown or not, as data."""
        return self._grid.cards

    @property
    def least_px(self) -> int:
        """The least width in which every card has room for its question."""
        return round(NARROWEST * self._look.theme.zoom) + 2 * MARGIN + SCROLL_BAR_PX

    def show_cards(self, cards: Sequence[CardData]) -> None:
        """Show these experiments; call it again after any change."""
        self._bar.offer_parts({part for each in cards for part in each.parts})
        self._grid.show_cards(cards)
        self._offer_paths()
        self._filter()
        self._allow_surprise()

    def show_paths(self, paths: Sequence[PathData], chosen: str) -> None:
        """Offer ways through the experiments, and show one of them if its id is `chosen`."""
        self._paths = paths
        self._offer_paths()
        self._bar.choose_path(next((path for path in paths if path.id == chosen), None))

    def _offer_paths(self) -> None:
        """Offer the paths with how much of each is measured, once that is known."""
        offered = []
        for path in self._paths:
            there = Filter(path=path)
            known = counted(data for data in self._grid.cards if there.passes(data))
            key = "catalogue.path_counted" if known else "catalogue.path_titled"
            offered.append((self._words.say(key, {"title": path.title, **known}), path))
        self._bar.offer_paths(offered)

    def _tell_path(self) -> None:
        path = self._bar.filter.path
        self._allow_surprise()
        self.path_chosen.emit(path.id if path is not None else "")

    def focus_on(self, experiment_id: str = "") -> None:
        """Focus the card of an experiment, otherwise the first card."""
        if not self._grid.focus_on(experiment_id):
            self._bar.search()

    def use_letters(self, used: bool) -> None:
        """Let single letters act as keys, or not."""
        self._actions.use_letters(used)

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions of this page."""
        return tuple(self._actions)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let arrow keys enter the cards from anywhere."""
        if event.key() in WALKS and not event.modifiers():
            self.focus_on()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Measure again after a change of style sheet."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        self._grid.arrange(self.width(), MARGIN)

    def _filter(self) -> None:
        self._grid.show_only(self._bar.filter)
        is_empty = bool(self._grid.cards) and not self._grid.shown
        self._nothing.setVisible(is_empty)
        self._scroll.setVisible(not is_empty)
        self._fit()

    def _sentence(self) -> QWidget:
        again = button(self._words.say("catalogue.show_all"), clicked=self._bar.show_all)
        said = label(self._words.say("catalogue.nothing_such"))
        said.setAlignment(Qt.AlignmentFlag.AlignCenter)
        return holding(column(None, said, row(None, again, None), None, space=3 * STEP))

    def _show_whole(self, card: QWidget) -> None:
        self._scroll.ensureWidgetVisible(card, 0, 12 * STEP)

    def _to_come(self) -> list[str]:
        """Return what is new on the chosen path, in its order, then what is to be run again.

        Beside other programs a run stays partial each time: it must not hold up the path.
        """
        path, again = self._bar.filter.path, (State.PARTIAL, State.FAILED)
        if path is None:
            return []
        states = {data.id: data.state for data in self._grid.cards}
        return [
            each
            for open_ in ((State.NEW,), again)
            for each in path.experiments
            if states.get(each) in open_
        ]

    def _surprises(self) -> list[str]:
        """Return what "Surprise me" may open; on a path the next one alone."""
        if self._bar.filter.path is not None:
            return self._to_come()[:1]
        return [
            data.id
            for data in self._grid.cards
            if data.state is State.NEW and (data.seconds or 0.0) <= SURPRISE_S
        ]

    def _allow_surprise(self) -> None:
        has_some = bool(self._surprises())
        unsaid = (State.UNKNOWN, State.FROM_FILE)
        is_known = all(data.state not in unsaid for data in self._grid.cards)
        is_over = is_known and not has_some
        key = "catalogue.no_surprise" if is_over else "catalogue.surprise_help"
        on_path = self._bar.filter.path is not None
        if on_path:
            key = "catalogue.path_over" if is_over else "catalogue.go_on_help"
        named = self._words.say("catalogue.go_on" if on_path else "catalogue.surprise")
        self._bar.surprise.setText(named)
        self._surprise_action.setText(named)
        self._bar.surprise.setEnabled(has_some)
        self._bar.surprise.setToolTip(self._words.say(key))
        self._bar.surprise.setAccessibleDescription(self._words.say(key))
        self._surprise_action.setEnabled(has_some)

    def _surprise(self) -> None:
        surprises = self._surprises()
        if surprises:
            self.opened.emit(random.choice(surprises))

    def _add_to_lecture(self) -> None:
        """Want the experiment whose card has the keyboard."""
        card = self.window().focusWidget()
        if isinstance(card, Card):
            self.lecture_wanted.emit(card.data.id)
