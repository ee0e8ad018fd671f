"""Runs an experiment in the engine's process, and follows one run for its starter.

Rows are never dropped; drawing may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.runs.library import Library
from app.runs.run_writer import RunWriter
from app.window.core.event_pump import EventPump, Wish
from experiments.core.declare import Experiment
from experiments.core.parameters import check_memory, to_json
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from experiments.engine.run_state import RunState
from experiments.engine.side_by_side import SideBySide, to_tell
from experiments.engine.sweep import sweep
from machine.memory.host import available_bytes

if TYPE_CHECKING:
    from app.window.core.session import Session

SECOND_MS = 1000


class _OfOriginal(NamedTuple):
    """An event of the run of the original, beside which a copy runs."""

    event: messages.Event


class Runner(QObject):
    """One run at a time. `run_state` is the run under way, or the last one.

    A copy may run beside its original: then `beside` is the original's run, and `kept_beside` its
    file, once both have ended.
    """

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
        self._run: Run | None = None
        self._held, self._first = False, ""  # does it wait for `go`, and the arm to begin with
        self._finished: messages.Finished | None = None  # what it said, or what was wrong with it
        self._closed = False
        self._writer: RunWriter | None = None
        self._pump = EventPump(
            self._take, self._end, submit=self._thread.submit, failure="not_started", parent=self
        )
        self._pump.turned.connect(self.moved)
        self._seconds = QTimer(self, interval=SECOND_MS)  # a long step sends nothing meanwhile
        self._seconds.timeout.connect(self.moved)
        self.run_state: RunState | None = None
        self.beside: RunState | None = None
        self.kept_beside: Path | None = None
        self.is_running = False
        self._thread.submit(self._sweep)

    @property
    def is_stopping(self) -> bool:
        """Has the run under way been asked to end?"""
        return self.is_running and self._pump.is_stopping

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
        original: Experiment[Any] | None = None,
    ) -> RunState:
        """Start a run; with `hold` its first turn waits for `go`.

        With an `original` that runs beside it. Raises UserError if it could not be kept.
        """
        assert not self.is_running
        self._library.check_writable()
        self._finished = None
        writer = self._writer = RunWriter(self._library, is_wanted=not hold)
        self.run_state = RunState(experiment)
        self.beside = RunState(original) if original is not None else None
        self.kept_beside = None
        self.is_running, self._held, self._first = True, hold, ""
        if original is not None:
            both = (original, experiment)
            self._pump.start(lambda wish: self._side_by_side(wish, both, params, quick, writer))
        else:
            self._pump.start(
                lambda wish: self._measured(wish, experiment, dict(params), quick, hold, writer)
            )
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
        if self.is_running and not self._pump.is_stopping:
            self._pump.stop()
            self.stopping.emit()

    def close(self) -> None:
        """End the run and every process; returns when they are gone."""
        if self._closed:
            return
        self._closed = True
        self._pump.stop()
        self._thread.submit(self._engine.close)
        self._thread.shutdown(wait=True)
        self._pump.close()
        self._seconds.stop()

    def _sweep(self) -> None:
        count = sweep()
        if count:
            self.swept.emit(count)

    def _measured(
        self,
        wish: Wish,
        experiment: Experiment[Any],
        params: dict[str, Any],
        quick: bool,
        hold: bool,
        writer: RunWriter,
    ) -> Iterator[messages.Event]:
        """Yield the events of a run; its file is closed before its end is announced."""
        try:
            run = self._run = self._engine.start(
                experiment, params, quick=quick, keep=writer.keep, hold=hold
            )
            if hold and not self._held:  # between its key and now
                run.go(self._first)
            wish.calls(run.stop)
            yield from run.events()
        finally:
            self._run = None
            writer.close()

    def _side_by_side(
        self,
        wish: Wish,
        both: tuple[Experiment[Any], Experiment[Any]],
        params: Mapping[str, Any],
        quick: bool,
        writer: RunWriter,
    ) -> Iterator[messages.Event | _OfOriginal]:
        """Yield the events of an original and its copy; their files are closed at the end."""
        of_original = RunWriter(self._library)
        running = SideBySide(
            self._engine, both, params, quick=quick, keep=(of_original.keep, writer.keep)
        )
        ended: dict[int, messages.Finished] = {}
        try:
            wish.calls(running.stop)
            for place, event in running.events():
                if isinstance(event, messages.Finished):
                    ended[place] = event
                else:
                    yield event if place else _OfOriginal(event)
        finally:
            wrong = to_tell(ended)
            of_original.is_wanted = wrong is None  # alone it compares nothing
            for each in (of_original, writer):
                each.close()
            recorder = of_original.recorder
            self.kept_beside = recorder.path if recorder is not None else None
        if 0 in ended:
            yield _OfOriginal(ended[0])
        yield wrong[1] if wrong is not None else ended[1]

    def _take(self, event: messages.Event | _OfOriginal) -> None:
        """Take one event; a row that does not fit the experiment fails the run."""
        if isinstance(event, _OfOriginal):
            if self.beside is not None:
                self.beside.add(event.event)
        elif isinstance(event, messages.Finished):
            self._finished = self._finished or event
        elif self._finished is None and self.run_state is not None:
            try:
                self.run_state.add(event)
            except msgspec.ValidationError as error:
                self._finished = _failed("wire_broken", {"reason": str(error)})
                self.stop()

    def _end(self, problem: Problem | None) -> None:
        if problem is not None:  # it may never have begun
            self._finished = _failed(problem.key, problem.values)
        assert self._finished is not None  # a run always ends in one
        assert self.run_state is not None
        self.run_state.add(self._finished)
        self._seconds.stop()
        self.is_running = False
        self.ended.emit()


def _failed(key: str, values: Mapping[str, Any]) -> messages.Finished:
    problem = messages.ProblemSent(key=key, values=dict(values))
    return messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)


class RunFollower(QObject):
    """Announces what happens to `run_state`, and nothing of other runs."""

    moved = Signal()  # new events, or the time has gone on
    ended = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.run_state: RunState | None = None
        session.when_awake(self._wake)

    @property
    def is_newest(self) -> bool:
        """Is it the run under way, or the last one?"""
        return self.run_state is not None and self.run_state is self._session.runner.run_state

    @property
    def is_under_way(self) -> bool:
        """Has it begun, and not ended?"""
        return self.is_newest and self._session.runner.is_running

    def start(
        self,
        experiment: Experiment[Any],
        params: Any,
        *,
        quick: bool = False,
        hold: bool = False,
        original: Experiment[Any] | None = None,
    ) -> RunState:
        """Start a run; with `hold` its first turn waits for the runner's `go`.

        With an `original` that runs beside it. Raises UserError where it cannot be made or kept.
        """
        if self._session.context.has_fake_machine:
            raise UserError("fake_machine_measured")
        check_memory(experiment, params, available_bytes())
        runner = self._session.runner
        self.run_state = runner.start(
            experiment, to_json(params), quick=quick, hold=hold, original=original
        )
        return self.run_state

    def drop(self) -> None:
        """Follow it no more, and end it."""
        if self.is_under_way:
            self._session.runner.stop()
        self.run_state = None

    def _wake(self) -> None:
        self._session.runner.moved.connect(self._move)
        self._session.runner.ended.connect(self._end)

    def _move(self) -> None:
        if self.is_newest:
            self.moved.emit()

    def _end(self) -> None:
        if self.is_newest:
            self.ended.emit()
