"""The sampling rate of Live, its cost, and the known load.

During a run it samples seldom, and runs no known load: both would disturb.
"""

from __future__ import annotations

import os

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app import synthetic_load
from app.cost import Cost
from app.window.core.session import Session
from app.window.core.watcher import QUIET_HZ
from widgets.live.controls import Controls


class Watching(QObject):
    """Applies the chosen rate and load, except during a run."""

    ended = Signal()  # the watcher has given up

    def __init__(self, session: Session, controls: Controls, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._controls = session, controls
        self.cost = Cost()
        self.known_load = session.known_load
        self._hz = session.settings.live_hz
        self._is_seen = False
        controls.load_wanted.connect(self.start_load)
        controls.gpu_load_wanted.connect(self.start_gpu_load)
        controls.rate_wanted.connect(self.set_rate)
        session.woke.connect(self._wake)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.known_load.stop)
        if session.is_awake:
            self._wake()

    def be_seen(self, is_seen: bool) -> None:
        """Sample at the chosen rate while seen, else only for the status line."""
        self._is_seen = is_seen
        self._apply()

    def set_rate(self, hz: float) -> None:
        """Choose the rate for when the place is seen and no experiment runs."""
        self._hz = hz
        self._session.remembered.emit({"live_hz": hz})
        self._apply()

    def start_load(self, count: int) -> None:
        """Keep hardware threads busy; 0 ends it."""
        if count and not self._session.is_measuring:
            self.known_load.start(count)
        else:
            self.known_load.stop()
        self.show_load()

    def offer_loads(self) -> None:
        """Offer loads on this machine, not on one from a file."""
        machine = self._session.machine
        usable = machine.cpu.usable_threads if machine is not None else None
        gpus, why_none = dict[str, int](), ""
        if machine is not None and not self._session.context.has_fake_machine:
            problem = synthetic_load.lacking(machine)
            why_none = "" if problem is None else self._session.say(problem)
            gpus = {} if problem else synthetic_load.gpus(machine)
        self._controls.offer_loads(usable or os.cpu_count() or 1, gpus, why_none)

    def start_gpu_load(self, kind: str, device: str) -> None:
        """Keep a GPU busy."""
        machine = self._session.machine
        if machine is not None and not self._session.is_measuring:
            self.known_load.start_on_gpu(kind, device, machine)
        self.show_load()

    def show_load(self) -> None:
        """Say whether a load runs: it ends by itself, or fails on a GPU."""
        if (problem := self.known_load.trouble()) is not None:
            self._session.troubled.emit(problem)
        self._controls.show_load(self.known_load.count, quiet=self._session.is_measuring)

    def status(self, *, is_frozen: bool, has_samples: bool) -> str:
        """Return the sampling rate and its cost."""
        say = self._session.words.say
        if self._session.is_measuring:
            return say("live.quiet_rate")
        if is_frozen:
            return say("live.cost_frozen", {"rate_hz": self._hz})
        if not has_samples:
            return ""
        share = self.cost.fraction(self._session.watcher.pid)
        if share is None:
            return say("live.cost_unknown", {"rate_hz": self._hz})
        return say("live.cost", {"rate_hz": self._hz, "percent": f"{share * 100:.1f} %"})

    def _wake(self) -> None:
        for each in (self._session.runner, self._session.checking):
            each.began.connect(self._begin_run)
            each.ended.connect(self._follow_run)
        self._session.watcher.ended.connect(self.ended)
        self._apply()

    def _begin_run(self) -> None:
        self.known_load.stop()
        self._follow_run()

    def _follow_run(self) -> None:
        self._apply()
        self.show_load()

    def _apply(self) -> None:
        hz = self._hz if self._is_seen and not self._session.is_measuring else QUIET_HZ
        if self._session.is_awake:
            self._session.watcher.set_rate(hz)
        shown_hz = QUIET_HZ if self._session.is_measuring else self._hz
        self._controls.show_rate(shown_hz, quiet=self._session.is_measuring)
