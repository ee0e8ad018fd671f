"""Puzzle: find the faulty lines of a program; each fault is explained.

It needs no run; after one, it also shows what the checker found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QWidget

from experiments.core.declare import Experiment
from experiments.core.teaching.puzzle_remarks import remarked
from experiments.core.units import unbroken
from experiments.core.views import BROKEN, MENDED, Code, Piece
from experiments.core.words import Words
from widgets.controls.basics import announce, button, column, label, show_text
from widgets.controls.choices import Segments
from widgets.controls.layouts import FlowLayout
from widgets.experiment.code_line import Line, Mark
from widgets.experiment.code_lines import CodeLines
from widgets.style.look import Look
from widgets.style.theme import STEP


@dataclass(slots=True)
class _Progress:
    """Lines of a piece that were found, shown, or tried and sound."""

    found: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    sound: set[int] = field(default_factory=set)


class Puzzle(QWidget):
    """Shows one piece of code at a time, broken or mended."""

    moved = Signal(QRect)  # rectangle of the current line, in pixels of this widget

    def __init__(self, experiment: Experiment[Any], view: Code, words: Words, look: Look) -> None:
        super().__init__()
        self._experiment, self._view, self._words = experiment, view, words
        self._rows: Sequence[Any] = ()
        self._piece, self._version = view.pieces[0], BROKEN
        self._progress = {piece.key: _Progress() for piece in view.pieces}
        self.pieces = Segments(
            [(piece.key, self._name(piece)) for piece in view.pieces],
            name=words.say("puzzle.piece"),
        )
        self.versions = Segments(
            [(BROKEN, words.say("puzzle.broken")), (MENDED, words.say("puzzle.mended"))],
            name=words.say("puzzle.version"),
        )
        self.rest = button(words.say("puzzle.show_rest"), "small-link", clicked=self.show_rest)
        self.lines = CodeLines(look)
        self._hint, self._checker = label("", "soft", wrap=True), label("", "soft", wrap=True)
        head = FlowLayout(self.pieces, self.versions, self.rest, space=3 * STEP)
        self.setLayout(column(head, self._hint, self.lines, self._checker, None, space=2 * STEP))
        self.setAccessibleName(words.say(f"{experiment.id}.views.{view.key}"))
        self.pieces.chosen.connect(self.show_piece)
        self.versions.chosen.connect(self.show_version)
        self.lines.chosen.connect(self.choose)
        self.lines.moved.connect(self._tell_moved)
        self._show()

    def draw(self, rows: Sequence[Any], _values: Mapping[str, float]) -> None:
        """Show what a run found in the pieces; no rows without a run."""
        self._rows = rows
        self._show_checker()

    def fit(self, width: int) -> None:
        """Fit to this width, with or without a scroll bar."""
        self.lines.fit(width)

    def show_piece(self, key: str) -> None:
        """Show another piece, first its broken version."""
        self._piece = next(piece for piece in self._view.pieces if piece.key == key)
        self.show_version(BROKEN)

    def show_version(self, version: str) -> None:
        """Show the piece BROKEN or MENDED."""
        self._version = version
        self._show()

    def show_rest(self) -> None:
        """Reveal the remaining faults."""
        progress = self._progress[self._piece.key]
        progress.shown |= self._left()
        if self.rest.hasFocus():
            self.lines.setFocus()  # the button is about to hide
        self._show()
        announce(self.lines, self._hint.text())

    def choose(self, number: int) -> None:
        """Try a line: show whether it is faulty, and why."""
        if not self._piece.fault_lines():
            return  # changed: nobody knows
        if self._version == BROKEN:
            progress = self._progress[self._piece.key]
            if number not in self._piece.fault_lines():
                progress.sound = {number}  # only one at a time, to keep the program readable
            elif number not in progress.shown:
                progress.found.add(number)
                progress.sound.clear()
        self._show()
        announce(self.lines, self._line(number).said() or self._words.say("puzzle.same"))

    def _show(self) -> None:
        self.pieces.choose(self._piece.key)
        self.versions.choose(self._version)
        for piece in self._view.pieces:
            self.pieces.buttons[piece.key].setText(self._tab(piece))
        self.rest.setVisible(self._version == BROKEN and bool(self._left()))
        called = self._words.say("puzzle.lines", {"piece": self._name(self._piece)})
        self.lines.setAccessibleName(called)
        self.lines.show_lines(list(self._lines()))
        self._hint.setText(unbroken(self._said()))
        self._show_checker()

    def _show_checker(self) -> None:
        """Show what the checker found, once that gives nothing away."""
        piece, said = self._piece.key, ""
        if self._version == MENDED or not self._left():
            name = self._experiment.id
            said = remarked(self._words, name, self._view, self._rows, piece, self._version)
        show_text(self._checker, unbroken(said))

    def _left(self) -> set[int]:
        """Return the faulty lines that are neither found nor shown."""
        progress = self._progress[self._piece.key]
        return self._piece.fault_lines().keys() - progress.found - progress.shown

    def _lines(self) -> Iterator[Line]:
        for number in range(1, len(self._piece.text(self._version).splitlines()) + 1):
            yield self._line(number)

    def _line(self, number: int) -> Line:
        """Return a line with its mark and remark."""
        say, place = self._words.say, number - 1
        fault = self._piece.fault_lines().get(number)
        broken, mended = (self._piece.text(each).splitlines() for each in (BROKEN, MENDED))
        text = self._piece.text(self._version).splitlines()[place]
        mark = self._mark(number)
        if mark is Mark.NONE or fault is None:
            remark = say("puzzle.sound") if mark is Mark.SOUND else ""
            return Line(number=number, text=text, mark=mark, remark=remark)
        other = broken[place] if mark is Mark.CHANGED else mended[place]
        key = "puzzle.was" if mark is Mark.CHANGED else "puzzle.becomes"
        return Line(
            number=number,
            text=text,
            mark=mark,
            remark=say(_REMARKS[mark]),
            code=say(key, {"code": other.strip()}),
            note=say(f"{self._experiment.id}.faults.{fault}"),
        )

    def _mark(self, number: int) -> Mark:
        progress, is_fault = self._progress[self._piece.key], number in self._piece.fault_lines()
        if self._version == MENDED:
            return Mark.CHANGED if is_fault else Mark.NONE
        if number in progress.found:
            return Mark.FOUND
        if number in progress.shown:
            return Mark.SHOWN
        return Mark.SOUND if number in progress.sound else Mark.NONE

    def _said(self) -> str:
        """Return the instruction, or the progress."""
        if self._version == MENDED:
            return self._words.say("puzzle.hint_mended")
        if not self._piece.fault_lines():
            return self._words.say("puzzle.changed_program")
        if self._left():
            return self._words.say("puzzle.hint")
        found, faults = len(self._progress[self._piece.key].found), len(self._piece.faults)
        key = "puzzle.all_found" if found == faults else "puzzle.all_shown"
        return self._words.say(key, {"found": found, "faults": faults})

    def _tab(self, piece: Piece) -> str:
        found = len(self._progress[piece.key].found)
        values = {"piece": self._name(piece), "found": found, "faults": len(piece.faults)}
        return self._words.say("puzzle.tab", values)

    def _name(self, piece: Piece) -> str:
        return self._words.say(f"{self._experiment.id}.pieces.{piece.key}")

    def _tell_moved(self, rect: QRect) -> None:
        self.moved.emit(rect.translated(self.lines.pos()))


_REMARKS = {
    Mark.FOUND: "puzzle.found",
    Mark.SHOWN: "puzzle.shown",
    Mark.CHANGED: "puzzle.changed",
}
