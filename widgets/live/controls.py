"""Title and chips of Live: rate, freeze, mark, files, load, explanation."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from types import MappingProxyType

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from experiments.core.words import Words
from widgets.controls.basics import SteadyChip, chip, column, label, leave_keys
from widgets.controls.place_head import PlaceHead, chip_row
from widgets.style.theme import STEP

GPU_LOADS = {"matmul": "live.load_matmul", "copy": "live.load_copy"}
RATES_HZ = (2.0, 5.0, 10.0, 20.0)


class Controls(QWidget):
    """The chips; the `show_` methods report what happened."""

    load_wanted = Signal(int)  # hardware threads to keep busy, 0 to end the load
    gpu_load_wanted = Signal(str, str)  # what it does, and the device
    rate_wanted = Signal(float)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._load: tuple[int, bool] | None = None  # as last shown
        self.freeze = chip("", checkable=True)
        self.mark = chip("", adds=True, tip=words.say("live.mark_help"))
        self.save = chip(words.say("live.save"))
        self.open = chip(words.say("live.open_short"), tip=words.say("live.open_help"))
        self.load = SteadyChip(map(words.say, ("live.start_load", "live.end_load")), checkable=True)
        self.rate = SteadyChip(words.say("live.rate_chip", {"rate_hz": hz}) for hz in RATES_HZ)
        self.explain = chip(words.say("live.explain"))
        self.rates, self.loads = QMenu(self), QMenu(self)
        self._fill_rates()
        self.rate.clicked.connect(lambda: _pop_up(self.rates, self.rate))
        self.load.clicked.connect(self._use_load)
        files = self.save, self.open
        buttons = (self.rate, self.freeze, self.mark, *files, self.load, self.explain)
        leave_keys(*buttons)
        self.about = label(words.say("live.about"), "soft")
        title = label(words.say("live.title"), "title")
        self.setLayout(column(PlaceHead(self.about, title, chip_row(*buttons))))
        for before, after in pairwise(buttons):
            QWidget.setTabOrder(before, after)
        self.show_rate(RATES_HZ[0], quiet=False)
        self.show_load(0)
        self.use_letters(True)
        self.allow(False)

    def allow(self, allowed: bool) -> None:
        """Enable the chips that need samples, or disable them."""
        for button in (self.freeze, self.mark, self.save):
            button.setEnabled(allowed)

    def use_letters(self, used: bool) -> None:
        """Show or hide the single-letter shortcuts in the chips."""
        self.freeze.setText(self._words.say("live.freeze_key" if used else "live.freeze"))
        self.mark.setText(self._words.say("live.mark_key" if used else "live.mark"))

    def show_recorded(self, recorded: bool) -> None:
        """Describe the recorded minute, and hide chips without meaning for a recording."""
        self.about.setText(self._words.say("live.about_recorded" if recorded else "live.about"))
        for button in (self.rate, self.save, self.load):
            button.setVisible(not recorded)

    def show_rate(self, hz: float, *, quiet: bool) -> None:
        """Show the sampling rate; `quiet` while a run forbids to choose it."""
        self.rate.setText(self._words.say("live.rate_chip", {"rate_hz": hz}))
        key = "live.rate_while_running" if quiet else "live.rate_tip"
        self.rate.setToolTip(self._words.say(key))
        self.rate.setEnabled(not quiet)
        for action in self.rates.actions():
            action.setChecked(action.data() == hz)

    def show_load(self, count: int, *, quiet: bool = False) -> None:
        """Show how many hardware threads our own load uses; `quiet` while a run forbids it."""
        if self._load == (count, quiet):
            return
        self._load = count, quiet
        self.load.setChecked(count > 0)
        self.load.setText(self._words.say("live.end_load" if count else "live.start_load"))
        self.load.setEnabled(not quiet)

    def offer_loads(
        self, threads: int, gpus: Mapping[str, int] = MappingProxyType({}), why_none: str = ""
    ) -> None:
        """Offer a load on one hardware thread, on all, or on a GPU; or say why on none.

        `gpus` are the numbers of GPUs, by the names of their devices.
        """
        self.loads.clear()
        texts = {1: self._words.say("live.load_one")}
        if threads > 1:
            texts[threads] = self._words.say("live.load_all", {"count": threads})
        for count, text in texts.items():
            action = self.loads.addAction(text)
            action.triggered.connect(lambda _=False, n=count: self.load_wanted.emit(n))
        for (device, number), (kind, key) in product(gpus.items(), GPU_LOADS.items()):
            action = self.loads.addAction(self._words.say(key, {"number": number}))
            action.triggered.connect(
                lambda _=False, told=(kind, device): self.gpu_load_wanted.emit(*told)
            )
        if why_none:
            self.loads.addAction(self._words.say("live.load_no_gpu", {"why": why_none}))
            self.loads.actions()[-1].setEnabled(False)

    def _fill_rates(self) -> None:
        group = QActionGroup(self.rates)
        for hz in RATES_HZ:
            action = group.addAction(self._words.say("live.rate", {"rate_hz": hz}))
            action.setCheckable(True)
            action.setData(hz)
            action.triggered.connect(lambda _=False, hz=hz: self.rate_wanted.emit(hz))
        self.rates.addActions(group.actions())

    def _use_load(self, wanted: bool) -> None:
        if wanted:
            self.load.setChecked(False)  # checked only while the load runs
            _pop_up(self.loads, self.load)
        else:
            self.load_wanted.emit(0)


def _pop_up(menu: QMenu, anchor: QPushButton) -> None:
    menu.popup(anchor.mapToGlobal(QPoint(0, anchor.height() + STEP)))
