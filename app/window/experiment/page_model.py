"""The model of an experiment's page: which run is shown, and what it is doing. No widgets.

A run under way belongs to the session's runner: the page may be left and come back to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.evidence import why_recorded
from app.loaded_run import Activity, LoadedRun, came_to_nothing, clear_values, is_disturbed, load
from app.mine import is_copy, original_of
from app.report import Report, notes_of_file, report_of
from app.runs.library import Kept
from app.runs.selection import last_run
from app.window.core.availability import Entry
from app.window.core.player import Player
from app.window.core.runner import RunFollower
from app.window.core.session import Session
from app.window.experiment.comparing import Comparing
from app.window.experiment.status_text import State, state_of
from experiments.core.declare import Experiment, Need
from experiments.core.parameters import from_json, to_json
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.run_state import RunState
from experiments.engine.side_by_side import check_alike, with_rounds

Result = LoadedRun | Problem

LOOK_SHARE = 0.1  # of this thread, to analyse a replay


class PageModel(QObject):
    """One experiment and at most one run of it; the parts of the page share it.

    The session may still be asleep.
    """

    changed = Signal()  # another run, or another state
    moved = Signal()  # there are new rows, or the time has gone on
    ended = Signal()  # the shown run, just now
    refused = Signal(object)  # Problem: why a request cannot be met

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session, self.words = session, session.words
        self.comparing = Comparing(session)
        self._run = RunFollower(session, self)
        self.is_covered: Callable[[], bool] = lambda: False  # must no earlier run be shown?
        self.experiment: Experiment[Any] | None = None
        self.loaded: LoadedRun | None = None
        self._before: LoadedRun | None = None  # was shown when the run began
        self._stand_in: LoadedRun | None = None  # came along, and was shown for want of a run
        self.player: Player | None = None
        self.is_reading = self._is_starting = False  # a file, a run
        self._moved_in: State | None = None  # the state at the last rows
        self._asked = 0  # counts requests: only the newest file is shown
        self.activity = Activity(session.words)
        self.values: Mapping[str, float] = {}  # of the finding so far: where the limit lines are
        self._look_from_s = 0.0  # looking again before that would take more than LOOK_SHARE
        session.entries_changed.connect(self._take_entries)
        session.machine_changed.connect(self._find_last)
        session.runs_changed.connect(self._take_runs)
        session.when_awake(self._wake)

    @property
    def entry(self) -> Entry | None:
        """The experiment's start values on this machine, None while unknown."""
        return self.session.entries.get(self.experiment.id) if self.experiment else None

    @property
    def is_disturbed(self) -> bool:
        """Was the shown run so disturbed that it cannot tell what was asked?"""
        return is_disturbed(self.run_state)

    @property
    def recording(self) -> Path | None:
        """The run that comes with the experiment."""
        id_ = self.experiment.id if self.experiment else ""
        return self.session.catalogue.recording(id_)

    @property
    def run_state(self) -> RunState | None:
        """The run that is drawn, or the part of it that has been played."""
        if self.player is not None:
            return self.player.run_state
        return self.loaded.run_state if self.loaded is not None else None

    @property
    def under_way(self) -> RunState | None:
        """The run that goes on now, of any experiment."""
        runner = self.session.runner if self.session.is_awake else None
        return runner.run_state if runner is not None and runner.is_running else None

    @property
    def state(self) -> State:
        """The state of the page now."""
        loaded, under_way = self.loaded, self.under_way
        if self.is_reading:
            return State.READING
        if self.player is not None:
            return State.PLAYING
        is_shown = loaded is not None and loaded.run_state is under_way
        if self.session.checking.is_running or (under_way is not None and not is_shown):
            return State.ELSEWHERE
        if under_way is not None:
            return State.STOPPING if self.session.runner.is_stopping else state_of(under_way)
        if loaded is not None:
            return State.ENDED
        if self.entry is None:
            return State.LOOKING
        return State.READY if self.needs_nothing else State.CANNOT

    @property
    def is_of_here(self) -> bool:
        """Was the shown run measured on this machine?"""
        return self.loaded is not None and self.loaded.is_of(self.session.machine)

    @property
    def needs_nothing(self) -> bool:
        """Does this machine, as far as it is known, lack nothing for the experiment?"""
        return self.entry is None or self.entry.need is None

    @property
    def lacks_gpu(self) -> bool:
        """Is a GPU what this machine lacks for the experiment?"""
        return self.entry is not None and self.entry.need in (Need.GPU, Need.TWO_GPUS)

    @property
    def is_stand_in(self) -> bool:
        """Is the recording that comes along shown, because it cannot be measured here?"""
        loaded = self.loaded
        return loaded is not None and loaded is self._stand_in and not self.needs_nothing

    @property
    def why_recorded(self) -> str:
        """Why the recording that comes along takes the place of a run; "" where it does not."""
        need = self.entry.need if self.entry is not None else None
        is_other = self.loaded is not None and self.loaded is not self._stand_in
        if need is None or is_other or self.recording is None:
            return ""
        return why_recorded(self.words, need)

    @property
    def plays_instead(self) -> bool:
        """Does Run play the recording that comes along, because it cannot be measured here?"""
        return self.state is State.CANNOT and self.recording is not None

    @property
    def has_nothing_to_show(self) -> bool:
        """Can it neither be measured here, nor does a recording come along?"""
        return self.loaded is None and self.recording is None and not self.needs_nothing

    @property
    def can_run(self) -> bool:
        """May a run be started?"""
        is_free = self.under_way is None and not self.session.checking.is_running
        return self.entry is not None and self.entry.need is None and is_free

    @property
    def path(self) -> Path | None:
        """The file of the shown run, None while it has none."""
        if self.loaded is None:
            return None
        kept = (run.path for run in self.session.runs if run.run == self.loaded.run)
        return self.loaded.path or next(kept, None)

    def report(self) -> Report:
        """Return the shown run, which has ended, in words."""
        run_state = self.run_state
        assert run_state is not None
        recording = self.loaded.recording if self.loaded is not None else None
        of_file = notes_of_file(recording) if recording is not None else []
        return report_of(self.words, run_state, of_file)

    def open(self, experiment_id: str) -> None:
        """Show an experiment: its run under way, its last one, or what it could show."""
        try:
            self.experiment = self.session.catalogue.load(experiment_id)
        except UserError as trouble:
            self.refused.emit(trouble.problem)
            return
        self.show_own()

    def show_own(self) -> None:
        """Show the run of this window, else the last one of this machine."""
        self._asked += 1
        self.is_reading = False
        own = self._of_window()
        if own is not None and own.finished is not None and self.is_covered():
            own = None
        if own is not None and own.experiment is self.experiment:
            self._show(LoadedRun(run_state=own))
        else:
            self._show(None)
            self._find_last()

    def open_run(self, path: Path, *, for_settings: bool = False) -> None:
        """Show a recorded run as it was; `for_settings` to start another with those it had.

        Otherwise, opening the default run does not mark it as opened.
        """
        self.is_reading = True
        self._end_replay()
        self.changed.emit()
        self._read(path, self._take_opened, is_opened=for_settings or not self._is_default(path))

    def compare_with(self, beside: Path) -> None:
        """Compare the shown run with another."""
        if self.path is not None:
            self.comparing.begin(self.path, beside)

    def run(self, params: Any, *, quick: bool) -> None:
        """Start a run; a quick one scales `params` down. Raises UserError where it cannot be."""
        assert self.experiment is not None
        params = self.experiment.reduced(params) if quick else params
        if self.session.is_measuring or not self.session.is_awake:
            return
        self._is_starting = True
        try:
            run_state = self._run.start(self.experiment, params, quick=quick)
        finally:
            self._is_starting = False
        self._asked += 1
        self._before = self.loaded
        self._show(LoadedRun(run_state=run_state))

    @property
    def is_copy(self) -> bool:
        """Is the shown experiment a copy of another?"""
        return self.experiment is not None and is_copy(self.session.catalogue, self.experiment.id)

    def run_beside(self, params: Any) -> None:
        """Run the original beside the shown copy, quickly. Raises UserError where it cannot be."""
        assert self.experiment is not None
        if self.session.is_measuring or not self.session.is_awake:
            return
        catalogue = self.session.catalogue
        original = catalogue.load(original_of(catalogue, self.experiment.id))
        check_alike(original, self.experiment)
        given = from_json(original.params, to_json(params), self.session.machine)
        wanted = with_rounds(original, original.reduced(given))
        self._is_starting = True
        try:
            run_state = self._run.start(self.experiment, wanted, quick=True, original=original)
        finally:
            self._is_starting = False
        self._asked += 1
        self._before = self.loaded
        self._show(LoadedRun(run_state=run_state))
        beside = self.session.runner.beside
        assert beside is not None
        self.comparing.show_live(LoadedRun(run_state=beside), LoadedRun(run_state=run_state))

    def stop(self) -> None:
        """End the run under way, of any experiment."""
        if self.under_way is not None:
            self.session.runner.stop()

    def warm(self) -> None:
        """Have a process ready for this experiment, if it can run here."""
        if self.can_run and self.experiment and not self.session.context.has_fake_machine:
            self.session.runner.warm(self.experiment)

    def replay(self, speed: float) -> None:
        """Play the shown run from its beginning, `speed` times as fast as it was."""
        if self.loaded is None or self.experiment is None:
            return
        if self.loaded.recording is not None:
            self._play(speed, self.loaded)
        elif self.path is not None:
            self._read(self.path, partial(self._play, speed), is_opened=False)

    def play_instead(self, speed: float) -> None:
        """Play the recording that comes along; at its end it is shown as a run would be."""
        assert self.experiment is not None
        assert self.recording is not None
        play = partial(self._play_stand_in, speed)
        self._read(self.recording, play, is_opened=True, stands_in_for=self.experiment)

    def leave_recording(self) -> None:
        """End the replay; a run that was opened gives way to that of this machine."""
        if self.player is not None:
            self._end_replay()
            self.changed.emit()
        else:
            self.show_own()

    def look_again(self) -> None:
        """Estimate the limit lines; meant for once a second during a run."""
        run_state = self.run_state
        if run_state is not None and run_state.finished is None:
            self.values = clear_values(run_state.finding())

    def _keep_up(self, player: Player) -> None:
        """Analyse the replay anew, for at most LOOK_SHARE of this thread while it plays."""
        began_s = time.perf_counter()
        if not player.is_playing or began_s >= self._look_from_s:
            self.look_again()
            now_s = time.perf_counter()
            self._look_from_s = now_s + (now_s - began_s) / LOOK_SHARE

    def _of_window(self) -> RunState | None:
        """Return the last run of this window, None if it came to nothing.

        A stopped run gives way to a completed run, which the cards also show.
        """
        session = self.session
        own = session.runner.run_state if session.is_awake else None
        if own is None or came_to_nothing(own):
            return None
        is_stopped = own.finished is not None and own.finished.outcome is messages.Outcome.STOPPED
        last = self._last_of(own.experiment.id) if is_stopped else None
        return None if last is not None and last.outcome == messages.Outcome.COMPLETED else own

    def _is_default(self, path: Path) -> bool:
        """Is it the run that the page of its experiment begins with?"""
        session, own = self.session, self._of_window()
        kept = next((run for run in session.runs if run.path == path), None)
        if kept is None or session.machine is None:
            return False
        if own is not None and own.experiment.id == kept.experiment:
            return own.started is not None and own.started.run == kept.run
        return kept is self._last_of(kept.experiment)

    def _last_of(self, experiment: str) -> Kept | None:
        return last_run(self.session.runs, experiment, self.session.machine)

    def _show(self, loaded: LoadedRun | None) -> None:
        self._end_replay()
        self.loaded, self.values = loaded, {}
        self._run.run_state = loaded.run_state if loaded is not None else None
        self.activity.forget()
        self._take_finding()
        self.changed.emit()

    def _take_finding(self) -> None:
        run_state = self.run_state
        if run_state is not None and run_state.finished is not None:
            self.values = clear_values(run_state.finished.finding)

    def _wake(self) -> None:
        runner = self.session.runner
        runner.began.connect(self._begin)
        self._run.moved.connect(self._move)
        self._run.ended.connect(self._end)
        runner.stopping.connect(self.changed)
        runner.ended.connect(self._notice_end)
        self.session.checking.began.connect(self.changed)
        self.session.checking.ended.connect(self.changed)
        self.changed.emit()

    def _begin(self) -> None:
        if not self._is_starting:  # `run` tells of its own run when it shows it
            self.changed.emit()

    def _move(self) -> None:
        run_state = self.run_state
        if self.player is None and run_state is not None:
            self.activity.look(run_state)
            self.moved.emit()
            if self.state is not self._moved_in:
                self._moved_in = self.state
                self.changed.emit()

    def _end(self) -> None:
        if self._run.run_state is not None and came_to_nothing(self._run.run_state):
            self._show(self._before)
            self._find_last()
            self.warm()
            self.session.tell(self.session.words.say("outcomes.stopped_empty"))
            return
        self._take_finding()
        self.changed.emit()
        self.ended.emit()

    def _notice_end(self) -> None:
        if not self._run.is_newest:  # that of another run, which was in the way
            self.changed.emit()

    def _take_entries(self) -> None:
        """Refresh: what the machine lacks is known now, or has changed."""
        if self.loaded is not None and self.loaded is self._stand_in and self.needs_nothing:
            self.show_own()
        self._take_runs()

    def _take_runs(self) -> None:
        """Refresh: the shown run may have a file now."""
        self._find_last()
        self.changed.emit()

    def _find_last(self) -> None:
        if self.experiment is None or self.loaded is not None or self.is_reading:
            return
        if self.is_covered():
            return
        last = self._last_of(self.experiment.id)
        if last is not None:
            self._read(last.path, self._take_last, is_opened=False)
        elif not self.needs_nothing and self.recording is not None:
            instead = self.experiment
            self._read(self.recording, self._take_stand_in, is_opened=True, stands_in_for=instead)

    def _read(self, path: Path, then: Callable[[Result], None], **how: Any) -> None:
        """Load a file in the background; `then` gets only the newest one."""
        asked = self._asked = self._asked + 1

        def take(loaded: Result) -> None:
            if asked == self._asked:
                then(loaded)

        work = partial(load, path, self.session.catalogue, **how)
        self.session.background.do_soon(work, take, failed=take)

    def _take_last(self, loaded: Result) -> None:
        if isinstance(loaded, LoadedRun):  # a damaged file is not missed here
            self._show(loaded)

    def _take_stand_in(self, loaded: Result) -> None:
        if isinstance(loaded, LoadedRun) and not self.needs_nothing:
            self._stand_in = loaded
            self._show(loaded)

    def _take_opened(self, loaded: Result) -> None:
        self.is_reading = False
        if isinstance(loaded, Problem):
            self.refused.emit(loaded)
            self.changed.emit()
        else:
            self.experiment = loaded.run_state.experiment
            self._show(loaded)

    def _play(self, speed: float, loaded: Result) -> None:
        if isinstance(loaded, Problem):
            self.refused.emit(loaded)
            return
        assert loaded.recording is not None
        self._end_replay()
        self.loaded, self.values = loaded, {}
        self.player = Player(loaded.recording, loaded.run_state.experiment)
        self.player.moved.connect(self._follow_player)
        self.player.playing_changed.connect(self.moved)
        self.activity.forget()
        self.player.play(speed)
        self.changed.emit()

    def _play_stand_in(self, speed: float, loaded: Result) -> None:
        if isinstance(loaded, LoadedRun):
            self._stand_in = loaded
        self._play(speed, loaded)
        if self.player is not None:
            self.player.ended.connect(self.leave_recording)

    def _follow_player(self) -> None:
        if self.player is not None:
            self.activity.look(self.player.run_state)
            self._take_finding()
            self._keep_up(self.player)
            self.moved.emit()

    def _end_replay(self) -> None:
        if self.player is not None:
            self.player.pause()
            self.player.deleteLater()
            self.player = None
            self._take_finding()
