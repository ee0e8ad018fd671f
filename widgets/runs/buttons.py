"""Buttons for the selected runs; only those that make sense are shown."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from experiments.core.words import Words
from widgets.controls.basics import IconButton, button, column, holding, leave_keys, row
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
        self.open = self._button("runs.open", "runs.open_run", "main")
        self.compare = self._button("runs.compare", "runs.compare_runs", "main")
        self.collage = self._button("runs.collage", "runs.collage_runs", tip="runs.collage_runs")
        self.replay = self._icon("play", "runs.replay_hint", "runs.replay_hint")
        self.again = self._button("runs.again", "runs.again_hint", tip="runs.again_hint")
        self.pin = self._icon("pin", "runs.pin", "runs.pin_runs")
        self.export = self._icon("export", "runs.export", "runs.export_runs")
        self.report = self._button("report.short", "report.of_run", tip="report.help")
        self.delete = self._icon("delete", "runs.delete", "runs.delete_runs")
        self.compare_with = self._button("runs.compare_with", "runs.compare_with", "flush-link")
        self.allow_comparison(allowed=True)
        self.leave = button(words.say("runs.compare_leave"), clicked=self.comparing_left.emit)
        self._all = (
            self.open, self.compare, self.again, self.compare_with, self.collage, self.leave,
            self.replay, self.pin, self.export, self.report, self.delete,
        )  # fmt: skip
        leave_keys(*self._all)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # so that the list can be its focus proxy
        icons = holding(row(self.replay, self.pin, self.export, self.delete, space=0))
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

    def _button(self, key: str, asks: str, role: str = "plain", *, tip: str = "") -> QPushButton:
        say = self._words.say
        asked = partial(self.asked.emit, asks)
        return button(say(key), role, clicked=asked, tip=say(tip) if tip else "")

    def _icon(self, name: str, key: str, asks: str) -> IconButton:
        asked = partial(self.asked.emit, asks)
        return IconButton(self._look, name, self._words.say(key), clicked=asked)

    def _offer(self, offered: set[QWidget]) -> None:
        for each in self._all:
            each.setVisible(each in offered)

    def _show_pin(self) -> None:
        theme = self._look.theme
        self.pin.setIcon(icon("pin", theme.accent if self._is_pinned else theme.soft))
        self.pin.call(self._words.say("runs.unpin" if self._is_pinned else "runs.pin"))
