"""The status line at the foot of the window: machine, load, current run, and Stop."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from experiments.core.words import Words
from widgets.controls.basics import button, row, show_text, tip
from widgets.controls.elided import ElidedButton, ElidedLabel
from widgets.style.theme import STEP

MACHINE_CHARACTERS = 24  # at least, where room is short


class StatusLine(QFrame):
    """Machine and load at the left, the current run in the middle, the page's text at the right."""

    stop_wanted = Signal()
    run_wanted = Signal()  # to open the current run

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.setProperty("role", "status")
        self._machine = ElidedLabel("soft", least=MACHINE_CHARACTERS)
        self._load, self._power, self._right = (ElidedLabel("soft") for _ in range(3))
        self._run = ElidedButton("small-link")
        self._run.clicked.connect(lambda _checked=False: self.run_wanted.emit())
        self._stop = button(words.say("frame.stop"), "small-stop", clicked=self.stop_wanted.emit)
        stays = self._stop.sizePolicy()
        stays.setRetainSizeWhenHidden(True)  # else the line, and all above it, would jump
        self._stop.setSizePolicy(stays)
        parts = self._machine, self._load, self._power, self._run, self._stop, None, self._right
        edges = (5 * STEP, 2 * STEP, 5 * STEP, 2 * STEP)
        self.setLayout(row(*parts, space=6 * STEP, edges=edges))
        self.show_run("")

    def show_machine(self, text: str) -> None:
        """Show the name of the machine."""
        self._machine.setText(text)

    def show_load(self, text: str, about: str = "") -> None:
        """Show whether the machine is quiet, with `about` as its tooltip."""
        show_text(self._load, text)
        self._load.explain(tip(about))

    def show_power(self, text: str) -> None:
        """Show the power source, such as battery; "" for none."""
        show_text(self._power, text)

    def show_run(self, text: str, stops: str = "") -> None:
        """Show the current run; `stops` explains its Stop button. Hide both if `text` is empty."""
        self._run.say(text)
        self._stop.setToolTip(stops)
        self._stop.setAccessibleDescription(stops)
        self._run.setVisible(bool(text))
        self._stop.setVisible(bool(text))

    def show_place(self, text: str) -> None:
        """Show the text of the open page."""
        show_text(self._right, text)
