"""The sliders of the last step: a point is measured while one drags, over the marks of the run.

One point is under way, and the newest one asked for is next.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.report import problem_text
from app.window.core.event_pump import EventPump
from app.window.core.session import Session
from app.window.experiment.page_model import PageModel
from experiments.core.declare import Experiment
from experiments.core.parameters import to_json
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.live import Points
from experiments.engine.recording import as_record
from widgets.controls.basics import column, label
from widgets.experiment.views_panel import ViewsPanel
from widgets.form.form import ParamsForm

FORM_PX = 150  # at zoom 1: two settings with their help


class LiveTry(QObject):
    """Shown where an experiment says that a point takes no time worth a wait."""

    def __init__(self, model: PageModel, views: ViewsPanel) -> None:
        super().__init__()
        self._model, self._views = model, views
        self._points = LivePoints(model.session)
        self._points.rows.connect(self._draw)
        self._points.failed.connect(self._tell)
        self._rows: dict[str, list[Any]] = defaultdict(list)  # measured since the step was shown
        self._shown: Experiment[Any] | None = None
        self._form: ParamsForm | None = None
        self._trouble = label("", "attention", wrap=True)
        self.widget = QWidget()
        head = label(model.words.say("lesson.drag_slider"), "value", wrap=True)
        self._inside = column(head, self._trouble)
        self.widget.setLayout(self._inside)
        self.widget.hide()

    def show(self, experiment: Experiment[Any] | None) -> None:
        """Offer the points of an experiment; None, or one without such points, ends them."""
        if experiment is not None and (experiment.live is None or self._model.session.is_measuring):
            experiment = None
        if experiment is self._shown:
            return
        self._take_away()
        self._shown = experiment
        self.widget.setVisible(experiment is not None)
        if experiment is None or experiment.live is None:
            return
        words, look = self._model.words, self._model.session.look
        form = self._form = ParamsForm(
            replace(experiment, params=experiment.live.params), words, look
        )
        form.show_params(experiment.live.params(), {})
        form.setFixedHeight(round(FORM_PX * look.theme.zoom))
        form.changed.connect(self._ask)
        self._inside.insertWidget(1, form)
        self._tell(None)
        self._points.start(experiment)

    def _take_away(self) -> None:
        self._points.close()
        if self._form is not None:
            self._inside.removeWidget(self._form)
            self._form.deleteLater()
            self._form = None
        if self._rows:
            self._rows.clear()
            for plot in self._views.plots:
                plot.ghost(None)
            self._views.forget()
            self._model.moved.emit()  # the run's own marks are drawn again

    def _ask(self) -> None:
        if self._form is not None:
            with contextlib.suppress(UserError):  # the form says it beside the invalid setting
                self._points.ask(self._form.params())
                self._tell(None)

    def _draw(self, table: str, rows: list[Any]) -> None:
        """Draw a point over the grey marks of the run."""
        experiment, run_state = self._shown, self._model.run_state
        if experiment is None:
            return
        self._rows[table] += rows
        before = run_state.tables.get(table, ()) if run_state is not None else ()
        for view, plot in zip(experiment.plots, self._views.plots, strict=True):
            if view.table == table:
                plot.ghost(before, self._model.words.say("lesson.before"))
                plot.draw(self._rows[table], self._model.values)

    def _tell(self, problem: Problem | None) -> None:
        experiment = self._shown
        told = ""
        if problem is not None and experiment is not None:
            told = problem_text(self._model.words, problem, experiment.id)
        self._trouble.setText(told)
        self._trouble.setVisible(bool(told))


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
        session.when_awake(self._follow_runs)

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
        """End the process; returns at once, and nothing more of it is shown."""
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
