"""Inputs for what is typed: numbers with a unit, and a slider where they have a range; folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from experiments.core.parameters import to_text
from experiments.core.problems import UserError
from widgets.controls.basics import asks_for_escape, button, label, row, set_role
from widgets.controls.slider import StopSlider
from widgets.controls.stops import stops
from widgets.form.inputs import Asked, Input
from widgets.style.icons import pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

VALUE_CHARACTERS = 12  # room for a number and its unit
INNER_MARGIN = 3  # pixels that a QLineEdit keeps free at its right, for the cursor


class ValueEdit(QLineEdit):
    """A value that is typed; it looks like text until it is pointed at."""

    stepped = Signal(int)  # by the arrow keys: 1 up, -1 down
    taken_back = Signal()  # what was typed

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "value")
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setTextMargins(0, 0, -INNER_MARGIN, 0)  # ends where the slider ends
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select all, so that typing replaces the value."""
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason:
            self.selectAll()

    def event(self, event: QEvent) -> bool:
        """Keep Esc while it takes something back."""
        if asks_for_escape(event) and self.isModified():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step with the arrows; Esc takes back what was typed, and is others' key else."""
        match event.key():
            case Qt.Key.Key_Up:
                self.stepped.emit(1)
            case Qt.Key.Key_Down:
                self.stepped.emit(-1)
            case Qt.Key.Key_Escape if self.isModified():
                self.taken_back.emit()
            case _:
                super().keyPressEvent(event)


class Doubt(QWidget):
    """The sentence below an input whose text cannot be; takes no room while there is none."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._sign, self._text = QLabel(), label(role="doubt", wrap=True)
        self._sign.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = row(self._sign, self._text, space=STEP + 2)
        layout.setContentsMargins(0, STEP, 0, 0)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.hide()
        look.changed.connect(self._dress)
        self._dress()

    def say(self, sentence: str) -> None:
        """Show a sentence; none for ""."""
        self._text.setText(sentence)
        self.setVisible(bool(sentence))

    def _dress(self) -> None:
        theme = self._look.theme
        side = round(theme.px("note") * 1.4)
        self._sign.setPixmap(pixmap("attention", theme.attention, side))


class TypedInput(Input):
    """A number or a text: its value can be typed, and slid where it has a range."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.setToolTip(asked.help)
        self._value: Any = None  # the last that could be
        self._settled: Any = None  # the one before somebody began to type
        self._trouble: UserError | None = None
        self._edit = ValueEdit()
        self.describe(self._edit, asked.label)
        self._edit.textEdited.connect(self._type)
        self._edit.editingFinished.connect(self._settle)
        self._edit.taken_back.connect(lambda: self._choose(self._settled))
        self._edit.stepped.connect(self._step)
        name = label(asked.label, wrap=True)
        name.setBuddy(self._edit)
        self._doubt = Doubt(asked.look)
        self._grid = layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(2 * STEP)
        layout.setVerticalSpacing(0)
        layout.addWidget(name, 0, 0)
        layout.addWidget(self._edit, 0, 1, Qt.AlignmentFlag.AlignRight)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._doubt, 2, 0, 1, 2)
        self._slider: StopSlider | None = None
        if asked.spec.minimum is not None and asked.spec.maximum is not None:
            self._slider = StopSlider(asked.look)
            self._slider.setAccessibleName(asked.label)
            self._slider.valueChanged.connect(self._slide)
            layout.addWidget(self._slider, 1, 0, 1, 2)
        asked.look.changed.connect(self._fit)
        self._fit()

    def value(self) -> Any:
        """Return the number, exactly as it was shown where nobody has changed it."""
        if self._trouble is not None:
            problem = self._trouble.problem
            raise UserError(problem.key, **self.asked.named(problem.values))
        return self._value

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show a number."""
        self._set(value)

    def controls(self) -> list[QWidget]:
        """Return the slider after the text, as they are read."""
        return [self._edit, *([self._slider] if self._slider is not None else [])]

    def _set(self, value: Any) -> None:
        self._value, self._settled, self._trouble = value, value, None
        text = to_text(value, self.asked.spec.unit)
        self._edit.setText(text)
        self._edit.setModified(False)
        self._show_doubt()
        self._move_slider()

    def _move_slider(self) -> None:
        if self._slider is None:
            return
        asked = self.asked
        reached = stops(asked.spec, self._value, whole=asked.is_whole)
        self._slider.show_stops(reached, self._value)
        described = {"value": to_text(self._value, asked.spec.unit), "help": asked.help}
        self._slider.setAccessibleDescription(asked.words.say("form.described", described))

    def _type(self, text: str) -> None:
        """Take what is typed as soon as it can be; say what is wrong only once it is finished."""
        try:
            self._value, self._trouble = self.asked.read(text), None
        except UserError as trouble:
            self._trouble = trouble
        else:
            self._show_doubt()
            self._move_slider()
        self.changed.emit()

    def _settle(self) -> None:
        if self._trouble is not None:
            self._show_doubt()
        elif self._edit.isModified():
            self._set(self._value)

    def _slide(self, index: int) -> None:
        assert self._slider is not None
        self._choose(self._slider.values[index])

    def _step(self, direction: int) -> None:
        if self._slider is not None:
            reached = stops(self.asked.spec, self._value, whole=self.asked.is_whole)
            self._choose(reached.beside(self._value, direction))

    def _choose(self, value: Any) -> None:
        has_changed = value != self._value or self._trouble is not None
        self._set(value)
        if has_changed:
            self.changed.emit()

    def _show_doubt(self) -> None:
        trouble = self._trouble
        self._doubt.say("" if trouble is None else self.asked.sentence(trouble.problem))
        set_role(self._edit, "value" if trouble is None else "doubtful")

    def _fit(self) -> None:
        font = self.asked.look.theme.font("text", mono=True)
        self._edit.setFont(font)
        self._edit.ensurePolished()
        self._edit.setFixedWidth(self._edit.fontMetrics().horizontalAdvance("0" * VALUE_CHARACTERS))


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
