"""The actions of an experiment's page, with their words and keys."""

from __future__ import annotations

from collections.abc import Iterator, Set

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QWidget

from app.window.experiment.page_model import PageModel
from app.window.experiment.status_text import State
from widgets.lesson.steps import Step


class ExperimentActions(QObject):
    """The page connects them; the state of the model says which are allowed."""

    def __init__(self, model: PageModel, page: QWidget) -> None:
        super().__init__(page)
        self._model, self._page, words = model, page, model.words
        self.run = self._action("page.run", "F5")
        self.quick = self._action("page.quick", "Shift+F5")
        self.quick.setToolTip(words.say("outcomes.quick"))
        # No key of its own: the window handles Escape.
        self.stop = self._action("page.stop")
        self.go_there = self._action("page.go_there")
        self.reset = self._action("page.reset")
        self.replay = self._action("page.replay", "R")
        self.replay.setToolTip(words.say("page.replay_help"))
        self.live = self._action("page.own_run")
        self.recording = self._action("page.show_recording")
        self.recording.setToolTip(words.say("page.show_recording_help"))
        self.lesson = self._action("page.lesson")
        self.plot = self._action("page.numbers")
        self.swap = self._action("page.swap")
        self.predict = self._action("page.predict")
        self.observe = self._action("page.observe")
        self.explain = self._action("page.explain")
        self.try_it = self._action("page.try")
        self.code = self._action("page.code")
        self.data = self._action("page.data")
        self.data.setToolTip(f"{words.say('page.data')} (Ctrl+D)")
        self.turn = self._action("page.turn_data", "Ctrl+D")
        self.compare = self._action("page.compare")
        self.stop_comparing = self._action("page.stop_comparing")
        self.full_plot = self._action("page.full_plot", "F")
        self.lecture = self._action("page.lecture_mode", "F11")
        self.lecture.setToolTip(words.say("page.lecture_mode_help"))
        self.add_to_lecture = self._action("catalogue.add_to_lecture", "L")
        self.copy_result = self._action("page.copy_result")
        self.copy_result.setToolTip(words.say("page.copy_result_help"))
        self.copy_picture = self._action("plot.copy_picture", "Ctrl+Shift+C")
        self.copy_svg = self._action("plot.copy_svg")
        self.save_picture = self._action("plot.save_png", "Ctrl+S")
        self.save_csv = self._action("page.save_csv", "Ctrl+Shift+S")
        self.report = self._action("report.of_run", "Ctrl+P")
        self.report.setToolTip(words.say("report.help"))
        self.notebook = self._action("page.notebook")
        self.notebook.setToolTip(words.say("page.notebook_help"))
        self._sides = QActionGroup(self)
        for side in (self.lesson, self.plot, self.code, self.data):
            side.setCheckable(True)
            self._sides.addAction(side)
        self.plot.setChecked(True)

    def __iter__(self) -> Iterator[QAction]:
        """Yield the allowed ones, for menu, palette and sheet."""
        return (each for each in self._all() if each.isEnabled() and each.isVisible())

    @property
    def steps(self) -> dict[Step, QAction]:
        """The actions that go to a step of a lesson."""
        return {
            Step.PREDICT: self.predict,
            Step.OBSERVE: self.observe,
            Step.EXPLAIN: self.explain,
            Step.TRY: self.try_it,
        }

    def use_letters(self, used: bool) -> None:
        """Let single letters act as keys, or not."""
        for action, letter in (
            (self.replay, "R"),
            (self.full_plot, "F"),
            (self.swap, "N"),
            (self.predict, "P"),
            (self.observe, "O"),
            (self.explain, "E"),
            (self.try_it, "T"),
            (self.add_to_lecture, "L"),
        ):
            action.setShortcut(QKeySequence(letter if used else ""))

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
        self.run.setText(say(_run_key(has_run=loaded is not None, is_opened=is_opened)))
        self.run.setToolTip(say("page.runs_one" if state is State.ELSEWHERE else "page.run_help"))
        _allow(self.run, can_run, seen=waits)
        has_quick = state in (State.LOOKING, State.READY, State.ENDED) and not is_opened
        _allow(self.quick, can_run and has_quick, seen=has_quick and waits)
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
        _allow(self.recording, model.recording is not None and (loaded is None or instead))
        _allow(self.reset, can_run and not is_opened)
        _allow(self.compare, has_end and model.path is not None, seen=True)
        _allow(self.stop_comparing, model.comparing.is_on)
        _allow(self.notebook, model.experiment is not None)
        _allow(self.lecture, model.experiment is not None)
        _allow(self.add_to_lecture, model.experiment is not None)
        has_rows = model.run_state is not None
        _allow(self.copy_result, has_end and has_rows)
        _allow(self.report, has_end and model.path is not None)
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

    def _all(self) -> Iterator[QAction]:
        return (each for each in vars(self).values() if isinstance(each, QAction))

    def _action(self, key: str, keys: str = "") -> QAction:
        action = QAction(self._model.words.say(key), self)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._page.addAction(action)
        return action


def _allow(action: QAction, allowed: bool, *, seen: bool | None = None) -> None:
    """Enable or disable an action; a disabled one is hidden unless it is to be `seen`."""
    action.setVisible(allowed if seen is None else seen)
    action.setEnabled(allowed)


def _run_key(*, has_run: bool, is_opened: bool) -> str:
    if is_opened:
        return "page.run_these"
    return "page.run_again" if has_run else "page.run"
