"""The clock of a motion: it plays three rounds, stands at the end, and steps by event."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from experiments.core.teaching.motion import Motion

FRAME_MS = 16
ROUNDS = 3  # then it stands at its last picture
BETWEEN_S = 1.0  # from the last picture of a round to the next round


class Playback(QObject):
    """The clock of a motion: its moment now; nothing happens while it stands."""

    moved = Signal()  # to another moment
    turned = Signal()  # it plays now, or stands

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self.motion: Motion | None = None
        self.t_s = 0.0  # the moment that is shown, in seconds of the machine
        self._began_s = self._began_at_s = 0.0  # when it was set in motion, and at which moment
        self._rounds = 0  # that were begun
        self._is_held = False
        self._frames = QTimer(self, interval=FRAME_MS)
        self._frames.setTimerType(Qt.TimerType.PreciseTimer)
        self._frames.timeout.connect(self.move_on)

    def take(self, motion: Motion | None) -> None:
        """Stand at the beginning of a motion; None for nothing that moves."""
        self.pause()
        self.motion, self.t_s = motion, 0.0

    @property
    def is_playing(self) -> bool:
        """Does it move by itself?"""
        return self._frames.isActive()

    def play(self) -> None:
        """Play from here to the end, and then from the beginning again, at most three times."""
        if self.motion is None or self._is_held or self.is_playing:
            return
        self._rounds = 1
        self._begin(0.0 if self.t_s >= self.motion.duration_s else self.t_s)
        self._frames.start()
        self.turned.emit()

    def pause(self) -> None:
        """Stand still."""
        if self.is_playing:
            self._frames.stop()
            self.turned.emit()

    def hold(self, on: bool) -> None:
        """Let nothing play while something is measured."""
        self._is_held = on
        if on:
            self.pause()

    def stand_at(self, t_s: float) -> None:
        """Stand at a moment."""
        self.pause()
        self._go_to(t_s)

    def next_moment(self, *, back: bool = False) -> float | None:
        """Return when the next event, or the previous, begins or ends; None beyond the ends."""
        moments = self.motion.moments if self.motion is not None else ()
        beyond = [each for each in moments if (each < self.t_s if back else each > self.t_s)]
        return (beyond[-1] if back else beyond[0]) if beyond else None

    def move_on(self) -> None:
        """Go to the moment of now; called for every frame."""
        if self.motion is None:
            return
        passed_s = (self._clock() - self._began_s) / self.motion.factor
        t_s = self._began_at_s + passed_s
        self._go_to(min(t_s, self.motion.duration_s))
        over_s = (t_s - self.motion.duration_s) * self.motion.factor
        if over_s >= 0 and self._rounds >= ROUNDS:
            self.pause()
        elif over_s >= BETWEEN_S:
            self._rounds += 1
            self._begin(0.0)

    def _begin(self, t_s: float) -> None:
        """Let the clock run from a moment on."""
        self._began_s, self._began_at_s = self._clock(), t_s
        self._go_to(t_s)

    def _go_to(self, t_s: float) -> None:
        if t_s != self.t_s:
            self.t_s = t_s
            self.moved.emit()
