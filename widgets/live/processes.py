"""Table of the processes that hold GPU memory, with a button to end forgotten ones.

Amber with a sign marks two known problems. The process has gone but not its memory, or its GPU has
been idle for long. A gap in the samples ends the idle time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from experiments.core.words import Words
from experiments.presentation.load.face import Reasons, shown_bytes
from experiments.presentation.load.gpu_processes import GpuProcess, Right, gpu_processes
from experiments.presentation.load.history import Moment
from widgets.controls.basics import chip, discard, grid, label, leave_keys
from widgets.controls.elided import ElidedLabel
from widgets.live.tile import ATTENTION, PAD
from widgets.style.look import Look
from widgets.style.theme import STEP

LONG_S = 600.0  # idle for so long, a process may have been forgotten
_COLUMNS = 6
_COMMAND = 4
_NOTES = {
    Right.OTHERS: "live.others_process",
    Right.OWN: "live.own_process",
    Right.GONE: "live.ghost_help",
    Right.HIDDEN: "live.hidden_process",
}
_AGES = (("live.days", 86400.0), ("live.hours", 3600.0), ("live.minutes", 60.0))


@dataclass(frozen=True, slots=True)
class _Row:
    """The words of a row, and whether its process can be ended."""

    texts: tuple[str, ...]
    command: str
    note: str
    right: Right
    is_doubtful: bool
    process: tuple[int, int]  # GPU and process


class ProcessTable(QFrame):
    """One row per process; hidden without a GPU."""

    end_wanted = Signal(object)  # GpuProcess
    grown = Signal()  # it needs another height

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self.idle_s: Callable[[int], float] = lambda _index: -math.inf
        self.right_to: Callable[[GpuProcess], Right] = lambda _process: Right.HIDDEN
        self.me: str | None = None
        self.is_recorded = False  # a recording names nobody
        self._processes: dict[tuple[int, int], GpuProcess] = {}
        self._rows: list[_Row] = []
        self._instead = ""  # sentence for GPUs without processes
        self.setProperty("role", "panel")
        self.setAccessibleName(words.say("live.processes"))
        self._grid = grid(6 * STEP, STEP, (PAD, 3 * STEP, PAD, 3 * STEP))
        self.setLayout(self._grid)
        self._grid.setColumnStretch(_COMMAND, 1)
        self._cells: list[QWidget] = []
        self.buttons: dict[tuple[int, int], QPushButton] = {}  # by GPU and process
        self.hide()
        look.changed.connect(self.grown)

    def show_moment(self, moment: Moment, reasons: Reasons) -> None:
        """Show the processes of a sample; rebuild only after a change."""
        self._processes = {(each.gpu, each.pid): each for each in gpu_processes(moment)}
        rows = [self._row(process) for process in self._processes.values()]
        instead = self._nobody(moment, reasons) if moment.gpus and not rows else ""
        if (rows, instead) != (self._rows, self._instead):
            self._rows, self._instead = rows, instead
            self._build()
            self.setVisible(bool(rows or instead))
            self.grown.emit()

    def least_height(self) -> int:
        """Return the height of all rows, 0 if nothing is shown."""
        return self._grid.sizeHint().height() if self._rows or self._instead else 0

    def _nobody(self, moment: Moment, reasons: Reasons) -> str:
        if self.is_recorded:
            return self._words.say("live.names_nobody")
        if any(gpu.get("processes") is not None for gpu in moment.gpus):
            return self._words.say("live.nobody_holds")
        why = reasons.why(f"gpus[{moment.gpus[0]['index']}].processes")
        return why or self._words.say("live.holders_untold")

    def _row(self, process: GpuProcess) -> _Row:
        say, unknown = self._words.say, self._words.say("live.unknown")
        right = self.right_to(process)
        is_mine = process.user is not None and process.user == self.me
        since = unknown if process.age_s is None else self._age(process.age_s)
        doubt = self._doubt(process, right)
        return _Row(
            (
                f"{process.gpu} · {process.pid}",
                say("live.you") if is_mine else process.user or unknown,
                unknown if process.memory_bytes is None else shown_bytes(process.memory_bytes),
                since if doubt is None else ATTENTION + doubt,
            ),
            command=process.command or unknown,
            note=self._who_may(process, right),
            right=right,
            is_doubtful=doubt is not None,
            process=(process.gpu, process.pid),
        )

    def _doubt(self, process: GpuProcess, right: Right) -> str | None:
        if right is Right.GONE:
            return self._words.say("live.process_gone")
        idle_s = self.idle_s(process.gpu)
        is_old = process.age_s is not None and process.age_s >= LONG_S
        if process.kind == "graphics" or idle_s < LONG_S or not is_old:
            return None
        values = {"age": self._age(process.age_s or 0.0), "idle": self._age(idle_s)}
        return self._words.say("live.no_work", values)

    def _who_may(self, process: GpuProcess, right: Right) -> str:
        told = {"user": process.user or "?"}
        return self._words.say(_NOTES[right], told) if right in _NOTES else ""

    def _age(self, age_s: float) -> str:
        for key, unit_s in _AGES:
            if age_s >= 2 * unit_s:
                return self._words.say(key, {"count": round(age_s / unit_s)})
        return self._words.say("live.seconds", {"count": round(age_s)})

    def _build(self) -> None:
        focused = next((key for key, each in self.buttons.items() if each.hasFocus()), None)
        discard(*self._cells)
        self._cells, self.buttons = [], {}
        say = self._words.say
        heads = [say("live.processes")]
        if self._rows:
            heads += [say("live.who"), say("live.memory_held"), say("live.since")]
            heads.append(say("live.command"))
        for place, head in enumerate(heads):
            self._put(label(head, "small"), 0, place)
        if self._instead:
            self._put(label(self._instead, "soft"), 1, 0, _COLUMNS)
        for line, row in enumerate(self._rows, start=1):
            self._add_row(line, row)
        if focused in self.buttons:
            self.buttons[focused].setFocus()

    def _add_row(self, line: int, row: _Row) -> None:
        since = "doubt" if row.is_doubtful else "note"
        roles = ("note-number", "note", "note-number", since)
        for place, (text, role) in enumerate(zip(row.texts, roles, strict=True)):
            self._put(label(text, role), line, place)
        command = ElidedLabel("note-number")
        command.setText(row.command)
        command.explain(row.command)
        command.setAccessibleName(row.command)
        self._put(command, line, _COMMAND)
        if row.right in (Right.ASK, Right.FORCE):
            is_first = row.right is Right.ASK
            end = chip(self._words.say("live.end" if is_first else "live.force_end"))
            values = {"command": row.command, "number": row.process[1]}
            end.setAccessibleName(self._words.say("live.end_named", values))
            leave_keys(end)
            end.clicked.connect(lambda: self.end_wanted.emit(self._processes[row.process]))
            self.buttons[row.process] = end
            self._put(end, line, _COMMAND + 1)
            self._grid.setAlignment(end, Qt.AlignmentFlag.AlignRight)
        elif row.note:
            note = label(row.note, "small")
            self._put(note, line, _COMMAND + 1)
            self._grid.setAlignment(note, Qt.AlignmentFlag.AlignRight)

    def _put(self, cell: QWidget, line: int, place: int, span: int = 1) -> None:
        self._grid.addWidget(cell, line, place, 1, span, Qt.AlignmentFlag.AlignVCenter)
        cell.show()  # at once: a widget shown later cannot take the focus yet
        self._cells.append(cell)
