"""Sheet with three or more runs of one experiment side by side, a column for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, grid, holding, label, tip
from widgets.controls.layouts import scrolling
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

MOST = 8  # runs
NAME_PX, RUN_PX, EDGE_PX = 220, 120, 80  # at zoom 1
NONE = "–"  # of a run that found no such value


@dataclass(frozen=True, slots=True)
class BesideRow:
    """One setting or value of all runs, "" for a run without it."""

    name: str
    cells: Sequence[str]
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsBeside:
    """Runs in words, the earliest first."""

    question: str
    heads: Sequence[tuple[str, str]]  # its name or time, and what kind it is
    machines: Sequence[str] = ()  # where they differ
    settings: Sequence[BesideRow] = ()  # those that differ
    values: Sequence[BesideRow] = ()
    cautions: Sequence[str] = ()


class SideBySide(Overlay):
    """Shows some runs; nothing can be changed here."""

    def __init__(self, parent: QWidget, shown: RunsBeside, look: Look, words: Words) -> None:
        width = NAME_PX + RUN_PX * len(shown.heads) + EDGE_PX
        super().__init__(parent, width_px=width)
        say = words.say
        title = say("runs.beside", {"count": len(shown.heads)})
        self.add_head(title, say("overlay.close"), look)
        self._zoom = look.theme.zoom
        self.table = self._table(shown, words)
        parts: list[QWidget] = [label(shown.question, "strong", wrap=True)]
        parts += [label(caution, "soft", wrap=True) for caution in shown.cautions]
        edges = (2 * STEP, STEP, 2 * STEP, STEP)
        area = scrolling(holding(column(*parts, self.table, None, edges=edges)), title)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.add_area(area, around_px=40 * STEP)
        self.setFocusProxy(area)

    def _table(self, shown: RunsBeside, words: Words) -> QWidget:
        cells = grid(3 * STEP, STEP, (0, STEP, 0, STEP))
        table = holding(cells)
        table.setAccessibleName(words.say("runs.beside_values"))
        cells.setColumnMinimumWidth(0, round(NAME_PX * self._zoom / 2))
        cells.setColumnStretch(0, 2)
        for place, (name, kind) in enumerate(shown.heads, 1):
            cells.setColumnStretch(place, 1)
            head = column(_cell(name, "strong"), _cell(kind, "soft"), None, space=0)
            if shown.machines:
                head.insertWidget(2, _cell(shown.machines[place - 1], "soft"))
            cells.addLayout(head, 0, place)
        line = 1
        for heading, rows, role in (
            ("runs.beside_settings", shown.settings, "note"),
            ("runs.beside_values", shown.values, "note-number"),
        ):
            if not rows:
                continue
            above = label(words.say(heading), "soft")
            above.setContentsMargins(0, 2 * STEP, 0, 0)
            cells.addWidget(above, line, 0)
            for row in rows:
                line += 1
                _add_row(cells, line, row, role, [name for name, _ in shown.heads])
            line += 1
        return table


def _add_row(
    cells: QGridLayout, line: int, row: BesideRow, role: str, heads: Sequence[str]
) -> None:
    name = label(row.name, wrap=True)
    name.setToolTip(tip(row.about))
    cells.addWidget(name, line, 0)
    for place, text in enumerate(row.cells, 1):
        cell = _cell(text or NONE, role)
        cell.setAccessibleName(f"{row.name}, {heads[place - 1]}: {text or NONE}")
        cells.addWidget(cell, line, place)


def _cell(text: str, role: str) -> QLabel:
    shown = label(text, role, wrap=True)
    shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
    shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return shown
