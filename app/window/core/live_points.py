"""Measures single points while a slider moves: one under way, and the newest one asked for next."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

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
    _heard = Signal(object, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._experiment: Experiment[Any] | None = None
        self._points: Points | None = None
        self._threads: list[threading.Thread] = []  # of points that have not ended yet
        self._new: dict[str, list[Any]] = defaultdict(list)  # of the point under way
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)
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
            self._points = Points(self._experiment)
        except OSError as error:
            self.failed.emit(Problem("points_not_started", {"reason": error.strerror or "?"}))
            return
        thread = threading.Thread(target=self._follow, args=(self._points,), name="points")
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _follow(self, points: Points) -> None:
        for event in points.events():
            self._heard.emit(points, event)

    def _follow_runs(self) -> None:
        self._session.runner.began.connect(self.close)
        self._session.checking.began.connect(self.close)

    def _end(self) -> None:
        self.close()
        for thread in self._threads:
            thread.join()

    @Slot(object, object)
    def _take(self, points: Points, event: messages.Event) -> None:
        if points is not self._points:
            return
        if isinstance(event, messages.Row):
            record = points.experiment.tables[event.table]
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
