"""How is a folder asked for? Its path can be typed, or chosen in the dialog of the system."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QWidget

from widgets.controls.basics import button
from widgets.form.inputs import Asked
from widgets.form.typed_input import TypedInput


class FolderInput(TypedInput):
    """A path below its name, with a button that chooses one; empty, the usual folder is taken."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        words = asked.words
        self._chooser = button(words.say("form.choose_folder"), "link", clicked=self._ask)
        self.describe(self._chooser, f"{asked.label}: {words.say('form.choose_folder')}")
        self._edit.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self._edit.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._edit.setPlaceholderText(words.say("form.usual_folder"))
        self._grid.addWidget(self._chooser, 0, 1, Qt.AlignmentFlag.AlignRight)
        self._grid.addWidget(self._edit, 1, 0, 1, 2)

    def controls(self) -> list[QWidget]:
        """Return the button, which stands above, and the text."""
        return [self._chooser, self._edit]

    def _ask(self) -> None:
        title = self.asked.words.say("form.choose_folder_title")
        chosen = QFileDialog.getExistingDirectory(self, title, self._value or str(Path.home()))
        if chosen:
            self._choose(chosen)

    def _fit(self) -> None:
        self._edit.setFont(self.asked.look.theme.font("note", mono=True))
