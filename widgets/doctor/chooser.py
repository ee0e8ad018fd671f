"""Chooser of the Python whose PyTorch is examined: this program's, a found or a named one.

A Python is named in three ways: type its path, choose a file or folder, or drop one on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, row, show_text
from widgets.controls.elided import ElidedButton
from widgets.controls.layouts import FlowLayout
from widgets.doctor.page_data import PythonChoice
from widgets.style.theme import STEP

MOST = 40  # in the menu; others can be typed


class Chooser(QWidget):
    """`wanted` carries a path, "" for this program's own Python."""

    wanted = Signal(str)
    again_wanted = Signal()
    file_asked = Signal()
    folder_asked = Signal()

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._choices: Sequence[PythonChoice] = ()
        self._chosen = ""
        self.current = ElidedButton("plain")
        self.current.clicked.connect(self._open_menu)
        self.again = button(words.say("doctor.page.again"), clicked=self.again_wanted.emit)
        self.path = QLineEdit()
        self.path.setPlaceholderText(words.say("doctor.page.path_hint"))
        self.path.setAccessibleName(words.say("doctor.page.path"))
        self.path.setAcceptDrops(False)  # the page handles drops
        self.path.returnPressed.connect(self._take_path)
        self.problem = label("", "doubt", wrap=True)
        self.examine = button(words.say("doctor.page.examine"), clicked=self._take_path)
        files = FlowLayout(
            self.examine,
            button(words.say("doctor.page.choose_file"), clicked=self.file_asked.emit),
            button(words.say("doctor.page.choose_folder"), clicked=self.folder_asked.emit),
        )
        self.naming = holding(column(self.path, self.problem, files))
        above = row(label(words.say("doctor.page.whose")), self.current, None, self.again,
                    space=3 * STEP)  # fmt: skip
        self.setLayout(column(above, self.naming, space=3 * STEP))
        self.naming.hide()
        self.problem.hide()
        self.menu = QMenu(self)
        self.menu.setProperty("role", "choices")

    def offer(self, choices: Sequence[PythonChoice]) -> None:
        """Offer these; the first is this program's own."""
        self._choices = choices
        self.menu.clear()
        for each in choices[:MOST]:
            action = self._add(each.text, partial(self.wanted.emit, each.path))
            action.setCheckable(True)
            action.setChecked(each.path == self._chosen)
        self.menu.addSeparator()
        self._add(self._words.say("doctor.page.another"), self.ask_for_path)

    def show_chosen(self, path: str) -> None:
        """Show which Python is examined, by its path if it is not among the choices."""
        self._chosen = path
        text = next((each.text for each in self._choices if each.path == path), path)
        self.current.say(f"{text}  ▾")
        self.current.setAccessibleName(self._words.say("doctor.page.chosen", {"python": text}))
        self.offer(self._choices)
        self.refuse("")

    def refuse(self, sentence: str) -> None:
        """Say why there is no Python at the path; "" removes the message."""
        show_text(self.problem, sentence)
        self.naming.setVisible(bool(sentence))

    def ask_for_path(self, path: str = "") -> None:
        """Show the field for a path."""
        self.naming.show()
        if path:
            self.path.setText(path)
        self.path.setFocus()

    def _take_path(self) -> None:
        if path := self.path.text().strip():
            self.wanted.emit(path)

    def _open_menu(self) -> None:
        self.menu.popup(self.current.mapToGlobal(QPoint(0, self.current.height())))

    def _add(self, text: str, act: Callable[[], object]) -> QAction:
        action = QAction(text.replace("&", "&&"), self.menu)
        action.triggered.connect(lambda _checked=False: act())
        self.menu.addAction(action)
        return action
