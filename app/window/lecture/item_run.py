"""The run of the item that is shown: begins it, follows it, and says in one line what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.report import problem_text, time_left
from app.window.core.runner import RunFollower
from app.window.core.session import Session
from app.window.experiment.status_text import State, during
from app.window.lecture.items import Prepared, params_of
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import MEMORY_S_PER_BYTE
from experiments.engine.run_state import RunState

LATE_S = 5.0  # of silence, beyond what is usual
HELD_S = 600.0  # then others may measure on this machine, and the run begins at its key
START_S, IMPORTS_S = 3.0, 20.0  # until a run begins; with libraries of gigabytes


class ItemRun(QObject):
    """At most one run, kept like any other. `reason` says why it cannot be shown, "" if it can."""

    moved = Signal()  # rows, or the time has gone on
    ended = Signal()  # the run is whole
    failed = Signal()  # there is a `reason`

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._session, self._clock = session, clock
        self._wanted: Prepared | None = None  # begins once another run has ended
        self._held: Prepared | None = None  # is made ready, or shall be, and waits for its key
        self._held_s = 0.0  # since when
        self._setup_s = self._usual_s = 0.0  # silence before the first row, and between rows
        self._heard_s = 0.0
        self._heard: object = None
        self._drawn = 0
        self.reason = ""
        self._run = RunFollower(session, self)
        self._run.moved.connect(self._move)
        self._run.ended.connect(self._end)
        session.runner.ended.connect(self._begin_next)

    @property
    def run_state(self) -> RunState | None:
        """The run; None while it is only made ready."""
        return self._run.run_state if self._held is None else None

    @property
    def is_under_way(self) -> bool:
        """Is it measured now, or about to be?"""
        run_state = self.run_state
        is_measured = run_state is not None and run_state.finished is None
        return is_measured or self._wanted is not None

    @property
    def is_at_rest(self) -> bool:
        """Is a run ready for its first turn, which waits for its start?"""
        return self._is_made_ready and self._session.runner.is_at_rest

    @property
    def _is_made_ready(self) -> bool:
        return self._held is not None and self._run.is_under_way

    def make_ready(self, prepared: Prepared) -> None:
        """Begin the run of an item up to its first turn; its errors are not shown."""
        if self._held is not prepared:
            self.drop()
            self._held = prepared
            self._begin_held()

    def start(self, prepared: Prepared, pause_s: float = 0.0, first: str = "") -> None:
        """Begin the run of an item, or let a prepared run go, with the arm `first`.

        `pause_s` is its usual silence.
        """
        runner = self._session.runner
        if self._held is prepared and self._is_made_ready and not runner.is_stopping:
            self._held, self.reason, self._usual_s = None, "", pause_s
            runner.go(first)
            self._listen()
            return
        self.drop()
        self._wanted, self._usual_s = prepared, pause_s
        self._begin()

    def drop(self) -> None:
        """Forget the run; what it says from now on changes nothing, and it is stopped."""
        self._forget("")

    def fail(self, reason: str) -> None:
        """End the run for a reason."""
        self._forget(reason)
        self.failed.emit()

    def told(self) -> str:
        """Return what it does, in a few words."""
        words, run_state = self._session.words, self.run_state
        if not self.is_under_way or self.reason:
            return ""
        if run_state is None or run_state.started is None:
            return words.say("page.beginning")
        left = time_left(words, run_state)
        if not left:
            return words.say("lecture.measuring")
        return words.say("lecture.measuring_left", {"left": left})

    def look_again(self) -> None:
        """Notice silence, and a run held for long; meant for once a second."""
        if self._is_made_ready and self._clock() - self._held_s > HELD_S:
            self.drop()
        run_state = self.run_state
        if run_state is None or run_state.finished is not None:
            return
        silent_s = self._clock() - self._heard_s
        if silent_s > self._limit_s(run_state) and not self._is_waiting(run_state):
            values = {"duration": silent_s, "recording": self._session.settings.key_of("R")}
            self._tell(self._session.words.say("lecture.silent", values))

    def _begin_held(self) -> None:
        """Start the run that is made ready, unless something else is measured."""
        prepared = self._held
        if prepared is None or self._session.is_measuring:  # a checkup would wait for its key
            return
        try:
            self._start(prepared, hold=True)
            self._held_s = self._clock()
        except UserError:  # it is said where the run is asked for
            self._held = None

    def _begin(self) -> None:
        prepared, runner = self._wanted, self._session.runner
        if prepared is None:
            return
        if runner.is_running:
            if not runner.is_stopping and runner.run_state is not None:
                key = f"{runner.run_state.experiment.id}.question"
                values = {"question": self._session.words.say(key)}
                self._tell(self._session.words.say("page.other_runs", values))
            return
        self._wanted, self.reason = None, ""
        try:
            self._start(prepared)
        except UserError as trouble:
            self._tell(self._session.say(trouble.problem))
            return
        self._listen()

    def _start(self, prepared: Prepared, *, hold: bool = False) -> None:
        """Start the run of an item. Raises UserError where it cannot be made."""
        experiment, params = prepared.experiment, params_of(self._session, prepared)
        assert experiment is not None  # else there are no parameters
        self._setup_s = experiment.memory_bytes(params) * MEMORY_S_PER_BYTE
        is_short = prepared.question is not None
        self._run.start(experiment, params, quick=is_short, hold=hold)

    def _listen(self) -> None:
        self._heard, self._heard_s, self._drawn = None, self._clock(), 0
        self.moved.emit()

    def _forget(self, reason: str) -> None:
        self._run.drop()
        self._wanted = self._held = None
        self.reason = reason

    def _tell(self, reason: str) -> None:
        if reason != self.reason:
            self.reason = reason
            self.failed.emit()

    def _move(self) -> None:
        run_state = self.run_state
        if run_state is None:
            return
        drawn, notes = sum(run_state.drawn_from.values()), len(run_state.notes)
        heard = (run_state.started is None, drawn, run_state.progress.fraction, notes)
        now_s = self._clock()
        if heard != self._heard:
            if self._drawn:
                self._usual_s = max(self._usual_s, now_s - self._heard_s)
            self._heard, self._heard_s, self._drawn = heard, now_s, drawn
            if run_state.finished is None:
                self.reason = self._waits_for(run_state)
        self.moved.emit()

    def _end(self) -> None:
        run_state = self.run_state
        if run_state is None:  # it was made ready, and ended by itself
            self.drop()
            return
        finished = run_state.finished
        assert finished is not None
        if finished.outcome is messages.Outcome.COMPLETED:
            self.reason = ""
            self.ended.emit()
        else:
            self._tell(self._why(run_state, finished))

    def _begin_next(self) -> None:
        if self._wanted is not None:  # later: others hear of this end first
            QTimer.singleShot(0, self, self._begin)
        elif self._held is not None:
            QTimer.singleShot(0, self, self._begin_held)

    def _why(self, run_state: RunState, finished: messages.Finished) -> str:
        words = self._session.words
        if finished.problem is not None:
            return problem_text(words, finished.problem, run_state.experiment.id)
        return words.say(f"outcomes.{finished.outcome}", {"rows": run_state.rows})

    def _waits_for(self, run_state: RunState) -> str:
        """Return who measures on this machine meanwhile, "" if there is no such program."""
        if not self._is_waiting(run_state):
            return ""
        return during(self._session.words, State.WAITING, run_state, "").detail

    def _is_waiting(self, run_state: RunState) -> bool:
        notes = run_state.notes
        return run_state.started is None and bool(notes) and notes[-1].key in messages.WAITING

    def _limit_s(self, run_state: RunState) -> float:
        if run_state.started is None:
            return LATE_S + (IMPORTS_S if run_state.experiment.imports else START_S)
        return LATE_S + (self._usual_s if self._drawn else START_S + self._setup_s)
