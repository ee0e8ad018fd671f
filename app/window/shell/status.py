"""Fills the status line: the machine, whether it is quiet, and what runs."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.report import time_left
from app.window.core.other_load import QUIET_BELOW, SAMPLES
from app.window.core.place import Place
from app.window.core.session import Session
from app.window.core.target import CHECKUP, EXPERIMENTS
from machine.model import is_virtual
from widgets.frame.status_line import StatusLine

TEXT_EVERY_MS = 1000


class Status(QObject):
    """Listens to the session, and keeps the line up to date."""

    def __init__(self, session: Session, line: StatusLine) -> None:
        super().__init__(line)
        self._session, self._line = session, line
        self._place: Place | None = None
        self._load = session.other_load
        self._texts = QTimer(self, interval=TEXT_EVERY_MS)
        self._texts.timeout.connect(self._refresh)
        line.stop_wanted.connect(session.stop)
        line.run_wanted.connect(self._show_run)
        session.machine_changed.connect(self._show_machine)
        self._load.changed.connect(self._show_power)
        session.status_changed.connect(self._say_place)
        session.woke.connect(self._wake)

    def show_place(self, place: Place) -> None:
        """Show the status of a place at the right."""
        self._place = place
        self._say_place()

    def _say_place(self) -> None:
        if self._place is not None:
            self._line.show_place(self._place.status())

    def _wake(self) -> None:
        self._session.runner.began.connect(self._show_running)
        self._session.runner.moved.connect(self._show_running)  # like the page
        self._session.runner.ended.connect(self._show_running)
        checking = self._session.checking
        for signal in (checking.began, checking.heard, checking.ended):
            signal.connect(self._show_running)
        self._session.watcher.ended.connect(lambda: self._line.show_load(""))
        self._texts.start()

    def _show_machine(self) -> None:
        machine, say = self._session.machine, self._session.words.say
        if machine is None:
            return
        model = machine.cpu.model or say("frame.unknown_machine")
        if self._session.context.has_fake_machine:
            model = say("frame.fake_machine", {"machine": model})
        elif is_virtual(machine):
            model = say("frame.virtual_machine", {"machine": model})
        self._line.show_machine(model)

    def _refresh(self) -> None:
        say = self._session.words.say
        if (threads := self._load.busy_threads) is not None:
            known, key = self._session.known_load.count, "frame.quiet"
            if not self._load.is_quiet:
                key = "frame.busy_by_known_load" if known else "frame.busy"
            values = {"threads": f"{threads:.1f}", "known": known}
            limits = {"samples": SAMPLES, "below_fraction": QUIET_BELOW}
            about = say("frame.quiet_help" if key == "frame.quiet" else "frame.busy_help", limits)
            self._line.show_load(say(key, values), about)
        elif self._session.is_measuring:
            self._line.show_load("")  # the run's own load says nothing of other programs
        self._say_place()

    def _show_running(self) -> None:
        runner, say = self._session.runner, self._session.words.say
        run_state = runner.run_state
        if self._session.checking.is_running:
            left_s = self._session.checking.left_s
            begins = say("checkup_page.begun")
            left = begins if left_s is None else say("checkup_page.left", {"duration": left_s})
            self._line.show_run(left, say("checkup_page.stop_help"))
            return
        if not runner.is_running or run_state is None:
            self._line.show_run("")
            return
        question = say(f"{run_state.experiment.id}.question")
        stops = say("frame.stop_hint", {"question": question})
        left = time_left(self._session.words, run_state)
        if run_state.started is None or not left:
            self._line.show_run(say("frame.run_begins", {"question": question}), stops)
        else:
            self._line.show_run(say("frame.runs", {"question": question, "left": left}), stops)

    def _show_run(self) -> None:
        run_state = self._session.runner.run_state
        if self._session.checking.is_running:
            self._session.go(CHECKUP)
        elif run_state is not None:
            self._session.go(EXPERIMENTS, experiment=run_state.experiment.id)

    def _show_power(self) -> None:
        is_told = self._load.is_on_battery
        self._line.show_power(self._session.words.say("frame.on_battery") if is_told else "")
