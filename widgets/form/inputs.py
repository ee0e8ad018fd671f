"""How is one parameter asked for? With a tick, one of a few chips, or any number of boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from experiments.core.declare import Spec
from experiments.core.problems import Problem
from experiments.core.words import Words
from widgets.controls.basics import label, row
from widgets.controls.choices import Check
from widgets.controls.layouts import FlowLayout
from widgets.style.look import Look
from widgets.style.theme import STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an input must know of its parameter."""

    name: str
    label: str
    help: str
    spec: Spec
    is_whole: bool  # of a number
    read: Callable[[str], Any]  # raises UserError for text that cannot be
    say_choice: Callable[[str], str]
    words: Words
    look: Look

    def sentence(self, problem: Problem) -> str:
        """Return what is wrong, with the name that people see."""
        return self.words.say(f"problems.{problem.key}", self.named(problem.values))

    def named(self, values: Any) -> dict[str, Any]:
        """Return the values of a sentence with the name that people see."""
        return {**values, "name": self.label}


class Input(QWidget):
    """Base of all inputs. `changed` comes with every change by hand, also to what cannot be."""

    changed = Signal()

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self.asked = asked

    def value(self) -> Any:
        """Return what is chosen. Raises UserError."""
        raise NotImplementedError

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show a value; nothing is emitted."""
        raise NotImplementedError

    def controls(self) -> list[QWidget]:
        """Return what can have the focus."""
        raise NotImplementedError

    def heading(self, role: str = "text") -> QLabel:
        """Return the name above the control; its tip is not that of each choice."""
        made = label(self.asked.label, role, wrap=True)
        made.setToolTip(self.asked.help)
        return made

    def describe(self, control: QWidget, name: str) -> None:
        """Give a control its name and the help of the parameter."""
        control.setAccessibleName(name)
        control.setAccessibleDescription(self.asked.help)


class YesNoInput(Input):
    """A tick."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.setToolTip(asked.help)
        self._check = Check(asked.label, asked.look)
        self.describe(self._check, asked.label)
        self._check.clicked.connect(lambda _checked=False: self.changed.emit())
        self.setLayout(row(self._check))

    def value(self) -> bool:
        """Return whether it is ticked."""
        return self._check.isChecked()

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Tick it or not."""
        self._check.setChecked(value)

    def controls(self) -> list[QWidget]:
        """Return the box."""
        return [self._check]


class OneInput(Input):
    """One of a few choices, side by side; the arrow keys go from one to the next."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QRadioButton] = {}
        self._flow = FlowLayout(space=STEP)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP + 2)
        layout.addWidget(self.heading())
        layout.addLayout(self._flow)

    def value(self) -> str:
        """Return the choice."""
        return next(name for name, button in self._buttons.items() if button.isChecked())

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show the choices, and one of them chosen: the first where the wanted one is not here."""
        if tuple(self._buttons) != choices:
            self._build(choices)
        chosen = self._buttons[value if value in self._buttons else choices[0]]
        with QSignalBlocker(chosen):
            chosen.setChecked(True)

    def controls(self) -> list[QWidget]:
        """Return the choices."""
        return list(self._buttons.values())

    def _build(self, choices: tuple[str, ...]) -> None:
        for button in self._buttons.values():
            self._group.removeButton(button)
            self._flow.removeWidget(button)
            button.deleteLater()
        self._buttons = {choice: self._button(choice) for choice in choices}

    def _button(self, choice: str) -> QRadioButton:
        asked = self.asked
        button = QRadioButton(asked.say_choice(choice))
        button.setProperty("role", "segment")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.describe(
            button,
            asked.words.say("form.choice", {"choice": button.text(), "of": asked.label}),
        )
        button.toggled.connect(lambda is_on: self.changed.emit() if is_on else None)
        self._group.addButton(button)
        self._flow.addWidget(button)
        return button


class SomeInput(Input):
    """Any number of choices, one below the other; those that this machine lacks are not there."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._shown: tuple[str, ...] = ()
        self._checks: dict[str, Check] = {}
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        self._lacking = label(role="soft", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP)
        layout.addWidget(self.heading("strong"))
        layout.addLayout(self._column)
        layout.addWidget(self._lacking)

    def value(self) -> tuple[str, ...]:
        """Return what is chosen, in the order in which it was shown."""
        chosen = tuple(name for name, check in self._checks.items() if check.isChecked())
        return self._shown if set(chosen) == set(self._shown) else chosen

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show the choices; what is wanted and not here is said."""
        if tuple(self._checks) != choices:
            self._build(choices)
        self._shown = tuple(choice for choice in value if choice in choices)
        for choice, check in self._checks.items():
            check.setChecked(choice in value)
        lacking = [self.asked.say_choice(choice) for choice in value if choice not in choices]
        say = self.asked.words.say
        if lacking:
            self._lacking.setText(say("form.not_here", {"names": ", ".join(lacking)}))
        else:
            self._lacking.setText("" if choices else say("form.none_here"))
        self._lacking.setVisible(bool(self._lacking.text()))

    def controls(self) -> list[QWidget]:
        """Return the boxes."""
        return list(self._checks.values())

    def _build(self, choices: tuple[str, ...]) -> None:
        for check in self._checks.values():
            self._column.removeWidget(check)
            check.deleteLater()
        self._checks = {choice: self._check(choice) for choice in choices}

    def _check(self, choice: str) -> Check:
        asked = self.asked
        check = Check(asked.say_choice(choice), asked.look)
        self.describe(
            check, asked.words.say("form.choice", {"choice": check.text(), "of": asked.label})
        )
        check.clicked.connect(lambda _checked=False: self.changed.emit())
        self._column.addWidget(check)
        return check
