"""Runs an experiment in the engine's process, and follows it in a thread.

The thread only puts events into a queue. A timer of the window's thread takes them 30 times a
second, for a few milliseconds at most. Rows are never dropped; drawing may be.
"""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.runs.library import Library
from app.runs.run_writer import RunWriter
from experiments.core.declare import Experiment
from experiments.core.own_errors import unexpected
from experiments.core.problems import Problem
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from experiments.engine.run_state import RunState
from experiments.engine.sweep import sweep

log = logging.getLogger(__name__)

TICK_MS = 33
SECOND_MS = 1000
BUDGET_S = 0.004  # of one tick


class Runner(QObject):
    """One run at a time. `run_state` is the run under way, or the last one."""

    began = Signal()
    moved = Signal()  # new events, or the time has gone on
    stopping = Signal()  # the run has been asked to end
    ended = Signal()  # `run_state.finished` is set, and the file is closed
    swept = Signal(int)  # processes left behind by a killed program

    def __init__(self, library: Library, engine: Engine) -> None:
        super().__init__()
        self._library, self._engine = library, engine
        # All blocking work is done in this thread: to start, warm and close processes.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runner")
        self._events: collections.deque[messages.Event] = collections.deque()
        self._run: Run | None = None
        self._stopping = threading.Event()
        self._held, self._first = False, ""  # does it wait for `go`, and the arm to begin with
        self._broken: messages.Finished | None = None  # the end of a run that sent invalid rows
        self._closed = False
        self._writer: RunWriter | None = None
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._take)
        self._seconds = QTimer(self, interval=SECOND_MS)  # a long step sends nothing meanwhile
        self._seconds.timeout.connect(self.moved)
        self.run_state: RunState | None = None
        self.is_running = False
        self._thread.submit(self._sweep)

    @property
    def is_stopping(self) -> bool:
        """Has the run under way been asked to end?"""
        return self.is_running and self._stopping.is_set()

    @property
    def is_held(self) -> bool:
        """Does the run under way wait for `go`, or will it?"""
        return self.is_running and self._held

    @property
    def is_at_rest(self) -> bool:
        """Is the run under way ready for its first turn, which waits for `go`?"""
        notes = self.run_state.notes if self.run_state is not None else []
        return self.is_held and bool(notes) and notes[-1].key == messages.HELD

    @property
    def kept_as(self) -> str | None:
        """The name of the file of the run under way or the last one, None while there is none."""
        recorder = self._writer.recorder if self._writer is not None else None
        return recorder.path.name if recorder is not None else None

    @property
    def not_kept(self) -> Problem | None:
        """Why the last run could not be kept whole."""
        trouble = self._writer.problem if self._writer is not None else None
        return trouble.problem if trouble is not None else None

    def warm(self, experiment: Experiment[Any]) -> None:
        """Prepare a process for this experiment, unless a run is under way."""
        if not self.is_running and not self._closed:
            self._thread.submit(self._engine.warm, experiment)

    def is_warm(self, experiment: Experiment[Any]) -> bool:
        """Is a process ready for this experiment?"""
        return not self.is_running and self._engine.is_warm(experiment)

    def start(
        self,
        experiment: Experiment[Any],
        params: Mapping[str, Any],
        *,
        quick: bool = False,
        hold: bool = False,
    ) -> RunState:
        """Start a run; with `hold` its first turn waits for `go`.

        Raises UserError if it could not be kept.
        """
        assert not self.is_running
        self._library.check_writable()
        self._stopping.clear()
        self._broken = None
        self._events.clear()
        self._writer = RunWriter(self._library, is_wanted=not hold)
        self.run_state = RunState(experiment)
        self.is_running, self._held, self._first = True, hold, ""
        self._thread.submit(self._measure, experiment, dict(params), quick, hold, self._writer)
        self._timer.start()
        self._seconds.start()
        self.began.emit()
        return self.run_state

    def go(self, first: str = "") -> None:
        """Let a held run go on, also before it is ready; `first` is the arm to begin with."""
        self._first = first
        self._held = False
        if self._writer is not None:
            self._writer.is_wanted = True
        run = self._run  # the thread sets it to None at the end
        if run is not None:
            run.go(first)

    def stop(self) -> None:
        """Ask the run to end; `ended` comes within a quarter of a second."""
        if self.is_running and not self._stopping.is_set():
            self._ask_to_end()
            self.stopping.emit()

    def close(self) -> None:
        """End the run and every process; returns when they are gone."""
        if self._closed:
            return
        self._closed = True
        self._ask_to_end()
        self._thread.submit(self._engine.close)
        self._thread.shutdown(wait=True)
        self._timer.stop()
        self._seconds.stop()

    def _ask_to_end(self) -> None:
        self._stopping.set()
        run = self._run  # the thread sets it to None at the end
        if run is not None:
            run.stop()

    def _sweep(self) -> None:
        count = sweep()
        if count:
            self.swept.emit(count)

    def _measure(
        self,
        experiment: Experiment[Any],
        params: dict[str, Any],
        quick: bool,
        hold: bool,
        writer: RunWriter,
    ) -> None:
        try:
            self._run = self._engine.start(
                experiment, params, quick=quick, keep=writer.keep, hold=hold
            )
            if hold and not self._held:  # between its key and now
                self._run.go(self._first)
            if self._stopping.is_set():  # between the click and now
                self._run.stop()
            finished = None
            for event in self._run.events():
                if isinstance(event, messages.Finished):
                    finished = event
                else:
                    self._events.append(event)
            assert finished is not None  # a run always ends in one
        except Exception as error:  # the run ends in a sentence, even if it never began
            log.exception("a run could not be followed")
            told = unexpected(error, "not_started")
            problem = messages.ProblemSent(key=told.key, values=dict(told.values))
            finished = messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)
        finally:
            self._run = None
        writer.close()
        self._events.append(finished)

    def _take(self) -> None:
        """Take new events for BUDGET_S; the rest waits for the next turn."""
        run_state = self.run_state
        if run_state is None or not self._events:
            return
        until_s = time.perf_counter() + BUDGET_S
        while self._events and time.perf_counter() < until_s:
            self._add(run_state, self._events.popleft())
        self.moved.emit()
        if run_state.finished is not None:
            self._timer.stop()
            self._seconds.stop()
            self.is_running = False
            self.ended.emit()

    def _add(self, run_state: RunState, event: messages.Event) -> None:
        """Take one event; a row that does not fit the experiment fails the run."""
        if self._broken is None:
            try:
                run_state.add(event)
            except msgspec.ValidationError as error:
                problem = messages.ProblemSent(key="wire_broken", values={"reason": str(error)})
                self._broken = messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)
                self.stop()
        elif isinstance(event, messages.Finished):
            run_state.add(self._broken)
