"""The form of an experiment's parameters, made from what the experiment declares."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from experiments.core.declare import Experiment, Spec, specs
from experiments.core.parameters import from_text
from experiments.core.problems import UserError
from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, row
from widgets.controls.layouts import DownArea
from widgets.form.inputs import Input, OneInput, ParamInfo, SomeInput, YesNoInput
from widgets.form.typed_input import FolderInput, TypedInput
from widgets.style.look import Look
from widgets.style.theme import STEP

HELP_LINES = 2  # reserved below the form, so that help does not move it


class ParamsForm(QWidget):
    """The parameters of one experiment. Emits `changed` when the user changes one."""

    changed = Signal()

    def __init__(self, experiment: Experiment[Any], words: Words, look: Look) -> None:
        super().__init__()
        self._experiment, self._words, self._look = experiment, words, look
        self._start: Any = None  # the parameters that "Reset" restores
        self._shown: Any = None
        self._choices: Mapping[str, tuple[str, ...]] = {}
        types = typing.get_type_hints(experiment.params)
        self._inputs = {
            name: self._input(name, spec, types[name])
            for name, spec in specs(experiment.params).items()
        }
        say = words.say
        self._reset = button(
            say("form.reset"), "link", clicked=self.reset, tip=say("form.reset_help")
        )
        self._reset.hide()
        self._content = holding(column(*self._inputs.values(), None, space=3 * STEP))
        self._scroll = DownArea(self._content)
        self._help = label(role="soft", wrap=True)
        self._help.setAlignment(Qt.AlignmentFlag.AlignTop)
        foot = row(self._help, self._reset, grows=0)
        foot.setAlignment(self._reset, Qt.AlignmentFlag.AlignTop)
        self.setLayout(column(self._scroll, foot))
        self.setAccessibleName(say("form.name"))
        look.follow(self._fit)

    def show_params(
        self, params: Any, choices: Mapping[str, tuple[str, ...]], *, start: Any = None
    ) -> None:
        """Show these parameters, with the choices of this machine.

        "Reset" restores `start`, or `params` if there is none.
        """
        self._choices, self._shown = choices, params
        for name, each in self._inputs.items():
            each.show_value(getattr(params, name), self._choices_of(name))
        controls = [control for each in self._inputs.values() for control in each.controls()]
        for before, control in pairwise([*controls, self._reset]):
            QWidget.setTabOrder(before, control)
            before.installEventFilter(self)  # Qt installs a filter only once
        self._start = params if start is None else start
        self._show_used()
        self._show_reset()

    def params(self) -> Any:
        """Return the parameters as shown. Raises UserError for the first invalid value."""
        values = {name: each.value() for name, each in self._inputs.items()}
        return replace(self._shown, **values)

    def reset(self) -> None:
        """Restore the start values."""
        if self._reset.hasFocus():  # the button disappears
            next(iter(self._inputs.values())).controls()[0].setFocus()
        self.show_params(self._start, self._choices)
        self.changed.emit()

    def set_enabled_for_run(self, enabled: bool) -> None:
        """Let the values be changed, or only read during a run."""
        self._content.setEnabled(enabled)
        self._reset.setEnabled(enabled)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the help of the focused control, and scroll to it."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            owner = watched.parentWidget()
            self._help.setText(owner.info.help if isinstance(owner, Input) else "")
            self._scroll.ensureWidgetVisible(watched, 0, 6 * STEP)
        elif event.type() == QEvent.Type.FocusOut:
            self._help.clear()
        return super().eventFilter(watched, event)

    def _input(self, name: str, spec: Spec, kind: Any) -> Input:
        words, experiment = self._words, self._experiment.id
        help_key = f"{experiment}.help.{name}"

        def say_choice(choice: str) -> str:
            key = f"{experiment}.choices.{choice}"
            # A device keeps PyTorch's name, even if the experiment has a choice of that name.
            return words.say(key) if name != "device" and words.has(key) else choice

        info = ParamInfo(
            name=name,
            label=words.say(f"{experiment}.params.{name}"),
            help=words.say(help_key) if words.has(help_key) else "",
            spec=spec,
            is_whole=kind is int,
            read=lambda text: self._read(name, text),
            say_choice=say_choice,
            words=words,
            look=self._look,
        )
        made = _kind(spec, kind)(info)
        made.changed.connect(self._tell)
        return made

    def _read(self, name: str, text: str) -> Any:
        """Parse a typed text as the value of one parameter. Raises UserError."""
        return getattr(from_text(self._shown, {name: text}), name)

    def _choices_of(self, name: str) -> tuple[str, ...]:
        declared = specs(self._experiment.params)[name].choices
        return self._choices.get(name, () if callable(declared) else declared)

    def _tell(self) -> None:
        self._show_used()
        self._show_reset()
        self.changed.emit()

    def _show_used(self) -> None:
        """Disable parameters that have no effect with the current values of the others."""
        for name, spec in specs(self._experiment.params).items():
            if spec.used_with is not None:
                other, value = spec.used_with
                self._inputs[name].setEnabled(self._inputs[other].value() == value)

    def _show_reset(self) -> None:
        try:
            self._reset.setVisible(self.params() != self._start)
        except UserError:
            self._reset.setVisible(True)

    def _fit(self) -> None:
        line_px = self._look.theme.px("note") * 1.35
        self._help.setMinimumHeight(round(HELP_LINES * line_px))


def _kind(spec: Spec, kind: Any) -> type[Input]:
    if kind is bool:
        return YesNoInput
    if typing.get_origin(kind) is tuple:
        return SomeInput
    if spec.is_folder:
        return FolderInput
    return OneInput if spec.choices else TypedInput
