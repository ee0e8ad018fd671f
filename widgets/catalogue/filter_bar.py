"""Filters of the catalogue: chips with menus, a search field, and the surprise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from experiments.core.declare import Part
from experiments.core.words import Words
from widgets.catalogue.card_data import Filter, PathData
from widgets.controls.basics import Chip, button, chip
from widgets.controls.layouts import FlowLayout
from widgets.controls.search_field import SearchField
from widgets.style.look import Look
from widgets.style.theme import STEP

LENGTHS_S = (10.0, 30.0, 120.0)
SEARCH_WIDTH = 180  # pixels at zoom 1


class FilterBar(QWidget):
    """`changed` follows each change of `filter`, `left` a key that leads to the cards."""

    changed = Signal()
    surprised = Signal()
    guesses_wanted = Signal()
    left = Signal()

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, say = words, words.say
        self.filter = Filter()
        self._part = MenuChip(say("catalogue.any_part"), say("catalogue.part_help"))
        self._length = MenuChip(say("catalogue.any_length"), say("catalogue.length_help"))
        here_help = say("catalogue.only_here_help")
        self._path = MenuChip(say("catalogue.no_path"), say("catalogue.path_help"))
        self._here = chip(say("catalogue.only_here"), checkable=True, tip=here_help)
        self._here.toggled.connect(lambda _on: self._read())
        self._search = SearchField(look, say("catalogue.search"), SEARCH_WIDTH)
        self._search.setToolTip(say("catalogue.search_help"))
        self._search.textChanged.connect(lambda _text: self._read())
        self._search.left.connect(self.left)
        self._all = button(say("catalogue.show_all"), "chip", clicked=self.show_all)
        self._all.hide()
        surprise = say("catalogue.surprise")
        self.surprise = button(surprise, "chip-main", clicked=self.surprised.emit)
        about = say("guess.title")
        guesses = button(say("guess.chip"), "chip", clicked=self.guesses_wanted.emit, tip=about)
        guesses.setAccessibleDescription(about)
        for menu in (self._part, self._length, self._path):
            menu.chosen.connect(self._read)
        self._length.offer(
            [(say("catalogue.at_most", {"limit_s": limit}), limit) for limit in LENGTHS_S]
        )
        chips = (
            self._all,
            self._part,
            self._length,
            self._path,
            self._here,
            self._search,
            guesses,
            self.surprise,
        )
        self.setLayout(FlowLayout(*chips))

    def offer_parts(self, parts: Collection[Part]) -> None:
        """Offer these parts of the machine, from the cores outwards."""
        ordered = [part for part in Part if part in parts]
        self._part.offer([(self._words.say(f"parts.{part}"), part) for part in ordered])

    def offer_paths(self, paths: Sequence[tuple[str, PathData]]) -> None:
        """Offer these paths, each with its title and how much of it is measured."""
        self._path.offer(paths)

    def choose_path(self, path: PathData | None) -> None:
        """Show one path alone, or all experiments."""
        self._path.choose(path)
        self._read()

    def show_all(self) -> None:
        """Clear all filters."""
        had_focus = self._all.hasFocus()
        self._part.choose(None)
        self._length.choose(None)
        self._path.choose(None)
        self._here.setChecked(False)
        self._search.clear()
        self._read()
        if had_focus:  # it is about to hide
            self._part.setFocus()

    def search(self) -> None:
        """Focus the search field."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def _read(self) -> None:
        wanted = Filter(
            part=self._part.value,
            seconds=self._length.value,
            only_here=self._here.isChecked(),
            text=self._search.text().strip(),
            path=self._path.value,
        )
        if wanted != self.filter:
            self.filter = wanted
            self._all.setVisible(wanted != Filter())
            self.changed.emit()


class MenuChip(Chip):
    """A chip that opens a menu and shows its choice; at first nothing is chosen."""

    chosen = Signal()
    TAIL = " ▾"

    def __init__(self, text: str, tip: str) -> None:
        super().__init__(text, checkable=True)
        self._any_text = text
        self.value: Any = None
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
        self._menu = QMenu(self)
        self._group = QActionGroup(self)
        self._options: dict[Any, QAction] = {}
        self.clicked.connect(self._open)
        self.offer([])

    def offer(self, options: Sequence[tuple[str, Any]]) -> None:
        """Offer these texts and values; a choice that is still there stays."""
        if list(self._options) == [None, *(value for _, value in options)]:
            for text, value in options:
                self._options[value].setText(text)
            self.choose(self.value)
            return
        self._menu.clear()
        self._options = {}
        for text, value in [(self._any_text, None), *options]:
            action = self._menu.addAction(text)
            action.setCheckable(True)
            self._group.addAction(action)
            action.triggered.connect(partial(self._take, value))
            self._options[value] = action
        self.choose(self.value if self.value in self._options else None)

    def choose(self, value: Any) -> None:
        """Choose one; None for no choice."""
        self.value = value
        action = self._options[value]
        action.setChecked(True)
        self.setText(action.text())
        self.setChecked(value is not None)

    def _take(self, value: Any, _checked: bool = False) -> None:
        self.choose(value)
        self.chosen.emit()

    def _open(self) -> None:
        self.setChecked(self.value is not None)
        self._menu.popup(self.mapToGlobal(QPoint(0, self.height() + STEP)))
        self._menu.setActiveAction(self._options[self.value])
