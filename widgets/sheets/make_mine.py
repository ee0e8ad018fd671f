"""The sheet that asks for the name of a copy, and shows where it lies if nothing opens it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import announce, button, label, selectable
from widgets.controls.choices import Check
from widgets.controls.layouts import FlowLayout
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 560


class MakeMine(Overlay):
    """`wanted` carries the name, and if the copy begins with the exercise."""

    wanted = Signal(str, bool)

    def __init__(self, parent: QWidget, words: Words, look: Look, name: str, task: str) -> None:
        """Offer a name; `task` says what the exercise is, "" where there is none."""
        super().__init__(parent, width_px=WIDTH_PX)
        self._words, say = words, words.say
        self.add_head(say("mine.title"), say("overlay.close"), look)
        self.name = QLineEdit(name)
        self.name.setAccessibleName(say("mine.name"))
        self.exercise = Check(say("mine.with_exercise"), look)
        self._task = label(task, "soft", wrap=True)
        self._wrong = label("", "attention", wrap=True)
        self.path = selectable(label("", "small", wrap=True))
        self.make = button(say("mine.make"), "main", clicked=self._ask)
        self.copier = button(say("settings.copy_folder"), clicked=self._copy_path)
        self._about = label(say("mine.about"), wrap=True)
        self._named = label(say("mine.name"), "strong")
        parts = (self._about, self._named, self.name, self.exercise, self._task, self._wrong)
        for part in (*parts, self.path):
            self.content.addWidget(part)
        self.content.addSpacing(STEP)
        self.content.addLayout(FlowLayout(self.make, self.copier))
        for hidden in (self._wrong, self.path, self.copier):
            hidden.hide()
        self.exercise.setVisible(bool(task))
        self._task.setVisible(bool(task))
        self.setFocusProxy(self.name)
        self.name.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter in the name as a click."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.name.hasFocus():
            event.accept()
            self._ask()
        else:
            super().keyPressEvent(event)

    def refuse(self, why: str) -> None:
        """Say why there is no copy; another name may be tried."""
        self._wrong.setText(why)
        self._wrong.show()
        self.make.setEnabled(True)
        self.name.setFocus()
        announce(self, why)

    def show_path(self, path: str) -> None:
        """Say that the copy is written, and that nothing here opens its folder."""
        said = self._words.say("mine.not_opened")
        for part in (self._named, self.name, self.exercise, self._task, self._wrong, self.make):
            part.hide()
        self._about.setText(said)
        self.path.setText(path)
        self.path.show()
        self.copier.show()
        self.copier.setFocus()
        announce(self, said)

    def _ask(self) -> None:
        self._wrong.hide()
        self.make.setEnabled(False)
        self.wanted.emit(self.name.text().strip(), self.exercise.isChecked())

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(self.path.text())
        self.copier.setText(self._words.say("settings.folder_copied"))
