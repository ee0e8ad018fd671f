"""Which side of an experiment is seen, its plots, its code or its data? Or what would be there."""

from __future__ import annotations

from typing import Any

from app.source import method
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.drawing import Drawing
from app.window.experiment.output import Output
from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import State
from experiments.core.declare import Experiment
from experiments.core.views import Code
from experiments.core.words import Words
from widgets.experiment.main_panel import MainPanel


class ViewSwitch:
    """Shows what the checked action asks for, as far as there is something; draws while seen."""

    def __init__(
        self,
        words: Words,
        model: PageModel,
        actions: ExperimentActions,
        panel: MainPanel,
        drawing: Drawing,
        output: Output,
    ) -> None:
        self._words, self._model, self._actions = words, model, actions
        self._panel, self._drawing, self._output = panel, drawing, output
        self._experiment: Experiment[Any] | None = None
        self._is_seen = False

    def show_experiment(self, experiment: Experiment[Any]) -> None:
        """Begin with the plots of another experiment."""
        self._experiment = experiment
        self._output.show_experiment(experiment)
        self._actions.plot.setChecked(True)

    def set_seen(self, seen: bool) -> None:
        """Draw from now on, or not at all."""
        self._is_seen = seen
        self._drawing.set_seen(seen and self._actions.plot.isChecked())

    def show(self) -> None:
        """Show plots, code or data, whichever is wanted and there."""
        do, run_state = self._actions, self._model.run_state
        if do.data.isChecked() and run_state is None:
            do.plot.setChecked(True)
        self.set_seen(self._is_seen)
        if do.code.isChecked():
            self._output.show_code()
            self._panel.show_code()
        elif run_state is None:
            self._show_empty()
        elif do.data.isChecked():
            self._panel.show_data(self._output.data_side(run_state))
        else:
            self._panel.show_views()

    def turn(self) -> None:
        """Show the rows instead of the plots, or the plots again, and take the keyboard there."""
        do = self._actions
        (do.plot if do.data.isChecked() else do.data).trigger()
        self._panel.take_keyboard()

    def _show_empty(self) -> None:
        """Say what would be here, and how it is measured."""
        say, experiment = self._words.say, self._experiment
        if experiment is None or self._model.state is State.READING:
            self._panel.show_empty("")
            return
        waits = self._model.state in (State.READY, State.ELSEWHERE)
        hint = say("page.empty") if waits else ""
        if any(isinstance(view, Code) for view in experiment.views):  # to be read before a run
            self._panel.views.show_unmeasured(experiment)
            self._panel.show_views()
            return
        self._panel.show_empty(say(f"{experiment.id}.topic"), method(experiment), hint)
