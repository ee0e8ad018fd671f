"""The place of the map: this machine, what was measured on it, and how busy it is."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction

from app.window.core.place import Place
from app.window.core.saving import Saving
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, MAP, Target
from experiments.core.declare import Part
from experiments.engine import messages
from experiments.presentation.known import KnownValues
from widgets.controls.actions import Actions
from widgets.controls.basics import column
from widgets.controls.place_head import MARGINS
from widgets.map.page import MapPage

FIRST = "cache-ladder"  # its numbers fill most of the map, and its lesson begins with a guess
AGES_MS = 60_000  # how often "3 minutes ago" is updated


class MapPlace(Place):
    """Shows load while it is seen, and looks numbers up whenever runs change."""

    name = MAP

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.page = MapPage(session.words, session.look)
        self._is_here = False
        self._ages = QTimer(self, interval=AGES_MS)
        self._ages.timeout.connect(self._look_up)
        self.setLayout(column(self.page, edges=MARGINS))
        self.setFocusProxy(self.page)
        go = session.go
        self.page.experiment_wanted.connect(lambda name: go(EXPERIMENTS, experiment=name))
        self.page.start.closed.connect(lambda: session.remembered.emit({"first_guess": False}))
        self.page.map.caption = self._caption
        session.machine_changed.connect(self._show_machine)
        session.runs_changed.connect(self._look_up)
        session.entries_changed.connect(self._look_up)
        session.sampled.connect(self._show_load)
        session.woke.connect(self._look_up)
        self.saving = Saving(session, self)
        self.page.panel.doctor_wanted.connect(session.asked_for_doctor)
        self.page.save_wanted.connect(self._save)
        self.page.copied.connect(lambda: session.tell(session.words.say("page.copied")))
        self._actions = Actions(self, session.words)
        add = self._actions.add
        add("map.act_measured", self.page.measured.toggle)
        add("map.act_live", self.page.live.toggle)
        add("map.act_fit", self.page.map.fit)
        add("map.act_table", self.page.table.toggle, "Ctrl+D")
        add("map.act_save", lambda: self._save(".png"), "Ctrl+S")
        add("map.act_save_svg", lambda: self._save(".svg"))
        add("map.act_copy", self.page.copy_picture, "Ctrl+Shift+C")
        add("map.act_save_machine", self._save_machine)
        if not session.context.has_fake_machine:
            add("map.act_inspect", self._inspect)
        if session.machine is not None:
            self._show_machine()

    def open(self, target: Target) -> None:
        """Take the focus, and select the wanted part."""
        self.setFocus()
        if target.part is not None:
            self.page.map.choose_part(Part(target.part), target.threads)

    def arrive(self) -> None:
        """Show the load, and update the ages of the numbers."""
        if not self._is_here:
            self._look_up()
        self._is_here = True
        self._ages.start()

    def leave(self) -> None:
        """Draw nothing while the place is hidden."""
        self._is_here = False
        self._ages.stop()

    def own_actions(self) -> Sequence[QAction]:
        """Return the actions of the map."""
        return tuple(self._actions)

    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys of the map."""
        say = self.session.words.say
        return (
            ("← → ↑ ↓", say("keys.walk_map")),
            ("Enter", say("keys.use_part")),
            ("Esc", say("keys.leave_part")),
            ("Shift+← → ↑ ↓", say("keys.point_on_map")),
            ("Ctrl+← → ↑ ↓", say("keys.pan_map")),
            ("+ - 0", say("keys.zoom_map")),
        )

    def _save(self, suffix: str) -> None:
        if self.session.machine is not None:
            self.saving.save(f"machine-map{suffix}", self.page.map.whole().save)

    def _save_machine(self) -> None:
        """Write what `inspect --out` writes: the machine, without anything that names its owner."""
        if (machine := self.session.machine) is not None:
            from machine.inspect import portable
            from machine.model import to_json

            plain = to_json(portable(machine))
            self.saving.save_text(
                "machine.json", json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
            )

    def _inspect(self) -> None:
        """Inspect the machine again, and say when that is done."""
        say, watcher = self.session.words.say, self.session.watcher
        watcher.inspected.connect(
            lambda: self.session.tell(say("map.inspected")), Qt.ConnectionType.SingleShotConnection
        )
        watcher.inspect()

    def _show_machine(self) -> None:
        self.page.show_machine(self.session.machine)
        self._look_up()

    def _look_up(self) -> None:
        """Look up the known numbers in the background."""
        session = self.session
        machine, runs = session.machine, session.runs
        if machine is None or not session.is_awake:
            return
        from app.runs.known_values import known_values  # after the first paint

        catalogue, words = session.catalogue, session.words

        def look_up() -> tuple[KnownValues, bool]:
            found = known_values(runs, catalogue, words, machine)
            return found, any(run.is_of(machine) for run in runs)

        session.background.do(look_up, self._show_values)

    def _show_values(self, looked_up: tuple[KnownValues, bool]) -> None:
        found, is_measured = looked_up
        session, say = self.session, self.session.words.say
        runnable = [each for each in session.entries.values() if each.need is None]
        is_fake = session.context.has_fake_machine
        # A machine from a file cannot be measured: its parts ask for no number.
        self.page.show_values(KnownValues(found.values) if is_fake else found)
        if is_measured or is_fake or not runnable or not session.settings.first_guess:
            self.page.start.hide()
            return
        tour = [each.experiment.id for each in runnable if each.experiment.is_in_tour]
        first = FIRST if FIRST in tour else (*tour, runnable[0].experiment.id)[0]
        question = say("map.first_guess") if first == FIRST else say(f"{first}.question")
        self.page.start.offer(first, question, session.entries[first].seconds)

    def _caption(self) -> str:
        """Return the machine of a picture, marked if it is not this one."""
        from app.window.core.watch_player import band_of  # after the first paint

        session, say = self.session, self.session.words.say
        player = session.watcher.player if session.is_awake else None
        if player is not None:
            return band_of(player.recorded, session.words, session.machine)
        model = session.machine.cpu.model if session.machine is not None else None
        name = model or say("frame.unknown_machine")
        if session.context.has_fake_machine:
            return say("frame.fake_machine", {"machine": name})
        return name

    def _show_load(self, sample: messages.Sample) -> None:
        if self._is_here:
            self.page.map.show_load({thread["id"]: thread["busy"] for thread in sample.threads})
            self.page.show_sample(sample)
