"""What exactly was measured, and under which conditions? Every row, then the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from experiments.core.declare import Experiment
from experiments.core.words import Words
from widgets.controls.basics import column, label
from widgets.experiment.facts import FactsList
from widgets.plots.table.data_table import DataTable
from widgets.style.look import Look
from widgets.style.theme import STEP


class DataSide(QScrollArea):
    """The tables of one run, with what can be done with them; scrolls where that is too high."""

    csv_wanted = Signal(str)  # the name of a table

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__()
        self._table = DataTable(experiment, words, look)
        self._table.csv_wanted.connect(self.csv_wanted)
        self._facts = FactsList(look)
        self._whose = label("", "soft", wrap=True)
        self._facts_title = label(words.say("page.conditions"), "panel-title")
        self.setFocusProxy(self._table)
        content = QWidget()
        content.setLayout(
            column(self._whose, self._table, self._facts_title, self._facts, space=3 * STEP)
        )
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keys

    @property
    def table(self) -> str:
        """Which table is seen."""
        return self._table.table

    def show_run(
        self,
        tables: Mapping[str, Sequence[Any]],
        facts: Sequence[tuple[str, str]],
        whose: str = "",
    ) -> None:
        """Show the rows of a run, and the facts of its environment; `whose` of two runs' it is."""
        self._whose.setText(whose)
        self._whose.setVisible(bool(whose))
        self._table.show_tables(tables)
        self._facts.show_facts(facts)
        self._facts_title.setVisible(bool(facts))

    def refresh(self) -> None:
        """Show the rows that have come since."""
        self._table.refresh()
