"""How is a recorded run played? Its events go into a RunState at the times they once came at.

A run under way takes the same path, so what draws one draws the other. Seeking forward hands over
what lies between; seeking back begins anew with a fresh RunState, so always ask for `run_state`.
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
LEAD_S = 0.5  # that is played of what came before anything was drawn


class Player(QObject):
    """One recording. It begins before the first row, paused.

    Time counts from LEAD_S before the first row that a plot shows: nothing is seen while memory is
    filled, so `left_out_s` of a run are not played. What came in them comes with what is next.
    """

    moved = Signal()  # there is something new in `run_state`, or the time has gone on
    ended = Signal()  # `run_state.finished` is there
    playing_changed = Signal(bool)

    def __init__(
        self,
        recording: Recording,
        experiment: Experiment[Any],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to play. Raises UserError where the experiment has changed its tables since."""
        super().__init__()
        recording.tables(experiment)  # so that no row can fail later
        self.recording, self.experiment = recording, experiment
        self.finished, _ = analysed_anew(recording, experiment)
        self.run_state = RunState(experiment)
        self.speed = 1.0
        self.t_s = 0.0
        self._clock = clock
        self._looked_s = 0.0
        self._next = 0  # the first event that has not been handed over
        times, drawn_s = _times(recording), _drawn_from_s(recording, experiment)
        self.left_out_s = max(0.0, drawn_s - LEAD_S)
        self._times = [max(0.0, t_s - self.left_out_s) for t_s in times]
        # A step ends behind a row or frame and the progress and notes that follow it.
        visible = [
            place
            for place, event in enumerate(recording.events)
            if isinstance(event, messages.Row | messages.Frame)
        ]
        self._stops = [*visible[1:], len(recording.events)] if visible else []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._begin()

    @property
    def total_s(self) -> float:
        """The time of the last row or frame."""
        return self._times[-1] if self._times else 0.0

    @property
    def is_playing(self) -> bool:
        """Does the time go on by itself?"""
        return self._timer.isActive()

    @property
    def is_at_end(self) -> bool:
        """Has the end of the run been handed over?"""
        return self.run_state.finished is not None

    def play(self, speed: float = 1.0) -> None:
        """Let the time go on, `speed` times as fast as it did; from the beginning if at the end."""
        if self.is_at_end:
            self.restart()
        self.speed = speed
        self._looked_s = self._clock()
        if not self.is_playing:
            self._timer.start()
            self.playing_changed.emit(True)

    def pause(self) -> None:
        """Let the time stand still."""
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def step(self, *, back: bool = False) -> None:
        """Go on to the next row or frame, or back by one, and stand still."""
        self.pause()
        if back:
            place = bisect.bisect_left(self._stops, self._next) - 1
            self._go(self._stops[place] if place >= 0 else 0)
        else:
            place = bisect.bisect_right(self._stops, self._next)
            self._go(self._stops[place] if place < len(self._stops) else len(self._times))

    def seek(self, t_s: float) -> None:
        """Show the run as it was after `t_s`; the end of the time is the end of the run."""
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
        """Hand over the events before `place`, from the beginning if some are too many."""
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
    """Return when the first row or frame came that a plot shows, 0 if none did."""
    drawn = {plot.table for plot in experiment.plots}
    for event in recording.events:
        if isinstance(event, messages.Row | messages.Frame) and event.table in drawn:
            return event.t_s
    return 0.0


def _times(recording: Recording) -> list[float]:
    """Return when each event came; progress and notes have no time but that of what is before."""
    times, latest_s = [], 0.0
    for event in recording.events:
        if isinstance(event, messages.Row | messages.Frame):
            latest_s = max(latest_s, event.t_s)
        times.append(latest_s)
    return times
