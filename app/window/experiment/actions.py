"""The actions of an experiment's page, with their words and keys."""

from __future__ import annotations

from collections.abc import Set

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import State
from widgets.controls.actions import Actions
from widgets.lesson.steps import Step


class ExperimentActions(Actions):
    """The page connects them; the state of the model says which are allowed."""

    def __init__(self, model: PageModel, page: QWidget) -> None:
        super().__init__(page, model.words)
        self._model, add = model, self.add
        self.run = add("page.run", keys="F5")
        self.quick = add("page.quick", keys="Shift+F5", help_key="outcomes.quick")
        self.beside = add("page.beside", keys="B", help_key="page.beside_help")
        self.mine = add("page.mine", help_key="page.mine_help")
        # No key of its own: the window handles Escape.
        self.stop = add("page.stop")
        self.go_there = add("page.go_there")
        self.reset = add("page.reset")
        self.replay = add("page.replay", keys="R", help_key="page.replay_help")
        self.live = add("page.own_run")
        self.recording = add("page.show_recording", help_key="page.show_recording_help")
        self.lesson = add("page.lesson")
        self.plot = add("page.numbers")
        self.swap = add("page.swap", keys="N")
        self.predict = add("page.predict", keys="P")
        self.observe = add("page.observe", keys="O")
        self.explain = add("page.explain", keys="E")
        self.try_it = add("page.try", keys="T")
        self.code = add("page.code")
        self.data = add("page.data")
        self.data.setToolTip(f"{self.data.text()} (Ctrl+D)")
        self.turn = add("page.turn_data", keys="Ctrl+D")
        self.compare = add("page.compare")
        self.stop_comparing = add("page.stop_comparing")
        self.full_plot = add("page.full_plot", keys="F")
        self.lecture = add("page.lecture_mode", keys="F11", help_key="page.lecture_mode_help")
        self.add_to_lecture = add("catalogue.add_to_lecture", keys="L")
        self.copy_result = add("page.copy_result", help_key="page.copy_result_help")
        self.copy_picture = add("plot.copy_picture", keys="Ctrl+Shift+C")
        self.copy_svg = add("plot.copy_svg")
        self.save_picture = add("plot.save_png", keys="Ctrl+S")
        self.save_csv = add("page.save_csv", keys="Ctrl+Shift+S")
        self.report = add("report.of_run", keys="Ctrl+P", help_key="report.help")
        self.worksheet = add("worksheet.of_run", keys="H", help_key="worksheet.help")
        self.notebook = add("page.notebook", help_key="page.notebook_help")
        self._sides = QActionGroup(self)
        for side in (self.lesson, self.plot, self.code, self.data):
            side.setCheckable(True)
            self._sides.addAction(side)
        self.plot.setChecked(True)

    @property
    def steps(self) -> dict[Step, QAction]:
        """The actions that go to a step of a lesson."""
        return {
            Step.PREDICT: self.predict,
            Step.OBSERVE: self.observe,
            Step.EXPLAIN: self.explain,
            Step.TRY: self.try_it,
        }

    def allow_steps(self, reachable: Set[Step]) -> None:
        """Allow to go to these steps."""
        for step, action in self.steps.items():
            _allow(action, step in reachable)

    def name_shown(self, view: str, table: str) -> None:
        """Name the view that would be copied, and the table that would be saved."""
        say = self._model.words.say
        self.copy_picture.setText(say("page.copy_picture_of", {"view": view}))
        self.copy_svg.setText(say("page.copy_svg_of", {"view": view}))
        self.save_picture.setText(say("page.save_picture_of", {"view": view}))
        self.save_csv.setText(say("page.save_csv_of", {"table": table}))

    def refresh(self) -> None:
        """Allow the actions that make sense now, and hide the others."""
        model, say = self._model, self._model.words.say
        state, loaded = model.state, model.loaded
        is_opened = loaded is not None and loaded.is_opened
        can_run = state in (State.READY, State.ENDED) and model.can_run
        waits = state in (State.LOOKING, State.ELSEWHERE, State.READY, State.ENDED)
        waits = waits and model.experiment is not None and model.needs_nothing
        plays = model.plays_instead
        again = "page.run_again" if loaded is not None else "page.run"
        named = "page.run_these" if is_opened else "page.play_recording" if plays else again
        help_key = "page.show_recording_help" if plays else "page.run_help"
        self.run.setText(say(named))
        self.run.setToolTip(say("page.runs_one" if state is State.ELSEWHERE else help_key))
        _allow(self.run, can_run or plays, seen=waits or plays)
        has_quick = state in (State.LOOKING, State.READY, State.ENDED) and not is_opened
        _allow(self.quick, can_run and has_quick, seen=has_quick and waits)
        _allow(self.beside, can_run and has_quick and model.is_copy, seen=waits and model.is_copy)
        is_ours = model.experiment is not None and not model.experiment.is_own
        _allow(self.mine, is_ours)
        _allow(self.stop, model.under_way is not None and state is not State.STOPPING)
        _allow(self.go_there, state is State.ELSEWHERE)
        has_end = state is State.ENDED
        _allow(self.replay, has_end and model.path is not None)
        way_back = "page.latest_run" if model.is_of_here else "page.own_run"
        self.live.setText(say("page.end_replay" if state is State.PLAYING else way_back))
        has_own = is_opened and not model.is_stand_in  # else it would be shown again
        _allow(self.live, state is State.PLAYING or (has_end and has_own))
        instead = has_end and model.is_disturbed and not is_opened
        self.recording.setText(say("page.quiet_run" if instead else "page.show_recording"))
        can_open = model.recording is not None and not plays and (loaded is None or instead)
        _allow(self.recording, can_open)
        _allow(self.reset, can_run and not is_opened)
        _allow(self.compare, has_end and model.path is not None, seen=True)
        _allow(self.stop_comparing, model.comparing.is_on)
        _allow(self.notebook, model.experiment is not None)
        _allow(self.lecture, model.experiment is not None)
        _allow(self.add_to_lecture, model.experiment is not None)
        has_rows = model.run_state is not None
        _allow(self.copy_result, has_end and has_rows)
        for action in (self.report, self.worksheet):
            _allow(action, has_end and model.path is not None)
        for action in (
            self.full_plot,
            self.copy_picture,
            self.copy_svg,
            self.save_picture,
            self.save_csv,
        ):
            _allow(action, has_rows)
        _allow(self.data, has_rows, seen=True)
        _allow(self.turn, has_rows)


def _allow(action: QAction, allowed: bool, *, seen: bool | None = None) -> None:
    """Enable or disable an action; a disabled one is hidden unless it is to be `seen`."""
    action.setVisible(allowed if seen is None else seen)
    action.setEnabled(allowed)
