"""Data of a run: every row of its tables, then the facts of its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel

from experiments.core.declare import Experiment
from experiments.core.words import Words
from widgets.controls.basics import column, holding, label, show_text
from widgets.controls.layouts import DownArea
from widgets.plots.table.data_table import DataTable
from widgets.style.look import Look
from widgets.style.theme import STEP

SHORT = 24  # characters; names up to this length are not broken
BESIDE, BETWEEN = "&nbsp;&nbsp;", "&nbsp;&nbsp;&nbsp; "  # a name and its value, two facts


class FactsList(QLabel):
    """A paragraph of facts that never breaks between name and value, nor within a short name."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._facts: Sequence[tuple[str, str]] = ()
        self.setProperty("role", "note")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        look.changed.connect(self._write)

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these facts."""
        self._facts = facts
        self._write()

    def _write(self) -> None:
        soft = self._look.theme.soft
        facts = (
            f'<span style="color:{soft}">{_unbroken(name)}</span>{BESIDE}{escape(value)}'
            for name, value in self._facts
        )
        self.setText(BETWEEN.join(facts))
        self.setAccessibleName("; ".join(f"{name}: {value}" for name, value in self._facts))


def _unbroken(name: str) -> str:
    shown = escape(name)
    return shown.replace(" ", "&nbsp;") if len(name) <= SHORT else shown


class DataSide(DownArea):
    """The tables and facts of one run; scrolls if it is too high."""

    csv_wanted = Signal(str)  # the name of a table

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__()
        self._table = DataTable(experiment, words, look)
        self._table.csv_wanted.connect(self.csv_wanted)
        self._facts = FactsList(look)
        self._whose = label("", "soft", wrap=True)
        self._facts_title = label(words.say("page.conditions"), "panel-title")
        self.setFocusProxy(self._table)
        parts = self._whose, self._table, self._facts_title, self._facts
        self.setWidget(holding(column(*parts, space=3 * STEP)))

    @property
    def table(self) -> str:
        """The name of the visible table."""
        return self._table.table

    def show_run(
        self,
        tables: Mapping[str, Sequence[Any]],
        facts: Sequence[tuple[str, str]],
        whose: str = "",
    ) -> None:
        """Show rows and facts of a run; `whose` says which of two runs it is."""
        show_text(self._whose, whose)
        self._table.show_tables(tables)
        self._facts.show_facts(facts)
        self._facts_title.setVisible(bool(facts))

    def refresh(self) -> None:
        """Show new rows."""
        self._table.refresh()
