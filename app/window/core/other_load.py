"""Watches how busy other programs keep the machine, and whether it runs on its battery."""

from __future__ import annotations

import collections

from PySide6.QtCore import QObject, QTimer, Signal

from app.window.core.session import Session
from experiments.engine import messages
from experiments.engine.environment import on_battery

QUIET_BELOW = 0.25  # of one thread, in the least busy of the last samples: short work is no alarm
SAMPLES = 6
POWER_EVERY_MS = 30_000


class OtherLoad(QObject):
    """Listens to the session, from before it wakes; our own work says nothing of other programs."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._busy: collections.deque[float] = collections.deque(maxlen=SAMPLES)
        self.thread_count = 0  # of all threads that are looked at
        self.is_on_battery: bool | None = None
        self._power = QTimer(self, interval=POWER_EVERY_MS)
        self._power.timeout.connect(self._ask_power)
        session.sampled.connect(self._sample)
        session.woke.connect(self._wake)
        session.closing.connect(self._power.stop)

    @property
    def busy_threads(self) -> float | None:
        """The number of busy threads now; None while there are too few samples."""
        is_known = len(self._busy) == SAMPLES and not self._is_ours
        return self._busy[-1] if is_known else None

    @property
    def is_quiet(self) -> bool:
        """Do other programs need so little that a measurement is not disturbed?"""
        return min(self._busy, default=0.0) < QUIET_BELOW

    @property
    def _is_ours(self) -> bool:
        """Does this program work itself? A run that waits for its key does not."""
        session = self._session
        if session.is_awake and session.background.is_at_long_work:
            return True
        return session.is_measuring and not (
            session.runner.is_running and session.runner.is_at_rest
        )

    def forget(self) -> None:
        """Begin anew with the samples."""
        self._busy.clear()
        self.changed.emit()

    def _wake(self) -> None:
        self._session.watcher.ended.connect(self.forget)
        self._power.start()
        self._ask_power()

    def _sample(self, sample: messages.Sample) -> None:
        busy = [thread["busy"] for thread in sample.threads if thread["busy"] is not None]
        if self._is_ours:
            self._busy.clear()
        elif busy:
            self.thread_count = len(busy)
            self._busy.append(sum(busy))
        self.changed.emit()

    def _ask_power(self) -> None:
        self._session.background.do(on_battery, self._take_power)

    def _take_power(self, is_on_battery: bool | None) -> None:
        self.is_on_battery = is_on_battery
        self.changed.emit()
