"""What does the place of the map show? Layers, the map, the chosen part, and where to start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from experiments.declare import Part
from experiments.words import Words
from machine.model import Machine
from widgets.basics import button, chip, column, label, row
from widgets.flow import FlowLayout
from widgets.look import Look
from widgets.map.boxes import EarnedValue, Invitation
from widgets.map.machine_map import MachineMap
from widgets.map.part_panel import PartPanel
from widgets.place_head import BELOW, PlaceHead, chip_row
from widgets.theme import STEP

SIDE_PX, SIDE_SHARE = 300, 0.36  # at zoom 1, and of the page at most


class MapPage(QWidget):
    """The page. `experiment_wanted` carries the id of an experiment."""

    experiment_wanted = Signal(str)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._machine: Machine | None = None
        self._counts = 0, 0
        self._asks = False  # is there a part whose number is not known?
        self.map, self.panel = MachineMap(words, look), PartPanel(words, look)
        self._soft = label("", "soft")
        self._legend = label("", "soft", wrap=True)
        self.measured, self.live = (
            self._layer("map.layer_measured"),
            self._layer("map.layer_live"),
        )
        self.start = StartCard(words)
        title = label(words.say("map.this_machine"), "title")
        head = PlaceHead(self._soft, title, chip_row(self.measured, self.live))
        self._side = QWidget()
        self._side.setLayout(column(self.start, self.panel, space=3 * STEP))
        body = row(self.map, self._side, space=6 * STEP)
        body.setStretch(0, 1)
        whole = column(head, body, self._legend, space=BELOW)
        whole.setStretch(1, 1)
        self.setLayout(whole)
        self.setFocusProxy(self.map)
        self.map.part_chosen.connect(self.panel.show_box)
        for asking in (self.map, self.panel, self.start):
            asking.experiment_wanted.connect(self.experiment_wanted)
        look.changed.connect(self._share)
        self.show_machine(None)

    def show_machine(self, machine: Machine | None) -> None:
        """Show a machine; None while it is being read."""
        self._machine = machine
        self.map.show_machine(machine)
        self.panel.show_machine(machine)
        self._tell()

    def show_values(
        self,
        values: Mapping[Part, Sequence[EarnedValue]],
        invitations: Mapping[Part, Sequence[Invitation]],
        *,
        count: int,
        possible: int,
    ) -> None:
        """Show the numbers that are known: `count` of those that could be."""
        self._counts = count, possible
        self._asks = any(
            one.fills for part, some in invitations.items() if not values.get(part) for one in some
        )
        self.map.show_values(values, invitations)
        self.panel.show_values(values, invitations)
        self._tell()

    def show_load(self, busy: Mapping[int, float | None]) -> None:
        """Show how busy each hardware thread is."""
        self.map.show_load(busy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width between map and panel."""
        super().resizeEvent(event)
        self._share()

    def _layer(self, key: str) -> QPushButton:
        made = chip(self._words.say(key), checkable=True)
        made.setChecked(True)
        made.toggled.connect(self._show_layers)
        return made

    def _show_layers(self) -> None:
        self.map.set_layers(measured=self.measured.isChecked(), live=self.live.isChecked())
        self._tell()

    def _share(self) -> None:
        width = min(round(SIDE_PX * self._look.theme.zoom), round(SIDE_SHARE * self.width()))
        self._side.setFixedWidth(width)

    def _tell(self) -> None:
        say, machine = self._words.say, self._machine
        if machine is None:
            self._soft.setText(say("map.reading"))
            self._legend.setText("")
            return
        count, possible = self._counts
        known = [
            machine.cpu.model,
            machine.os.distribution or machine.os.kind,
            say("map.earned", {"count": count, "possible": possible}) if possible else None,
        ]
        self._soft.setText(" · ".join(text for text in known if text))
        sentences = []
        if self.live.isChecked():
            sentences.append(say("map.legend_load"))
        if machine.gpus:
            sentences.append(say("map.legend_links"))
        if self.measured.isChecked() and self._asks:
            sentences.append(say("map.legend_unmeasured"))
        self._legend.setText(" ".join(sentences))


class StartCard(QFrame):
    """Where to start, while nothing has been measured yet."""

    experiment_wanted = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._words, self._experiment = words, ""
        self._question, self._time = label("", "head", wrap=True), label("", "soft")
        self.button = button(words.say("map.start"), "main", clicked=self._want)
        layout = column(
            label(words.say("map.start_here"), "soft", wrap=True),
            self._question,
            FlowLayout(self.button, self._time, space=3 * STEP),
            space=3 * STEP,
        )
        layout.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 4 * STEP)
        self.setLayout(layout)
        self.hide()

    def offer(self, experiment: str, question: str, seconds: float) -> None:
        """Offer an experiment to start with."""
        self._experiment = experiment
        self._question.setText(question)
        expected_s = round(seconds) or seconds
        self._time.setText(self._words.say("map.takes", {"expected_s": expected_s}))
        self.show()

    def _want(self) -> None:
        self.experiment_wanted.emit(self._experiment)
