"""Measures single points while a slider moves: one under way, and the newest one asked for next."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.window.core.event_pump import EventPump
from app.window.core.session import Session
from experiments.core.declare import Experiment
from experiments.core.parameters import to_json
from experiments.core.problems import Problem
from experiments.engine import messages
from experiments.engine.live import Points
from experiments.engine.recording import as_record


class LivePoints(QObject):
    """The points of one experiment at a time. Nothing of them is kept.

    While a run is under way there are none: its begin ends them. A process that was ended, also by
    a failure, is started anew by the next `ask`.
    """

    ready = Signal()  # the next point is answered at once; before, a second may go by
    rows = Signal(str, object)  # the name of a table, and the rows of one point in it, as records
    failed = Signal(object)  # Problem: why there is no answer

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._experiment: Experiment[Any] | None = None
        self._points: Points | None = None
        self._pump = EventPump(self._take, lambda _problem: None, parent=self)
        self._new: dict[str, list[Any]] = defaultdict(list)  # of the point under way
        session.closing.connect(self._end)
        if session.is_awake:
            self._follow_runs()
        else:
            session.woke.connect(self._follow_runs)

    def start(self, experiment: Experiment[Any]) -> None:
        """Get ready for the points of an experiment; it must have `live`."""
        self.close()
        self._experiment = experiment
        self._begin()

    def ask(self, params: object) -> None:
        """Measure this point next, an instance of the experiment's `live.params`.

        It takes the place of an older one that has not begun. `rows` or `failed` answers.
        """
        if self._points is None:
            self._begin()
        if self._points is not None:
            self._points.ask(to_json(params))

    def close(self) -> None:
        """End the process; returns at once, and nothing more is told of it."""
        if self._points is not None:
            self._points.stop()
            self._points = None
            self._pump.forget()
        self._new.clear()

    def _begin(self) -> None:
        assert self._experiment is not None
        if self._session.context.has_fake_machine:  # it would be another machine's point
            self.failed.emit(Problem("fake_machine_measured"))
            return
        if self._session.runner.is_running:
            self.failed.emit(Problem("points_during_run"))
            return
        try:
            points = self._points = Points(self._experiment)
        except OSError as error:
            self.failed.emit(Problem("points_not_started", {"reason": error.strerror or "?"}))
            return
        self._pump.start(lambda _wish: points.events())

    def _follow_runs(self) -> None:
        self._session.runner.began.connect(self.close)
        self._session.checking.began.connect(self.close)

    def _end(self) -> None:
        self.close()
        self._pump.close()

    def _take(self, event: messages.Event) -> None:
        if isinstance(event, messages.Row):
            assert self._experiment is not None
            record = self._experiment.tables[event.table]
            self._new[event.table].append(as_record(event, record))
        elif isinstance(event, messages.PointDone):
            self._answer(event.problem)
        elif isinstance(event, messages.Ready):
            self.ready.emit()
        elif isinstance(event, messages.Finished):
            self.close()
            self._answer(event.problem)

    def _answer(self, problem: messages.ProblemSent | None) -> None:
        found = dict(self._new)
        self._new.clear()
        if problem is not None:
            self.failed.emit(Problem(problem.key, problem.values, problem.detail))
            return
        for table, rows in found.items():
            self.rows.emit(table, rows)
