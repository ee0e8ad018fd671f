"""Acts on the plots for a lesson: shows some, draws on them, takes what is picked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

from PySide6.QtCore import QObject, Signal

from app.loaded_run import LoadedRun, lesson_run_of
from app.window.experiment.page_model import PageModel
from app.window.lesson.model import LessonModel
from experiments.core.declare import Experiment
from experiments.core.teaching.lesson_run import Spot
from experiments.core.teaching.lessons import Marker, Predict, Sketch
from experiments.core.teaching.motion import Pointed
from experiments.core.views import Field, Lines
from widgets.experiment.views_panel import ViewsPanel
from widgets.lesson.steps import Step

if TYPE_CHECKING:
    from widgets.plots.plot import Plot


class LessonPlots(QObject):
    """Prepares the plots for each step, and hears what happens on them."""

    picked = Signal(bool)  # a place was picked: was it the right one?
    pointed_out = Signal(object)  # tuple of numbers: what a prediction was drawn as
    pointed_at = Signal(object)  # Pointed: the mark below the mouse, or that is read

    def __init__(self, model: PageModel, lesson: LessonModel, views: ViewsPanel) -> None:
        super().__init__()
        self._model, self._lesson, self.views = model, lesson, views
        self._is_waiting = False  # for a recording, which says where axes end
        self._is_faint = False  # are marks of a recording drawn where nothing is measured yet?
        self._known: list[Plot] = []  # whose signals are connected
        self._plot: Plot | None = None  # on which something is drawn or picked
        self._zoomed: Plot | None = None  # by a question about it
        lesson.recorded.arrived.connect(self._take_recorded)

    def show(self, step: Step) -> None:
        """Show the plots of a step."""
        experiment, taught = self._model.experiment, self._lesson.taught
        if experiment is None or taught is None:
            return
        if self._model.run_state is None:
            self.views.show_unmeasured(experiment)
        else:
            self.views.show_experiment(experiment)
        self._put_away()
        words = taught.words
        headline = experiment.plots[0].key
        drawn = getattr(words.predict, "view", headline)
        live = [view.key for view in experiment.plots if isinstance(view, Field)]
        keys = {
            Step.PREDICT: {drawn},
            Step.RUN: {headline, drawn, *live},
            Step.OBSERVE: {words.observe.view},
            Step.EXPLAIN: {drawn, words.explain.confirm.view},
        }
        self.views.show_only(frozenset(keys.get(step, ())))
        if step in (Step.PREDICT, Step.RUN):
            self.expect(faint=False)
        loaded = self._model.loaded
        is_of_others = loaded is not None and loaded.is_opened and not self._model.is_stand_in
        is_hidden = step is Step.RUN and self._lesson.run is None and not is_of_others
        for plot in self.views.plots:
            plot.hold_back(taught.held_back if is_hidden else ())
        if step is Step.OBSERVE:
            self._ask(words.observe.view)
        elif step in (Step.RUN, Step.EXPLAIN):
            self._show_guess(drawn)

    def leave(self) -> None:
        """Show every plot as it is without a lesson."""
        self._put_away()
        for plot in self.views.plots:
            plot.hold_back(())
        self.views.show_only(frozenset())

    def begin_prediction(self, predict: Predict, at: tuple[float, ...], *, is_fixed: bool) -> None:
        """Let a prediction be drawn on the axes from `at` on, if it is of that kind."""
        if not isinstance(predict, Sketch | Marker):
            return
        plot = self._plot = self.views.keyed_plots().get(predict.view)
        if plot is None:
            return
        if is_fixed:
            self._show_guess(predict.view)
        elif isinstance(predict, Sketch):
            plot.begin_sketch(predict.points, at, *predict.range)
        else:
            plot.begin_marker(at[0], *predict.range, self._step(predict))

    def follow(self, at: tuple[float, ...] | None) -> None:
        """Draw what was typed."""
        taught = self._lesson.taught
        if taught is None or at is None or self._plot is None:
            return
        self.begin_prediction(self._lesson.predict, at, is_fixed=False)

    def focus_handles(self) -> bool:
        """Focus the plot on which a prediction is drawn; False where there is none."""
        if self._plot is None or self._lesson.is_answered:
            return False
        self._plot.setFocus()
        return True

    def focus_asked(self) -> bool:
        """Focus the plot that a question is about; False where none is asked."""
        if self._plot is None or self._lesson.has_observed:
            return False
        self._plot.setFocus()
        return True

    def zoom_to_right(self) -> None:
        """Zoom to the right place of the question about the plot."""
        if (spot := self._right()) is not None and self._plot is not None:
            self._plot.zoom_to(spot)
            self._zoomed = self._plot

    def show_right(self) -> None:
        """Light the right place."""
        if (spot := self._right()) is not None and self._plot is not None:
            self._plot.ask(False)
            self._plot.light(spot)

    def point_to(self, view: str) -> None:
        """Bring a view into sight, and give it the keyboard."""
        plot = self.views.keyed_plots().get(view)
        if plot is not None:
            self.views.ensureWidgetVisible(plot)
            plot.setFocus()

    # --- inside -------------------------------------------------------------------------------

    def _put_away(self) -> None:
        """Take everything off the plots that a step before put on them."""
        for plot in self.views.plots:
            if plot not in self._known:
                plot.sketched.connect(partial(self._tell_drawn, plot))
                plot.marked.connect(lambda x, plot=plot: self._tell_drawn(plot, (x,)))
                plot.picked.connect(partial(self._take_pick, plot))
                plot.pointed.connect(partial(self._take_pointed, plot))
            plot.end_sketch()
            plot.end_marker()
            plot.ask(False)
            plot.light(None)
            if plot is self._zoomed:
                plot.show_all()
            plot.show_guess(None)
        self._known = [*self.views.plots]
        self._plot = self._zoomed = None

    def _ask(self, view: str) -> None:
        plot = self._plot = self.views.keyed_plots().get(view)
        if plot is None:
            return
        if self._lesson.has_observed:
            self.show_right()
            return
        plot.ask(True)

    def _take_pick(self, plot: Plot, name: str, x: float, second: str) -> None:
        spot = self._right()
        if spot is not None and plot is self._plot:
            self.picked.emit(is_in(spot, name, x, second))

    def _take_pointed(self, plot: Plot, name: str, x: float) -> None:
        at = None if math.isnan(x) else x
        if name or at is not None:
            view = plot.chart.terms.view.key
            self.pointed_at.emit(Pointed(view=view, name=name, at=at))

    def _right(self) -> Spot | None:
        taught, run = self._lesson.taught, self._lesson.run
        if taught is None or run is None:
            return None
        spot: Spot = taught.call(taught.words.observe.right, run)
        return spot

    def _show_guess(self, view: str) -> None:
        """Draw a guess over the plot of a view, if it is of a kind that can be drawn."""
        from widgets.plots.overlays.guess import PlaceGuess, SketchGuess

        taught, guess = self._lesson.taught, self._lesson.guess
        plot = self.views.keyed_plots().get(view)
        if taught is None or guess is None or plot is None:
            return
        run = self._lesson.run
        predict = taught.predict_on(run.machine) if run else self._lesson.predict
        if isinstance(predict, Sketch):
            plot.show_guess(SketchGuess(tuple(predict.points), guess.at))
        elif isinstance(predict, Marker):
            plot.show_guess(PlaceGuess(guess.at[0], taught.right(run) if run else None))

    def _step(self, predict: Marker) -> float:
        """Return 1 where the axis counts things, else 0."""
        experiment = self._model.experiment
        views = experiment.plots if experiment is not None else ()
        view = next((view for view in views if view.key == predict.view), None)
        if experiment is None or not isinstance(view, Lines):
            return 0.0
        return float(get_type_hints(experiment.tables[view.table])[view.x.column] is int)

    def _tell_drawn(self, plot: Plot, at: Sequence[float]) -> None:
        if plot is self._plot:
            self.pointed_out.emit(tuple(at))

    def expect(self, *, faint: bool) -> None:
        """Draw the axes before anything is measured, as far as the recorded run goes.

        Its marks are drawn where they are `faint`: they would give a prediction away.
        """
        experiment = self._model.experiment
        self._is_waiting = experiment is not None and not self._has_rows()
        if experiment is None or not self._is_waiting:
            return
        self._is_faint = faint
        if (recorded := self._lesson.recorded.of(experiment)) is not None:
            self._draw_expected(experiment, recorded)

    def _take_recorded(self, experiment_id: str) -> None:
        """Draw the axes of a recording that was waited for."""
        experiment = self._model.experiment
        if experiment is not None and experiment.id == experiment_id and self._is_waiting:
            self.expect(faint=self._is_faint)

    def _has_rows(self) -> bool:
        run_state = self._model.run_state
        return run_state is not None and run_state.rows > 0

    def _draw_expected(self, experiment: Experiment[Any], recorded: LoadedRun) -> None:
        self._is_waiting = False
        self.views.show_experiment(experiment)
        tables = recorded.run_state.tables
        values = self._known_values(experiment, recorded)
        for plot, view in zip(self.views.plots, experiment.plots, strict=True):
            plot.show_expected(tables.get(view.table, ()), values, faint=self._is_faint)

    def _known_values(
        self, experiment: Experiment[Any], recorded: LoadedRun
    ) -> Mapping[str, float]:
        """Return the values that are known of a machine without a measurement.

        It is this machine, or where the recording will play, that of the recording.
        """
        machine, entry = self._model.session.machine, self._model.entry
        if machine is None or entry is None or entry.params is None or experiment.is_own:
            return {}
        params = entry.params
        if self._model.why_recorded and (run := lesson_run_of(recorded.run_state)) is not None:
            params, machine = run.params, run.machine
        nothing: dict[str, list[Any]] = {name: [] for name in experiment.tables}
        return experiment.analyse(params, nothing, machine).values


def is_in(spot: Spot, name: str, x: float, second: str = "") -> bool:
    """Is a picked mark or place the right one?"""
    if spot.pairs:
        return (name, second) in spot.pairs
    if spot.names or spot == Spot():
        return name in spot.names
    low = -math.inf if spot.low is None else spot.low
    high = math.inf if spot.high is None else spot.high
    return low <= x <= high
