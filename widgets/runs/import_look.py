"""Sheet with the content of run files before they are imported. Nothing in them is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, row
from widgets.controls.layouts import DownArea, FlowLayout
from widgets.runs.facts import Facts
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 620


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """One file in words. With a `problem` it cannot be imported; if `is_here`, it is already kept.

    `key` identifies it.
    """

    key: str
    file: str
    question: str = ""
    facts: Sequence[tuple[str, str]] = ()
    brief: str = ""  # the most important facts, in one line
    remark: str = ""
    problem: str = ""
    is_here: bool = False


class ImportLook(Overlay):
    """Shows the files and asks what to do with them; closing it imports nothing."""

    keep_asked = Signal(object)  # keys of the files to keep
    same_asked = Signal(str)  # key of the file whose settings to run with here
    look_asked = Signal(str)  # key of the file to open in place
    show_asked = Signal(object)  # keys of already kept files, to show
    collage_asked = Signal(object)  # keys of all files, for a collage of them

    def __init__(self, parent: QWidget, files: Sequence[Inside], look: Look, words: Words) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        whole = [each.key for each in files if not each.problem]
        new = [each.key for each in files if not each.problem and not each.is_here]
        say, values = words.say, {"count": len(files)}
        self.add_head(say("import.title", values), say("import.leave"), look)
        blocks = [self._block(each, say("import.look"), alone=len(files) == 1) for each in files]
        area = DownArea(holding(column(*blocks, None, space=5 * STEP)))
        self.add_area(area, around_px=60 * STEP)
        is_one = len(files) == 1
        keep_words = say("import.keep") if is_one else say("import.keep_all", {"count": len(new)})
        show_words = say("import.show" if is_one else "import.show_all")
        leave_words = say("import.leave" if is_one else "import.leave_all")
        self.keep_button = button(keep_words, "main", clicked=self._ends(self.keep_asked, new))
        self.show_button = button(show_words, "main", clicked=self._ends(self.show_asked, whole))
        self.leave_button = button(leave_words, clicked=self.dismiss)
        parts: list[QWidget] = [self.leave_button]
        if whole:
            parts.insert(0, self.keep_button if new else self.show_button)
            if len(whole) > 1:
                every = self._ends(self.collage_asked, [each.key for each in files])
                self.collage_button = button(say("import.collage"), clicked=every)
                parts.insert(1, self.collage_button)
            if is_one:
                look_at = self._ends(self.look_asked, whole[0])
                run_same = self._ends(self.same_asked, whole[0])
                self.look_button = button(say("import.look"), clicked=look_at)
                self.same_button = button(
                    say("import.same"), clicked=run_same, tip=say("import.same_hint")
                )
                parts[1:1] = [self.look_button, self.same_button]
        self.content.addLayout(FlowLayout(*parts))
        self.setFocusProxy(parts[0])

    def _block(self, inside: Inside, look_words: str, *, alone: bool) -> QWidget:
        """Return one file, with its own button to open it if there are several."""
        parts: list[QWidget] = []
        if inside.problem:
            parts = [label(inside.file, "strong", wrap=True), label(inside.problem, wrap=True)]
        else:
            facts = Facts(wide=True)
            facts.show_facts(inside.facts)
            parts = [
                label(inside.question, "strong", wrap=True),
                label(inside.file, "soft", wrap=True),
                facts if alone else label(inside.brief, "note", wrap=True),
            ]
            if inside.remark:
                parts.append(label(inside.remark, "soft", wrap=True))
        layout = column(*parts, space=STEP)
        if not alone and not inside.problem:
            look_at = self._ends(self.look_asked, inside.key)
            only = button(look_words, "flush-link", clicked=look_at)
            only.setAccessibleName(f"{look_words}: {inside.file}")
            layout.addLayout(row(only, None))
        return holding(layout)

    def _ends(self, asked: SignalInstance, keys: object) -> Callable[[], None]:
        """Return what closes the sheet, and then asks for something to be done with keys."""

        def end() -> None:
            self.dismiss()
            asked.emit(keys)

        return end
