"""Inputs for choices: a check box, one of several segments, or any number of check boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QWidget

from experiments.core.declare import Spec
from experiments.core.problems import Problem
from experiments.core.words import Words
from widgets.controls.basics import column, discard, label, row, show_text
from widgets.controls.choices import Check
from widgets.controls.layouts import FlowLayout
from widgets.style.look import Look
from widgets.style.theme import STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamInfo:
    """Facts about its parameter that an input needs."""

    name: str
    label: str
    help: str
    spec: Spec
    is_whole: bool  # for numbers
    read: Callable[[str], Any]  # raises UserError for invalid text
    say_choice: Callable[[str], str]
    words: Words
    look: Look

    def sentence(self, problem: Problem) -> str:
        """Return the sentence of a problem, with the parameter's shown name."""
        return self.words.say(f"problems.{problem.key}", self.named(problem.values))

    def named(self, values: Any) -> dict[str, Any]:
        """Return the values of a sentence, with the parameter's shown name."""
        return {**values, "name": self.label}


class Input(QWidget):
    """Base of all inputs. Emits `changed` for every edit by the user, also to an invalid value."""

    changed = Signal()

    def __init__(self, info: ParamInfo) -> None:
        super().__init__()
        self.info = info

    def value(self) -> Any:
        """Return the value. Raises UserError."""
        raise NotImplementedError

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show a value without emitting `changed`."""
        raise NotImplementedError

    def controls(self) -> list[QWidget]:
        """Return the focusable controls."""
        raise NotImplementedError

    def heading(self, role: str = "text") -> QLabel:
        """Return the name above the choices; only the name has the help as its tooltip."""
        made = label(self.info.label, role, wrap=True)
        made.setToolTip(self.info.help)
        return made

    def describe(self, control: QWidget, name: str) -> None:
        """Set the accessible name and description of a control."""
        control.setAccessibleName(name)
        control.setAccessibleDescription(self.info.help)


class YesNoInput(Input):
    """A check box."""

    def __init__(self, info: ParamInfo) -> None:
        super().__init__(info)
        self.setToolTip(info.help)
        self._check = Check(info.label, info.look)
        self.describe(self._check, info.label)
        self._check.clicked.connect(lambda _checked=False: self.changed.emit())
        self.setLayout(row(self._check))

    def value(self) -> bool:
        """Return whether it is ticked."""
        return self._check.isChecked()

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Set the check box."""
        self._check.setChecked(value)

    def controls(self) -> list[QWidget]:
        """Return the box."""
        return [self._check]


class OneInput(Input):
    """One of a few choices, side by side; the arrow keys move along."""

    def __init__(self, info: ParamInfo) -> None:
        super().__init__(info)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QRadioButton] = {}
        self._flow = FlowLayout(space=STEP)
        self.setLayout(column(self.heading(), self._flow, space=STEP + 2))

    def value(self) -> str:
        """Return the chosen name."""
        return next(name for name, button in self._buttons.items() if button.isChecked())

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show the choices with one selected: the first if `value` is not among them."""
        if tuple(self._buttons) != choices:
            self._build(choices)
        chosen = self._buttons[value if value in self._buttons else choices[0]]
        with QSignalBlocker(chosen):
            chosen.setChecked(True)

    def controls(self) -> list[QWidget]:
        """Return the choices."""
        return list(self._buttons.values())

    def _build(self, choices: tuple[str, ...]) -> None:
        discard(*self._buttons.values())
        self._buttons = {choice: self._button(choice) for choice in choices}

    def _button(self, choice: str) -> QRadioButton:
        info = self.info
        button = QRadioButton(info.say_choice(choice))
        button.setProperty("role", "segment")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.describe(
            button,
            info.words.say("form.choice", {"choice": button.text(), "of": info.label}),
        )
        button.toggled.connect(lambda is_on: self.changed.emit() if is_on else None)
        self._group.addButton(button)
        self._flow.addWidget(button)
        return button


class SomeInput(Input):
    """Any number of choices, one below the other; choices that the machine lacks are left out."""

    def __init__(self, info: ParamInfo) -> None:
        super().__init__(info)
        self._shown: tuple[str, ...] = ()
        self._checks: dict[str, Check] = {}
        self._column = column(space=0)
        self._lacking = label(role="soft", wrap=True)
        self.setLayout(column(self.heading("strong"), self._column, self._lacking, space=STEP))

    def value(self) -> tuple[str, ...]:
        """Return the chosen names in the order shown."""
        chosen = tuple(name for name, check in self._checks.items() if check.isChecked())
        return self._shown if set(chosen) == set(self._shown) else chosen

    def show_value(self, value: Any, choices: tuple[str, ...]) -> None:
        """Show the choices, and name those of `value` that this machine lacks."""
        if tuple(self._checks) != choices:
            self._build(choices)
        self._shown = tuple(choice for choice in value if choice in choices)
        for choice, check in self._checks.items():
            check.setChecked(choice in value)
        lacking = [self.info.say_choice(choice) for choice in value if choice not in choices]
        say = self.info.words.say
        missing = say("form.not_here", {"names": ", ".join(lacking)}) if lacking else ""
        show_text(self._lacking, missing if lacking or choices else say("form.none_here"))

    def controls(self) -> list[QWidget]:
        """Return the boxes."""
        return list(self._checks.values())

    def _build(self, choices: tuple[str, ...]) -> None:
        discard(*self._checks.values())
        self._checks = {choice: self._check(choice) for choice in choices}

    def _check(self, choice: str) -> Check:
        info = self.info
        check = Check(info.say_choice(choice), info.look)
        self.describe(
            check, info.words.say("form.choice", {"choice": check.text(), "of": info.label})
        )
        check.clicked.connect(lambda _checked=False: self.changed.emit())
        self._column.addWidget(check)
        return check
