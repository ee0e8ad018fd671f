"""The code of an experiment: the loop that it measures, and folded below it all files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from textwrap import dedent

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from experiments.core.measured_loop import MeasuredLoop
from experiments.core.words import Words
from widgets.controls.basics import Chip, button, chip, column, discard, holding, label, show_text
from widgets.controls.layouts import FlowLayout
from widgets.experiment.code_text import CodeText
from widgets.style.look import Look
from widgets.style.theme import STEP

MEASURES = re.compile(r"^def measure\b", re.MULTILINE)  # what a declaration calls so
ALL = 100  # stretch: all the room that the others leave
BEGINS = re.compile(r"^(?:@|def |class )", re.MULTILINE)


class CodeView(QWidget):
    """The loop, and one file at a time; all is offered as a script or notebook, made by others."""

    copy_wanted = Signal()
    save_wanted = Signal()
    notebook_wanted = Signal()
    mine_wanted = Signal()

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words = words
        self._files: Sequence[tuple[str, str]] = ()
        self._loop: MeasuredLoop | None = None
        self._where, self._ran = label(role="head", wrap=True), label(role="soft", wrap=True)
        self._text = CodeText(look)
        self._chips = QButtonGroup(self)
        self._chooser = FlowLayout()
        self._files_shown = holding(self._chooser)
        self._fold = button("", "link", clicked=self._turn)
        say = words.say
        self._mine = chip(
            say("page.mine"), clicked=self.mine_wanted.emit, tip=say("page.mine_help")
        )
        foot = holding(FlowLayout(self._fold, self._mine, *self._uses()))
        lines = column(
            self._where, self._ran, self._files_shown, self._text, foot, None, space=3 * STEP
        )
        lines.setStretchFactor(self._text, ALL)
        self.setLayout(lines)
        self.show_sources(())
        self.show_ran("")

    def show_sources(
        self, files: Sequence[tuple[str, str]], loop: MeasuredLoop | None = None
    ) -> None:
        """Show the loop, with these files, (name, text), folded; without one the first file."""
        self._files, self._loop = files, loop
        for old in self._chips.buttons():
            self._chips.removeButton(old)
            discard(old)
        for place, (name, text) in enumerate(files):
            help_text = self._words.say("page.code_help") if MEASURES.search(text) else ""
            made = chip(name, checkable=True, clicked=partial(self._show, place), tip=help_text)
            self._chips.addButton(made, place)
            self._chooser.addWidget(made)
        where = ""
        if loop is not None:
            values = {"file": loop.file, "first": loop.first, "last": loop.last}
            where = self._words.say("page.loop_where", values)
        show_text(self._where, where)
        self._fold.setVisible(loop is not None)
        self._show_folded(loop is not None)

    def show_ran(self, text: str) -> None:
        """Say with what the loop ran; "" before a run."""
        self._ran.setText(text)
        self._ran.setVisible(bool(text) and self._loop is not None)

    def offer_mine(self, offered: bool) -> None:
        """Offer to copy the experiment to the user's own shelf, or not."""
        self._mine.setVisible(offered)

    def _uses(self) -> list[Chip]:
        say = self._words.say
        return [
            chip(say(key), clicked=wanted.emit, tip=say(help_key))
            for key, help_key, wanted in (
                ("page.copy_script", "page.script_help", self.copy_wanted),
                ("page.save_script", "page.script_help", self.save_wanted),
                ("page.notebook", "page.notebook_help", self.notebook_wanted),
            )
        ]

    def _turn(self) -> None:
        self._show_folded(not self._files_shown.isHidden())

    def _show_folded(self, folded: bool) -> None:
        """Show the loop alone, or all files; that of the loop first."""
        say, loop = self._words.say, self._loop
        self._files_shown.setHidden(folded)
        self._text.setAccessibleName(say("page.loop" if folded else "page.code"))
        if folded and loop is not None:
            self._fold.setText(say("page.all_code", {"count": len(self._files)}))
            self._text.show_text(
                dedent(loop.text), 1, (1, loop.last - loop.first + 1), is_whole=True
            )
            return
        self._fold.setText(say("page.fold_code"))
        names = [name for name, _ in self._files]
        self._show(names.index(loop.file) if loop is not None and loop.file in names else 0)

    def _show(self, place: int) -> None:
        name, text = self._files[place] if self._files else ("", "")
        loop = self._loop
        if loop is not None and loop.file == name:
            self._text.show_text(text, loop.first, (loop.first, loop.last))
        else:
            self._text.show_text(text, _first_line(text))
        if self._files:
            self._chips.button(place).setChecked(True)


def _first_line(text: str) -> int:
    """Return where one begins to read: at what measures, in a helper behind its imports."""
    found = MEASURES.search(text) or BEGINS.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 1
