"""Switches between plots, code, data and the empty state, and draws the plots that are seen."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.loaded_run import band, clear_values
from app.runs.library import machine_name
from app.window.core.throttle import DRAW_MS, Throttle
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.output import Output
from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import State
from app.window.lesson.lesson_panel import LessonPart
from experiments.core.judging.disturbed import counting
from experiments.core.views import Code
from experiments.engine.run_state import RunState
from widgets.experiment.main_panel import MainPanel
from widgets.experiment.views_panel import ViewsPanel

TURN_S = 0.008  # half a frame of the screen; plots that are left wait for the next turn


class ViewSwitch:
    """Shows the side that the checked action asks for, if there is one; draws while seen."""

    def __init__(
        self, model: PageModel, actions: ExperimentActions, panel: MainPanel, lesson: LessonPart
    ) -> None:
        self._model, self._actions, self._panel, self._lesson = model, actions, panel, lesson
        self._drawing, self.output = Drawing(model, panel.views), Output(model, panel)
        self._is_seen = False

    def begin(self) -> None:
        """Begin with the lesson or the plots of another experiment."""
        self.output.forget()
        self._lesson.side().setChecked(True)

    def refresh(self) -> None:
        """Draw new rows; meant for once a second."""
        self._drawing.soon()
        self.output.refresh()

    def set_seen(self, seen: bool) -> None:
        """Draw from now on, or not at all."""
        self._is_seen = seen
        do = self._actions
        self._drawing.set_seen(seen and (do.plot.isChecked() or do.lesson.isChecked()))

    def show(self) -> None:
        """Show plots, code or data, whichever is chosen and there."""
        do, run_state = self._actions, self._model.run_state
        if do.data.isChecked() and run_state is None:
            self._lesson.side().setChecked(True)
        self.set_seen(self._is_seen)
        self._lesson.refresh()
        if do.code.isChecked():
            self.output.show_code()
            self._panel.show_code()
        elif do.lesson.isChecked() and self._lesson.show_in(self._panel):
            return
        elif run_state is None or self._lesson.asks_plainly:
            self._show_empty()
        elif do.data.isChecked():
            self._panel.show_data(self.output.data_side(run_state))
        else:
            self._panel.show_views()

    def turn(self) -> None:
        """Swap plots and rows, and move the keyboard there."""
        do = self._actions
        (self._lesson.side() if do.data.isChecked() else do.data).trigger()
        self._panel.take_keyboard()

    def _show_empty(self) -> None:
        """Say what the experiment is about, and how it measures."""
        say, experiment = self._model.words.say, self._model.experiment
        if experiment is None or self._model.state is State.READING:
            self._panel.show_empty("")
            return
        waits = self._model.state in (State.READY, State.ELSEWHERE)
        hint = say("page.empty") if waits else ""
        if self._model.has_nothing_to_show:
            hint = say("page.no_recording")
        if any(isinstance(view, Code) for view in experiment.views):  # it can be read before a run
            self._panel.views.show_unmeasured(experiment)
            self._panel.show_views()
            return
        self._panel.show_empty(say(f"{experiment.id}.topic"), say(f"{experiment.id}.method"), hint)


class Drawing(QObject):
    """Draws the shown run, and beside it the run that it is compared with."""

    def __init__(self, model: PageModel, views: ViewsPanel) -> None:
        super().__init__(views)
        self._model, self._views = model, views
        self._is_seen = False
        self._drawn: object = None  # what the plots were marked for
        self._throttle = Throttle()
        self._timer = QTimer(self, interval=DRAW_MS)
        self._timer.timeout.connect(self._draw)
        model.changed.connect(self.soon)
        model.moved.connect(self.soon)
        model.comparing.changed.connect(self.soon)

    def set_seen(self, seen: bool) -> None:
        """Draw from now on, or not at all."""
        self._is_seen = seen
        if seen:
            self.soon()
        else:
            self._timer.stop()

    def soon(self) -> None:
        """Draw the outdated plots from the next turn on."""
        if self._is_seen and self._model.run_state is not None:
            self._timer.start()

    def _draw(self) -> None:
        run_state, pair = self._model.run_state, self._model.comparing.pair
        if run_state is None:
            self._timer.stop()
            return
        if self._model.under_way is not None:
            if self._throttle.would_disturb():
                return
            self._throttle.note()
        self._views.show_experiment(run_state.experiment)
        of_run = (run_state.started is None, run_state.finished is None)
        wanted = (self._model.loaded, pair, self._model.player, *of_run)
        if self._drawn != wanted:
            self._drawn = wanted
            self._views.forget()
            self._views.mark(*self._marks())
        runs = [run_state] if pair is None else [loaded.run_state for loaded in pair]
        self._views.leave_out(_unmeasured(runs))
        tables, values, beside = run_state.tables, self._model.values, None
        if pair is not None:  # rings are the dots of B here, so what was disturbed has no mark
            run_state, other = pair[0].run_state, pair[1].run_state
            tables, values = _counting(run_state), _values(run_state)
            beside = ("A", "B", _counting(other), _values(other))
        until_s = time.perf_counter() + TURN_S
        while self._views.draw_next(tables, run_state.frames, run_state.drawn_from, values, beside):
            if time.perf_counter() > until_s:
                return
        self._timer.stop()

    def _marks(self) -> tuple[str, str]:
        """Return the text above the plots, and the caption of their pictures."""
        loaded, words = self._model.loaded, self._model.words
        started = loaded.run_state.started if loaded is not None else None
        if loaded is None or started is None:
            return "", ""
        if self._model.is_of_here:
            of_run = words.say("page.earlier_run", {"date": started.at[:10]})
        else:
            of_run = band(words, started)
        question = words.say(f"{started.experiment}.question")
        is_recorded = loaded.is_opened or self._model.player is not None
        values = {"question": question, "machine": machine_name(started), "date": started.at[:10]}
        return of_run if is_recorded else "", words.say("page.caption", values)


def _counting(run_state: RunState) -> dict[str, list[Any]]:
    return {name: counting(rows) for name, rows in run_state.tables.items()}


def _values(run_state: RunState) -> Mapping[str, float]:
    """Return the values that a plot may mark; none while the run goes on."""
    finished = run_state.finished
    return clear_values(run_state.finding()) if finished is not None else {}


def _unmeasured(runs: Sequence[RunState]) -> Set[str]:
    """Return the tables in which no run has anything; none while a run goes on."""
    if any(run.finished is None for run in runs):
        return frozenset()
    return {table for table in runs[0].tables if not any(run.drawn_from[table] for run in runs)}
