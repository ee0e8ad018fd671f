"""Plays a recorded run: feeds its events into a RunState at their original times.

A run under way takes the same path, so the same code draws both. Seeking forward adds the events
between; seeking back begins with a fresh RunState, so do not hold on to `run_state`.
"""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.report import analysed_anew
from experiments.core.declare import Experiment
from experiments.engine import messages
from experiments.engine.recording import Recording
from experiments.engine.run_state import RunState

TICK_MS = 33
LEAD_S = 0.5  # played before the first row that is drawn


class Player(QObject):
    """One recording. It begins before the first row, paused.

    Time counts from LEAD_S before the first row that a plot shows. The `left_out_s` before it show
    nothing, because memory is being filled; their events come with the first ones that are played.
    """

    moved = Signal()  # new events, or the time has gone on
    ended = Signal()  # `run_state.finished` is set
    playing_changed = Signal(bool)

    def __init__(
        self,
        recording: Recording,
        experiment: Experiment[Any],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to play. Raises UserError if the experiment has changed its tables since."""
        super().__init__()
        recording.tables(experiment)  # so that no row can fail later
        self.recording, self.experiment = recording, experiment
        self.finished, _ = analysed_anew(recording, experiment)
        self.run_state = RunState(experiment)
        self.speed = 1.0
        self.t_s = 0.0
        self._clock = clock
        self._looked_s = 0.0
        self._next = 0  # the next event to add
        times, drawn_s = _times(recording), _drawn_from_s(recording, experiment)
        self.left_out_s = max(0.0, drawn_s - LEAD_S)
        self._times = [max(0.0, t_s - self.left_out_s) for t_s in times]
        # A step ends after a row or frame, with the progress and notes that follow it.
        visible = [
            place
            for place, event in enumerate(recording.events)
            if isinstance(event, messages.Row | messages.Frame)
        ]
        self._stops = [*visible[1:], len(recording.events)] if visible else []
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._begin()

    @property
    def total_s(self) -> float:
        """The time of the last row or frame."""
        return self._times[-1] if self._times else 0.0

    @property
    def is_playing(self) -> bool:
        """Is it playing?"""
        return self._timer.isActive()

    @property
    def is_at_end(self) -> bool:
        """Has the end of the run been reached?"""
        return self.run_state.finished is not None

    def play(self, speed: float = 1.0) -> None:
        """Play `speed` times as fast as it was measured; at the end, from the beginning."""
        if self.is_at_end:
            self.restart()
        self.speed = speed
        self._looked_s = self._clock()
        if not self.is_playing:
            self._timer.start()
            self.playing_changed.emit(True)

    def pause(self) -> None:
        """Pause."""
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def step(self, *, back: bool = False) -> None:
        """Pause, and go to the next row or frame, or back by one."""
        self.pause()
        if back:
            place = bisect.bisect_left(self._stops, self._next) - 1
            self._go(self._stops[place] if place >= 0 else 0)
        else:
            place = bisect.bisect_right(self._stops, self._next)
            self._go(self._stops[place] if place < len(self._stops) else len(self._times))

    def seek(self, t_s: float) -> None:
        """Show the run as it was after `t_s`; from `total_s` on, its end."""
        self._looked_s = self._clock()
        if t_s <= 0.0:
            self._go(0)
        elif t_s >= self.total_s:
            self._go(len(self._times))
        else:
            self._go(bisect.bisect_right(self._times, t_s), t_s)

    def restart(self) -> None:
        """Go back to the beginning, and play on if it was playing."""
        self.seek(0.0)

    def _begin(self) -> None:
        self.run_state = RunState(self.experiment)
        self.run_state.add(self.recording.started)
        self._next = 0

    def _go(self, place: int, t_s: float | None = None) -> None:
        """Add the events before `place`; going back starts from the beginning."""
        is_end = place == len(self._times)
        if is_end:
            self.pause()
            if self.is_at_end:
                return
        if self.is_at_end or place < self._next:
            self._begin()
        for event in self.recording.events[self._next : place]:
            self.run_state.add(event)
        self._next = place
        self.t_s = t_s if t_s is not None else self._times[place - 1] if place else 0.0
        if is_end:
            self.run_state.add(self.finished)
        self.moved.emit()
        if is_end:
            self.ended.emit()

    def _tick(self) -> None:
        now_s = self._clock()
        t_s = self.t_s + (now_s - self._looked_s) * self.speed
        self._looked_s = now_s
        if t_s < self.total_s:
            self._go(bisect.bisect_right(self._times, t_s), t_s)
        else:
            self._go(len(self._times))


def _drawn_from_s(recording: Recording, experiment: Experiment[Any]) -> float:
    """Return the time of the first row or frame that a plot shows, 0 without one."""
    drawn = {plot.table for plot in experiment.plots}
    for event in recording.events:
        if isinstance(event, messages.Row | messages.Frame) and event.table in drawn:
            return event.t_s
    return 0.0


def _times(recording: Recording) -> list[float]:
    """Return the time of each event; progress and notes take that of the row before."""
    times, latest_s = [], 0.0
    for event in recording.events:
        if isinstance(event, messages.Row | messages.Frame):
            latest_s = max(latest_s, event.t_s)
        times.append(latest_s)
    return times
