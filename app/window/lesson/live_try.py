"""The sliders of the last step: a point is measured while one drags, over the marks of the run."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.report import problem_text
from app.window.core.live_points import LivePoints
from app.window.experiment.page_model import PageModel
from experiments.core.declare import Experiment
from experiments.core.problems import Problem, UserError
from widgets.controls.basics import label
from widgets.experiment.views_panel import ViewsPanel
from widgets.form.form import ParamsForm
from widgets.style.theme import STEP

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
        self._inside = QVBoxLayout(self.widget)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(2 * STEP)
        words = model.words
        self._inside.addWidget(label(words.say("lesson.drag_slider"), "value", wrap=True))
        self._inside.addWidget(self._trouble)
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
