"""How the machine stands during a lecture: quiet or busy, on mains or battery, cores free."""

from __future__ import annotations

import collections

from PySide6.QtCore import QObject, QTimer, Signal

from app.window.core.session import Session
from app.window.shell.status import POWER_EVERY_MS, QUIET_BELOW, SAMPLES
from experiments.engine import messages
from experiments.engine.environment import on_battery


class MachineLine(QObject):
    """Listens to the session; `text` says it in one line."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._busy: collections.deque[float] = collections.deque(maxlen=SAMPLES)
        self._count = 0
        self._battery: bool | None = None
        session.sampled.connect(self._sample)
        self._power = QTimer(self, interval=POWER_EVERY_MS)
        self._power.timeout.connect(self._ask_power)
        self._power.start()
        self._ask_power()

    def text(self) -> str:
        """Return what is known, "" for nothing."""
        say, found = self._session.words.say, []
        if len(self._busy) == SAMPLES:
            is_quiet = min(self._busy) < QUIET_BELOW
            busy = {"threads": f"{self._busy[-1]:.1f}"}
            found.append(say("frame.quiet") if is_quiet else say("lecture.busy", busy))
        if self._battery is not None:
            found.append(say("lecture.on_battery" if self._battery else "lecture.on_mains"))
        if len(self._busy) == SAMPLES:
            free = max(0, round(self._count - self._busy[-1]))
            found.append(say("lecture.free", {"free": free, "count": self._count}))
        return say("lecture.machine", {"state": ", ".join(found)}) if found else ""

    def _sample(self, sample: messages.Sample) -> None:
        busy = [thread["busy"] for thread in sample.threads if thread["busy"] is not None]
        runner = self._session.runner
        if runner.is_running and not runner.is_at_rest:
            self._busy.clear()  # the run's own load says nothing of other programs
        elif busy:
            self._count = len(busy)
            self._busy.append(sum(busy))
        self.changed.emit()

    def _ask_power(self) -> None:
        self._session.background.do(on_battery, self._show_power)

    def _show_power(self, battery: bool | None) -> None:
        self._battery = battery
        self.changed.emit()
