"""Sheet of deleted runs, to restore the ticked ones or all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label
from widgets.controls.choices import Check
from widgets.controls.layouts import FlowLayout, scrolling
from widgets.runs.listed import ListedRun
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 620
LISTED = 100  # the newest; nobody reads a longer list


class BinLook(Overlay):
    """Shows the deleted runs, the newest first; closing it restores none."""

    back_asked = Signal(object)  # keys of the runs to restore

    def __init__(
        self, parent: QWidget, runs: Sequence[ListedRun], look: Look, words: Words
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words, self._runs = words, runs
        say = words.say
        self.add_head(say("runs.bin"), say("overlay.close"), look)
        self.checks = {run.key: Check(_said(run), look) for run in runs[:LISTED]}
        lines: list[QWidget] = list(self.checks.values())
        if len(runs) > LISTED:
            lines.append(label(say("runs.bin_more", {"count": len(runs) - LISTED}), "soft"))
        area = scrolling(holding(column(*lines, None, space=STEP)), say("runs.bin"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it scrolls to the focused box
        self.add_area(area, around_px=60 * STEP)
        self.back_button = button("", "main", clicked=self._bring_back)
        self.leave_button = button(say("runs.bin_leave"), clicked=self.dismiss)
        self.content.addLayout(FlowLayout(self.back_button, self.leave_button))
        for check in self.checks.values():
            check.toggled.connect(lambda _on: self._count())
        self._count()
        self.setFocusProxy(next(iter(self.checks.values()), self.leave_button))

    def _ticked(self) -> list[str]:
        return [key for key, check in self.checks.items() if check.isChecked()]

    def _count(self) -> None:
        """Show on the button how many runs it restores."""
        ticked = len(self._ticked())
        key = "runs.bin_some" if ticked else "runs.bin_all"
        self.back_button.setText(self._words.say(key, {"count": ticked or len(self._runs)}))

    def _bring_back(self) -> None:
        keys = self._ticked() or [run.key for run in self._runs]
        self.dismiss()
        self.back_asked.emit(keys)


def _said(run: ListedRun) -> str:
    parts = (run.title, run.when, run.kind, run.ending, run.problem)
    return " · ".join(part for part in parts if part)
