"""The page of the checkup: counts, rows by stage, what is under way, what was watched."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QWidget

from experiments.checkup.result import Word
from experiments.core.words import Words
from widgets.checkup.counts import CountLine
from widgets.checkup.empty_state import EmptyState
from widgets.checkup.page_data import PageData, RowData
from widgets.checkup.row_list import RowList
from widgets.checkup.trace_plot import TracePanel
from widgets.checkup.under_way import UnderWay
from widgets.controls.actions import Actions
from widgets.controls.basics import column, discard, holding, label
from widgets.controls.elided import ElidedLabel
from widgets.controls.fold import Fold
from widgets.controls.layouts import DownArea
from widgets.controls.place_head import BELOW, PlaceHead, chip_row
from widgets.experiment.action_button import ActionButton
from widgets.style.look import Look
from widgets.style.theme import STEP

OPEN = (Word.LOOK, Word.PROBLEM, Word.UNCHECKED)  # as a check ends


class CheckupPage(QWidget):
    """Shows a result, or a checkup on its way; its actions are for menu and palette too."""

    followed = Signal(str)  # the target of a row's link

    def __init__(self, words: Words, look: Look, stages: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.actions_here = Actions(self, words)
        add = self.actions_here.add

        def made(name: str, keys: str = "") -> QAction:
            return add(f"checkup_page.{name}", keys=keys, help_key=f"checkup_page.{name}_help")

        self.check, self.quick = made("check", "F5"), made("quick", "Shift+F5")
        self.soak, self.compare, self.report = made("soak"), made("compare"), made("report")
        self.baseline, self.order = made("save_baseline"), made("order")
        plain = (self.report, self.compare, self.soak, self.quick)
        self.buttons = {action: ActionButton(action, "plain", hint="") for action in plain}
        self.buttons[self.check] = ActionButton(self.check, "main", hint="")
        self._buttons = chip_row(*self.buttons.values())
        self.about = ElidedLabel("soft")
        self._counts = CountLine(look)
        self._standing = label(words.say("checkup.standing"), "soft", wrap=True)
        self._notes, self._shown_notes = column(space=STEP), list[QLabel]()
        self.under_way = UnderWay(words)
        self.empty_state = EmptyState(words, stages)
        self.rows, self.trace = RowList(words, look), TracePanel(words, look)
        self.rows.followed.connect(self.followed)
        self.absent = Fold(words.say("checkup_page.absent"))
        self._links = chip_row(
            ActionButton(self.baseline, "flush-link", hint=""),
            ActionButton(self.order, "flush-link", hint=""),
        )
        self._data = PageData()
        self._arrange()
        self.rows.hide()
        self._standing.hide()

    def tell(self, data: PageData) -> None:
        """Show a result, or what is known of one on its way; what stays the same stays."""
        before, self._data = self._data, data
        self.about.setText(data.about)
        self._counts.show_counts(data.counts)
        self._standing.setVisible(bool(data.counts))
        if data.notes != before.notes:
            discard(*self._shown_notes)
            self._shown_notes = [label(text, "note", wrap=True) for text in data.notes]
            for each in self._shown_notes:
                self._notes.addWidget(each)
        if data.rows != before.rows:
            self.rows.show_rows(data.rows)
        self.rows.setVisible(bool(data.rows))
        if data.absent != before.absent:
            rows = data.absent
            self.absent.hold((lambda: self._absent_rows(rows)) if rows else None, len(rows))
        self.trace.show_trace(data.trace)

    def end(self) -> None:
        """Show a result that has just come: what is not fine is open."""
        self.under_way.hide()
        self.rows.open_where(OPEN)

    def place_trace(self, *, first: bool) -> None:
        """Show the plots above the rows, where they are drawn, or below them."""
        wanted = 0 if first else self._content.count() - 1
        if self._content.indexOf(self.trace) != wanted:
            self._content.removeWidget(self.trace)
            self._content.insertWidget(wanted, self.trace)

    def _absent_rows(self, rows: Sequence[RowData]) -> RowList:
        made = RowList(self._words, self._look)
        made.followed.connect(self.followed)
        made.show_rows(rows)
        return made

    def _arrange(self) -> None:
        title = label(self._words.say("checkup.title"), "title")
        head = PlaceHead(self.about, title, self._buttons)
        parts = (self.empty_state, self.rows, self.absent, self._links, self.trace, None)
        self._content = column(*parts, space=4 * STEP, edges=(0, 0, 0, 4 * STEP))
        self.area = DownArea(holding(self._content))
        self.area.setAccessibleName(self._words.say("checkup.title"))
        told = column(self._counts, self._standing, self._notes, space=STEP)
        above = column(head, told, self.under_way)
        self.setLayout(column(above, self.area, space=BELOW))
