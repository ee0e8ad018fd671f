"""Buttons for the selected runs; only those that make sense are shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import IconButton, button, column, leave_keys, row
from widgets.controls.layouts import FlowLayout
from widgets.style.icons import icon
from widgets.style.look import Look


class RunButtons(QWidget):
    """Emits the action that was asked for, by the key of its words."""

    asked = Signal(str)
    comparing_left = Signal()

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words, self._is_pinned = look, words, False
        say = words.say
        self.open = button(say("runs.open"), "main", clicked=self._asks("runs.open_run"))
        self.compare = button(say("runs.compare"), "main", clicked=self._asks("runs.compare_runs"))
        self.collage = button(say("runs.collage"), clicked=self._asks("runs.collage_runs"))
        self.collage.setToolTip(say("runs.collage_runs"))
        self.replay = IconButton(look, "play", say("runs.replay_hint"))
        self.replay.clicked.connect(self._asks("runs.replay_hint"))
        self.again = button(say("runs.again"), clicked=self._asks("runs.again_hint"))
        self.again.setToolTip(say("runs.again_hint"))
        self.pin = IconButton(look, "pin", say("runs.pin"))
        self.pin.clicked.connect(self._asks("runs.pin_runs"))
        self.export = IconButton(look, "export", say("runs.export"))
        self.export.clicked.connect(self._asks("runs.export_runs"))
        self.report = button(say("report.short"), clicked=self._asks("report.of_run"))
        self.report.setToolTip(say("report.help"))
        self.delete = IconButton(look, "delete", say("runs.delete"))
        self.delete.clicked.connect(self._asks("runs.delete_runs"))
        self.compare_with = button(
            say("runs.compare_with"), "flush-link", clicked=self._asks("runs.compare_with")
        )
        self.allow_comparison(allowed=True)
        self.leave = button(say("runs.compare_leave"), clicked=self.comparing_left.emit)
        self._all = (
            self.open, self.compare, self.again, self.compare_with, self.collage, self.leave,
            self.replay, self.pin, self.export, self.report, self.delete,
        )  # fmt: skip
        leave_keys(*self._all)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # so that the list can be its focus proxy
        icons = QWidget()
        icons.setLayout(row(self.replay, self.pin, self.export, self.delete, space=0))
        buttons = FlowLayout(
            self.open, self.compare, self.collage, self.again, self.report, self.leave, icons
        )
        self.setLayout(column(buttons, row(self.compare_with, None)))
        look.changed.connect(self._show_pin)

    def show_one(self, *, is_whole: bool, is_pinned: bool) -> None:
        """Show the buttons for one run; of a damaged one only "delete"."""
        whole: set[QWidget] = {
            self.open, self.replay, self.again, self.compare_with, self.pin, self.export,
            self.report, self.delete,
        }  # fmt: skip
        self._offer(whole if is_whole else {self.delete})
        self._is_pinned = is_pinned
        self._show_pin()

    def allow_comparison(self, *, allowed: bool) -> None:
        """Enable comparing, if there is another run."""
        self.compare_with.setEnabled(allowed)
        key = "runs.compare_with_hint" if allowed else "page.no_other_run"
        self.compare_with.setToolTip(self._words.say(key))

    def show_several(
        self, *, can_compare: bool, can_collage: bool = False, are_pinned: bool = False
    ) -> None:
        """Show the buttons for several runs."""
        offered: set[QWidget] = {self.pin, self.export, self.delete}
        offered |= {self.compare} if can_compare else set()
        self._offer(offered | ({self.collage} if can_collage else set()))
        self._is_pinned = are_pinned
        self._show_pin()

    def show_asking(self) -> None:
        """Show only the button that cancels the comparison."""
        self._offer({self.leave})

    def _asks(self, key: str) -> Callable[..., None]:
        return lambda *_checked: self.asked.emit(key)

    def _offer(self, offered: set[QWidget]) -> None:
        for each in self._all:
            each.setVisible(each in offered)

    def _show_pin(self) -> None:
        theme = self._look.theme
        self.pin.setIcon(icon("pin", theme.accent if self._is_pinned else theme.soft))
        name = self._words.say("runs.unpin" if self._is_pinned else "runs.pin")
        self.pin.setToolTip(name)
        self.pin.setAccessibleName(name)
