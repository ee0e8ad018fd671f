"""The actions of the runs, with their words and keys."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from experiments.core.words import Words

PAGE = Qt.ShortcutContext.WidgetWithChildrenShortcut
HERE = Qt.ShortcutContext.WidgetShortcut


class RunActions(QObject):
    """The place connects them, and says which are allowed.

    The keys of the list, such as Delete, act only while it has the focus.
    """

    def __init__(self, page: QWidget, table: QWidget, words: Words) -> None:
        super().__init__(page)
        self._words = words
        self._page, self._table = page, table
        self.open = self._made("runs.open_run", "Return", on_table=True)
        self.rename = self._made("runs.rename", "F2", on_table=True)
        self.pin = self._made("runs.pin_runs", "P", on_table=True)
        self.compare = self._made("runs.compare_runs")
        self.compare_with = self._made("runs.compare_with")
        self.collage = self._made("runs.collage_runs")
        self.replay = self._made("runs.replay_hint", "R", on_table=True)
        self.again = self._made("runs.again_hint", "Shift+R", on_table=True)
        self.export = self._made("runs.export_runs", "Ctrl+E")
        self.report = self._made("report.of_run", "Ctrl+P")
        self.delete = self._made("runs.delete_runs", "Del", on_table=True)
        self.undo = self._made("runs.undo_delete", "Ctrl+Z")
        self.search = self._made("runs.search", "Ctrl+F")
        self.bring = self._made("runs.import_runs", "Ctrl+O")
        self.restore = self._made("runs.restore")
        self.empty_bin = self._made("runs.empty_bin")
        self.rebuild = self._made("runs.rebuild")

    def __iter__(self) -> Iterator[QAction]:
        """Yield the allowed ones, for menu, palette and sheet."""
        return (
            each
            for each in (
                self.open, self.replay, self.again, self.compare, self.compare_with, self.collage,
                self.rename, self.pin, self.export, self.report, self.delete, self.undo,
                self.search, self.bring,
                self.restore, self.empty_bin, self.rebuild,
            )
            if each.isEnabled()
        )  # fmt: skip

    def allow(
        self, *, whole: int, damaged: int, comparable: bool, has_others: bool, can_undo: bool
    ) -> None:
        """Allow the actions for so many whole and damaged selected runs.

        `has_others`: there are more runs of their experiment.
        """
        is_one = whole == 1 and not damaged
        for each in (self.open, self.replay, self.again, self.rename, self.report):
            each.setEnabled(is_one)
        self.compare_with.setEnabled(is_one and has_others)
        for each in (self.pin, self.export):
            each.setEnabled(whole > 0)
        self.compare.setEnabled(comparable)
        self.collage.setEnabled(whole > 1)
        self.delete.setEnabled(whole + damaged > 0)
        self.undo.setEnabled(can_undo)

    def use_letters(self, used: bool) -> None:
        """Let single letters act as keys, or not."""
        self.pin.setShortcut(QKeySequence("P" if used else ""))
        self.replay.setShortcut(QKeySequence("R" if used else ""))
        self.again.setShortcut(QKeySequence("Shift+R" if used else ""))

    def menu(self, parent: QWidget) -> QMenu:
        """Return the menu of the selected runs."""
        menu = QMenu(parent)
        for each in (
            self.open, self.replay, self.again, self.compare_with, self.compare, self.collage,
        ):  # fmt: skip
            menu.addAction(each)
        menu.addSeparator()
        for each in (self.rename, self.pin, self.report, self.export):
            menu.addAction(each)
        menu.addSeparator()
        menu.addAction(self.delete)
        for each in (self.undo, self.restore):
            menu.addAction(each)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _made(self, key: str, keys: str = "", *, on_table: bool = False) -> QAction:
        action = QAction(self._words.say(key), self)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(HERE if on_table else PAGE)
        (self._table if on_table else self._page).addAction(action)
        return action
