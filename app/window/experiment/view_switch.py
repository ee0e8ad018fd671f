"""Switches between plots, code, data and the empty state."""

from __future__ import annotations

from app.window.experiment.actions import ExperimentActions
from app.window.experiment.drawing import Drawing
from app.window.experiment.output import Output
from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import State
from app.window.lesson.lesson_panel import LessonPart
from experiments.core.views import Code
from widgets.experiment.main_panel import MainPanel


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
        if self._model.state is State.CANNOT and self._model.recording is None:
            hint = say("page.no_recording")
        if any(isinstance(view, Code) for view in experiment.views):  # it can be read before a run
            self._panel.views.show_unmeasured(experiment)
            self._panel.show_views()
            return
        self._panel.show_empty(say(f"{experiment.id}.topic"), say(f"{experiment.id}.method"), hint)
