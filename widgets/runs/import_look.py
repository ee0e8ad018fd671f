"""Sheet with the content of run files before they are imported. Nothing in them is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, label, row
from widgets.controls.layouts import FlowLayout
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
        self._files = QWidget()
        inner = column(*blocks, None, space=5 * STEP)
        self._files.setLayout(inner)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self._files)
        self._files.ensurePolished()
        height = inner.heightForWidth(self.room_px()) + 2 * STEP
        area.setFixedHeight(min(height, parent.height() - 60 * STEP))
        area.setFocusPolicy(area.focusPolicy().NoFocus)
        self.content.addWidget(area)
        keep_words = (
            say("import.keep") if len(files) == 1 else say("import.keep_all", {"count": len(new)})
        )
        self.keep_button = button(keep_words, "main", clicked=lambda: self._keep(new))
        self.show_button = button(
            say("import.show" if len(files) == 1 else "import.show_all"),
            "main",
            clicked=lambda: self._show(whole),
        )
        self.leave_button = button(
            say("import.leave" if len(files) == 1 else "import.leave_all"), clicked=self.dismiss
        )
        parts: list[QWidget] = [self.leave_button]
        if whole:
            parts.insert(0, self.keep_button if new else self.show_button)
            if len(whole) > 1:
                self.collage_button = button(
                    say("import.collage"), clicked=lambda: self._collage([f.key for f in files])
                )
                parts.insert(1, self.collage_button)
            if len(files) == 1:
                self.look_button = button(say("import.look"), clicked=lambda: self._look(whole[0]))
                self.same_button = button(say("import.same"), clicked=lambda: self._same(whole[0]))
                self.same_button.setToolTip(say("import.same_hint"))
                parts[1:1] = [self.look_button, self.same_button]
        self.content.addLayout(FlowLayout(*parts))
        self.setFocusProxy(parts[0])

    def _block(self, inside: Inside, look_words: str, *, alone: bool) -> QWidget:
        """Return one file, with its own button to open it if there are several."""
        block = QWidget()
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
            only = button(look_words, "flush-link", clicked=lambda: self._look(inside.key))
            only.setAccessibleName(f"{look_words}: {inside.file}")
            layout.addLayout(row(only, None))
        block.setLayout(layout)
        return block

    def _keep(self, keys: Sequence[str]) -> None:
        self.dismiss()
        self.keep_asked.emit(list(keys))

    def _show(self, keys: Sequence[str]) -> None:
        self.dismiss()
        self.show_asked.emit(list(keys))

    def _collage(self, keys: Sequence[str]) -> None:
        self.dismiss()
        self.collage_asked.emit(list(keys))

    def _same(self, key: str) -> None:
        self.dismiss()
        self.same_asked.emit(key)

    def _look(self, key: str) -> None:
        self.dismiss()
        self.look_asked.emit(key)
