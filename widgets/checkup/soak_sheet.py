"""The sheet before a soak: how long, how hot, and that it is loud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from experiments.core.declare import Params, param, specs
from experiments.core.parameters import from_text
from experiments.core.problems import UserError
from experiments.core.words import Words
from widgets.controls.basics import button, label
from widgets.controls.layouts import FlowLayout
from widgets.form.inputs import ParamInfo
from widgets.form.typed_input import TypedInput
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 520
SECONDS = 60.0


class SoakParams(Params):
    """The duration of the load, and the temperature at which it ends."""

    minutes: int = param(20, minimum=10, maximum=30)
    stop_celsius: float = param(95.0, minimum=60.0, maximum=105.0)


START = SoakParams()


@dataclass(frozen=True, slots=True)
class SoakWanted:
    """The chosen duration and temperature, in s and °C."""

    seconds: float
    stop_celsius: float


class SoakSheet(Overlay):
    """Asks for minutes and temperature; on battery it refuses. Emits `wanted` once.

    Without a sensor it asks for no temperature, and says that only the time ends the load.
    """

    wanted = Signal(object)  # SoakWanted

    def __init__(
        self, words: Words, look: Look, parent: QWidget, *, on_battery: bool, has_sensor: bool
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        say = words.say
        self.add_head(say("checkup_page.soak_sheet.title"), say("overlay.close"), look)
        text = say("checkup_page.soak_sheet.text")
        self.setAccessibleDescription(text)
        self.content.addWidget(label(text, wrap=True))
        self.inputs = {name: self._input(name, words, look) for name in specs(SoakParams)}
        for name, each in self.inputs.items():
            each.show_value(getattr(START, name), ())
            each.setEnabled(not on_battery)
            each.changed.connect(self._allow)
            self.content.addWidget(each)
        self.inputs["stop_celsius"].setVisible(has_sensor)
        if not has_sensor:
            self.content.addWidget(label(say("checkup.no_sensor"), "doubt", wrap=True))
        self.refusal = label(
            say("checkup_page.soak_sheet.battery") if on_battery else "", "doubt", wrap=True
        )
        self.content.addWidget(self.refusal)  # first: without a parent it would open as a window
        self.refusal.setVisible(on_battery)
        self.start = button(say("checkup_page.soak_sheet.start"), "main", clicked=self._start)
        self.start.setEnabled(not on_battery)
        self.cancel = button(say("checkup_page.soak_sheet.cancel"), clicked=self.dismiss)
        self.content.addSpacing(STEP)
        self.content.addLayout(FlowLayout(self.start, self.cancel))
        self.setFocusProxy(self.cancel if on_battery else self.start)

    def _input(self, name: str, words: Words, look: Look) -> TypedInput:
        def read(typed: str) -> Any:
            return getattr(from_text(START, {name: typed}), name)

        info = ParamInfo(
            name=name,
            label=words.say(f"checkup_page.soak_sheet.{name}"),
            help=words.say(f"checkup_page.soak_sheet.{name}_help"),
            spec=specs(SoakParams)[name],
            is_whole=name == "minutes",
            read=read,
            say_choice=str,
            words=words,
            look=look,
        )
        return TypedInput(info)

    def _chosen(self) -> SoakWanted | None:
        """Return what is chosen, None while a value is invalid."""
        try:
            minutes, celsius = (each.value() for each in self.inputs.values())
        except UserError:
            return None
        return SoakWanted(minutes * SECONDS, celsius)

    def _allow(self) -> None:
        self.start.setEnabled(self._chosen() is not None)

    def _start(self) -> None:
        if (chosen := self._chosen()) is not None:
            self.dismiss()
            self.wanted.emit(chosen)
