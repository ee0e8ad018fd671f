"""Inputs for typed values: a number with its unit and a slider, a text, or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QSizePolicy, QWidget

from experiments.core.parameters import to_text
from experiments.core.problems import UserError
from widgets.controls.basics import button, grid, label, row, set_role, takes_escape
from widgets.controls.slider import StopSlider
from widgets.controls.stops import stops
from widgets.form.inputs import Input, ParamInfo
from widgets.style.icons import pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

VALUE_CHARACTERS = 12  # room for a number and its unit
INNER_MARGIN = 3  # pixels that a QLineEdit reserves at its right for the cursor


class ValueEdit(QLineEdit):
    """A line edit that looks like plain text until the mouse is over it."""

    stepped = Signal(int)  # by arrow keys: 1 up, -1 down
    undone = Signal()  # the typed text, by Esc

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "value")
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setTextMargins(0, 0, -INNER_MARGIN, 0)  # aligned with the end of the slider
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select all, so that typing replaces the value."""
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason:
            self.selectAll()

    def event(self, event: QEvent) -> bool:
        """Take Esc while there is typed text to undo."""
        return takes_escape(event, wanted=self.isModified()) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step with the arrow keys; undo typed text with Esc."""
        match event.key():
            case Qt.Key.Key_Up:
                self.stepped.emit(1)
            case Qt.Key.Key_Down:
                self.stepped.emit(-1)
            case Qt.Key.Key_Escape if self.isModified():
                self.undone.emit()
            case _:
                super().keyPressEvent(event)


class ErrorLine(QWidget):
    """The sentence below an input with an invalid text; hidden while there is none."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._sign, self._text = QLabel(), label(role="doubt", wrap=True)
        self._sign.setAlignment(Qt.AlignmentFlag.AlignTop)
        parts = self._sign, self._text
        self.setLayout(row(*parts, space=STEP + 2, edges=(0, STEP, 0, 0), grows=1))
        self.hide()
        look.follow(self._restyle)

    def say(self, sentence: str) -> None:
        """Show a sentence; hide for ""."""
        self._text.setText(sentence)
        self.setVisible(bool(sentence))

    def _restyle(self) -> None:
        theme = self._look.theme
        side = round(theme.px("note") * 1.4)
        self._sign.setPixmap(pixmap("attention", theme.attention, side))


class TypedInput(Input):
    """A number or a text that can be typed; a number with a range has a slider too."""

    def __init__(self, info: ParamInfo) -> None:
        super().__init__(info)
        self.setToolTip(info.help)
        self._value: Any = None  # the last valid one
        self._settled: Any = None  # the one before typing began
        self._failure: UserError | None = None
        self._edit = ValueEdit()
        self.describe(self._edit, info.label)
        self._edit.textEdited.connect(self._type)
        self._edit.editingFinished.connect(self._settle)
        self._edit.undone.connect(lambda: self._choose(self._settled))
        self._edit.stepped.connect(self._step)
        name = label(info.label, wrap=True)
        name.setBuddy(self._edit)
        self._error = ErrorLine(info.look)
        self._grid = layout = grid(2 * STEP, 0)
        self.setLayout(layout)
        layout.addWidget(name, 0, 0)
        layout.addWidget(self._edit, 0, 1, Qt.AlignmentFlag.AlignRight)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._error, 2, 0, 1, 2)
        self._slider: StopSlider | None = None
        if info.spec.minimum is not None and info.spec.maximum is not None:
            self._slider = StopSlider(info.look)
            self._slider.setAccessibleName(info.label)
            self._slider.valueChanged.connect(self._slide)
            layout.addWidget(self._slider, 1, 0, 1, 2)
        info.look.follow(self._fit)

    def value(self) -> Any:
        """Return the value; an unedited one comes back exactly. Raises UserError."""
        if self._failure is not None:
            problem = self._failure.problem
            raise UserError(problem.key, **self.info.named(problem.values))
        return self._value

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show a value."""
        self._set(value)

    def controls(self) -> list[QWidget]:
        """Return the text field and the slider, in reading order."""
        return [self._edit, *([self._slider] if self._slider is not None else [])]

    def _set(self, value: Any) -> None:
        self._value, self._settled, self._failure = value, value, None
        text = to_text(value, self.info.spec.unit)
        self._edit.setText(text)
        self._edit.setModified(False)
        self._show_error()
        self._move_slider()

    def _move_slider(self) -> None:
        if self._slider is None:
            return
        info = self.info
        reached = stops(info.spec, self._value, whole=info.is_whole)
        self._slider.show_stops(reached, self._value)
        value = to_text(self._value, info.spec.unit)
        described = info.words.say("form.described", {"value": value, "help": info.help})
        self._slider.setAccessibleDescription(described if info.help else value)

    def _type(self, text: str) -> None:
        """Take the typed text as soon as it is valid; show an error only after editing ends."""
        try:
            self._value, self._failure = self.info.read(text), None
        except UserError as failure:
            self._failure = failure
        else:
            self._show_error()
            self._move_slider()
        self.changed.emit()

    def _settle(self) -> None:
        if self._failure is not None:
            self._show_error()
        elif self._edit.isModified():
            self._set(self._value)

    def _slide(self, index: int) -> None:
        assert self._slider is not None
        self._choose(self._slider.values[index])

    def _step(self, direction: int) -> None:
        if self._slider is not None:
            reached = stops(self.info.spec, self._value, whole=self.info.is_whole)
            self._choose(reached.beside(self._value, direction))

    def _choose(self, value: Any) -> None:
        has_changed = value != self._value or self._failure is not None
        self._set(value)
        if has_changed:
            self.changed.emit()

    def _show_error(self) -> None:
        failure = self._failure
        self._error.say("" if failure is None else self.info.sentence(failure.problem))
        set_role(self._edit, "value" if failure is None else "doubtful")

    def _fit(self) -> None:
        font = self.info.look.theme.font("text", mono=True)
        self._edit.setFont(font)
        self._edit.ensurePolished()
        self._edit.setFixedWidth(self._edit.fontMetrics().horizontalAdvance("0" * VALUE_CHARACTERS))


class FolderInput(TypedInput):
    """A folder's path, typed or chosen in the system's dialog; "" stands for the usual folder."""

    def __init__(self, info: ParamInfo) -> None:
        super().__init__(info)
        words = info.words
        self._chooser = button(words.say("form.choose_folder"), "link", clicked=self._ask)
        self.describe(self._chooser, f"{info.label}: {words.say('form.choose_folder')}")
        self._edit.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self._edit.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._edit.setPlaceholderText(words.say("form.usual_folder"))
        self._grid.addWidget(self._chooser, 0, 1, Qt.AlignmentFlag.AlignRight)
        self._grid.addWidget(self._edit, 1, 0, 1, 2)

    def controls(self) -> list[QWidget]:
        """Return the button, which stands above, and the text field."""
        return [self._chooser, self._edit]

    def _ask(self) -> None:
        title = self.info.words.say("form.choose_folder_title")
        chosen = QFileDialog.getExistingDirectory(self, title, self._value or str(Path.home()))
        if chosen:
            self._choose(chosen)

    def _fit(self) -> None:
        self._edit.setFont(self.info.look.theme.font("note", mono=True))
