"""Actions of a page, each declared once: its words, its keys, what it does, and when it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from experiments.core.words import Words

WINDOW = Qt.ShortcutContext.WindowShortcut
PAGE = Qt.ShortcutContext.WidgetWithChildrenShortcut
HERE = Qt.ShortcutContext.WidgetShortcut


class Actions(QObject):
    """The actions of a page, in the order of menu, palette and sheet of keys."""

    def __init__(self, page: QWidget, words: Words, context: Qt.ShortcutContext = WINDOW) -> None:
        super().__init__(page)
        self._page, self._words, self._context = page, words, context
        self._all: dict[str, QAction] = {}
        self._keys: dict[QAction, list[str]] = {}
        self._rules: dict[QAction, Callable[[Any], bool]] = {}
        self._groups: dict[int, list[QAction]] = {}

    def add(
        self,
        key: str,
        do: Callable[[], object] | None = None,
        keys: str = "",
        *,
        of: QWidget | None = None,
        help_key: str = "",
        when: Callable[[Any], bool] | None = None,
        group: int | None = None,
    ) -> QAction:
        """Declare an action by the key of its words, and return it.

        `keys` has its shortcuts, with a space between; those of a widget `of` the page act only
        while that has the focus. `help_key` is that of its tool tip. `when` gets what is handed to
        `allow`, and returns whether the action may be done. `group` is its part of the context
        menu.
        """
        action = self._all[key] = QAction(self._words.say(key), self)
        if keys:
            self._keys[action] = keys.split()
            action.setShortcuts([QKeySequence(each) for each in keys.split()])
            action.setShortcutContext(HERE if of is not None else self._context)
        if help_key:
            action.setToolTip(self._words.say(help_key))
        if do is not None:
            action.triggered.connect(lambda _checked=False: do())
        if when is not None:
            self._rules[action] = when
        if group is not None:
            self._groups.setdefault(group, []).append(action)
        (of or self._page).addAction(action)
        return action

    def __getitem__(self, key: str) -> QAction:
        """Return an action by the key of its words."""
        return self._all[key]

    def __iter__(self) -> Iterator[QAction]:
        """Yield those that may be done now."""
        return (each for each in self._all.values() if each.isEnabled() and each.isVisible())

    def allow(self, state: object) -> None:
        """Allow what may be done in this state."""
        for action, may in self._rules.items():
            action.setEnabled(may(state))

    def use_letters(self, used: bool) -> None:
        """Let single letters act as keys, or not (WCAG 2.1.4)."""
        for action, keys in self._keys.items():
            kept = [each for each in keys if used or len(each.removeprefix("Shift+")) > 1]
            action.setShortcuts([QKeySequence(each) for each in kept])

    def menu(self, parent: QWidget) -> QMenu:
        """Return the context menu, its groups apart."""
        menu = QMenu(parent)
        for _, group in sorted(self._groups.items()):
            menu.addSeparator()  # before the first one Qt shows none
            menu.addActions(group)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu
