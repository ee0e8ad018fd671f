"""The page of one experiment: its plots, its status, and all its actions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.lecture.file import Item, Lecture
from app.window.core.session import Session
from app.window.core.target import CHECKUP, EXPERIMENTS, MAP, Then
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.compare_menu import compare_menu
from app.window.experiment.making_mine import MakingMine
from app.window.experiment.page_model import PageModel
from app.window.experiment.replaying import Replaying
from app.window.experiment.saved_view import PageLeft
from app.window.experiment.side_controller import SideController
from app.window.experiment.status_text import State
from app.window.experiment.view_switch import ViewSwitch
from app.window.lesson.lesson_panel import LessonPart
from experiments.core.declare import Experiment
from experiments.core.parameters import to_json
from experiments.core.problems import Problem, UserError
from widgets.controls.basics import announce, column, row
from widgets.controls.place_head import BELOW, MARGINS
from widgets.controls.replay_bar import ReplayBar
from widgets.experiment.action_button import ActionButton
from widgets.experiment.header import Header
from widgets.experiment.machine_strip import MachineStrip
from widgets.experiment.main_panel import MainPanel
from widgets.lesson.steps import Step
from widgets.style.theme import STEP

SECOND_MS = 1000
WARM_MS = 300  # after opening: passing by starts no process
QUARTERS = 4
MEASURES = ("measure", "compare")  # what is done with an opened run that starts another


class ExperimentPage(QWidget):
    """Shows one experiment at a time. Its parts share `model`; each has a widget of its own."""

    back = Signal()
    lecture_wanted = Signal(object)  # Item: the shown experiment shall be one of a lecture

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        words, look = session.words, session.look
        self.announce: Callable[[QWidget, str], object] = announce
        model = self.model = PageModel(session)
        do = self._actions = ExperimentActions(model, self)
        self._side = SideController(model, do)
        self._panel = MainPanel(words, look)
        self.lesson = LessonPart(model, do, self._panel, self._side.column)
        self._views = ViewSwitch(model, do, self._panel, self.lesson)
        self._left = PageLeft(model, do, self._side, self._panel.views)
        self._bar, self._strip = ReplayBar(look, words), MachineStrip(words, look)
        self._replaying = Replaying(model, self._bar)
        self._making = MakingMine(session, self)
        self._experiment: Experiment[Any] | None = None
        self._is_beside = False  # is a run beside its original under way, or not compared yet?
        self._follows = ""  # the lesson of which the shown experiment is a follow-up
        self._quarter = 0
        self._wants_focus = False
        self._then: Then = ""
        self._opened: Path | None = None  # a run that is to be shown as it was left
        self._other: Path | None = None  # the run to compare the next one with
        self._arrange()
        self._each_second = QTimer(self, interval=SECOND_MS)
        self._each_second.timeout.connect(self._look_again)
        self._warming = QTimer(self, interval=WARM_MS, singleShot=True)
        self._warming.timeout.connect(self._warm)
        self._connect()
        self._connect_actions()
        self._use_letters()
        self._show_machine()
        self._refresh()

    def open(self, experiment_id: str, *, then: Then = "") -> None:
        """Show an experiment: the run under way, the last one, or what it could show.

        To `ask` for a prediction once more, nothing that was found is shown.
        """
        self._begin()
        self._other, self._wants_focus = None, True
        if then == "ask":
            self.lesson.model.ask_again(experiment_id)
        self.model.open(experiment_id)
        self._warming.start()

    def open_run(self, path: Path, beside: Path | None = None, *, then: Then = "") -> None:
        """Show a recorded run as it was; `beside` another, on the same axes; and `then` do that."""
        self._begin()
        self._opened = path if not then and beside is None else None
        self.lesson.side().setChecked(True)
        self._wants_focus, self._then = then != "replay", then
        self._other = path if then == "compare" else None
        if then == "replay":  # keep focus off Run until the replay bar takes it
            self.setFocus()
        if self._experiment is None:
            self._header.show_experiment(path.name, "")
        self.model.open_run(path, for_settings=then in MEASURES)
        if beside is not None:
            self.model.comparing.begin(path, beside)

    def arrive(self) -> None:
        """Begin to be seen."""
        self._views.set_seen(True)
        self._each_second.start()
        self._warming.start()
        self._refresh()

    def leave(self) -> None:
        """Stop being seen: nothing is drawn, and what is played stands still."""
        self._left.keep()
        self._views.set_seen(False)
        self._each_second.stop()
        self.lesson.leave()
        self._replaying.pause()

    @property
    def told(self) -> Problem | None:
        """The trouble that the page shows, None if there is none."""
        return self._side.told

    def own_actions(self) -> list[QAction]:
        """Return what can be done now."""
        names = self._views.output.names()
        if names is not None:
            self._actions.name_shown(*names)
        return list(self._actions)

    def own_keys(self) -> list[tuple[str, str]]:
        """Return the keys of the plots, and of the replay bar during a replay."""
        say = self.session.words.say
        keys = [("← → ↑ ↓", say("keys.read_plot")), ("+ - 0", say("keys.zoom_plot"))]
        keys += [("M", say("keys.measure_plot"))]
        if self.model.player is not None:
            keys += [("Space", say("keys.play")), (", .", say("keys.step"))]
        if self.lesson.moving.moves:
            keys += [("Space", say("lesson.motion_key_play"))]
            keys += [("← → Home End", say("lesson.motion_key_step"))]
        return keys

    def status(self) -> str:
        """Return the keys of what moves, else the number of rows of the shown run."""
        if self.lesson.moving.moves:
            return self.session.words.say("lesson.motion_keys")
        run_state = self.model.run_state
        if run_state is None or run_state.started is None or not run_state.rows:
            return ""
        key = "page.status" if run_state.finished is not None else "page.rows"
        values = {"rows": run_state.rows, "run": run_state.started.run[:8]}
        return self.session.words.say(key, values)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the side column its share."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Escape stop the run also without the window's shortcut; Space plays what moves."""
        if event.key() == Qt.Key.Key_Escape and self.model.under_way is not None:
            self.model.stop()
        elif event.key() != Qt.Key.Key_Space or not self.lesson.moving.player.take_space():
            super().keyPressEvent(event)

    # --- building -----------------------------------------------------------------------------

    def _arrange(self) -> None:
        do = self._actions
        # The chip that comes and goes stands first, so that the others stay in place.
        chips = (do.stop_comparing, do.lesson, do.plot, do.code, do.data, do.compare)
        self._header = Header(self.session.words, chips)
        left = column(
            self._panel, self.lesson.moving.player, self._bar, self._strip, space=3 * STEP
        )
        left.setStretch(0, 1)
        body = row(left, self.lesson.column, space=6 * STEP)
        body.setStretch(0, 1)
        steps = row(self.lesson.bar, self.lesson.on_path, grows=0)
        head = column(self._header, steps, space=2 * STEP)
        whole = column(head, body, space=BELOW)
        whole.setStretch(1, 1)
        whole.setContentsMargins(*MARGINS)
        self.setLayout(whole)

    def _connect(self) -> None:
        model, views = self.model, self._panel.views
        model.changed.connect(self._refresh)
        model.changed.connect(self.session.status_changed)
        model.moved.connect(self._move)
        model.ended.connect(self._tell_end)
        model.ended.connect(self._warming.start)  # the next run begins as quickly
        self.session.entries_changed.connect(self._warming.start)
        model.refused.connect(self._refuse)
        model.comparing.changed.connect(self._show_comparison)
        self.session.settings_changed.connect(self._use_letters)
        self.session.machine_changed.connect(self._show_machine)
        self._header.back.connect(self.back)
        self._header.lesson_wanted.connect(
            lambda: self.session.go(EXPERIMENTS, experiment=self._follows)
        )
        self.lesson.model.changed.connect(self._show_step)
        moving = self.lesson.moving
        moving.changed.connect(self.session.status_changed)
        # On a small screen the plot above a drawing needs the place of the strip below it.
        moving.changed.connect(lambda: self._strip.setVisible(not moving.is_shown))
        self.session.look.changed.connect(self._fit)
        self._strip.part_wanted.connect(
            lambda part, threads: self.session.go(MAP, part=part, threads=threads)
        )
        views.table_wanted.connect(self._actions.turn.trigger)
        self._panel.code.mine_wanted.connect(self._actions.mine.trigger)

    def _connect_actions(self) -> None:
        do, model, output = self._actions, self.model, self._views.output
        acts: dict[QAction, Callable[[], object]] = {
            do.run: lambda: self._run(quick=False),
            do.quick: lambda: self._run(quick=True),
            do.beside: self._run_beside,
            do.mine: self._make_mine,
            do.stop: model.stop,
            do.go_there: self._go_there,
            do.replay: self._replay,
            do.live: model.leave_recording,
            do.recording: self._open_shipped,
            do.reset: self._side.reset,
            do.compare: self._choose_beside,
            do.stop_comparing: model.comparing.end,
            do.turn: self._views.turn,
            do.lesson: self._views.show,
            do.plot: self._views.show,
            do.code: self._views.show,
            do.data: self._views.show,
            do.full_plot: lambda: self._panel.views.fill_window(do.full_plot.shortcut()),
            do.copy_result: output.copy_result,
            do.report: output.report,
            do.worksheet: output.worksheet,
            do.copy_picture: output.copy_picture,
            do.copy_svg: output.copy_svg,
            do.save_picture: output.save_picture,
            do.save_csv: output.save_csv,
            do.notebook: output.save_notebook,
            do.lecture: self._begin_lecture,
            do.add_to_lecture: self._add_to_lecture,
        }
        for action, act in acts.items():
            action.triggered.connect(lambda _checked=False, act=act: act())

    # --- what is seen -------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Refresh the page after any change of state."""
        experiment = self.model.experiment
        if experiment is not None and experiment is not self._experiment:
            self._show_experiment(experiment)
        focused = self.window().focusWidget()
        self._actions.refresh()
        if isinstance(focused, ActionButton) and focused.isHidden():
            self._wants_focus = True  # the button that had it is gone
        self._side.refresh()
        if self._opened is not None and not self.model.is_reading:
            self._left.restore(self._opened)
            self._opened = None
        self._show_step()
        if self._then and not self.model.is_reading:
            action = self._actions.run if self._then in MEASURES else self._actions.replay
            self._then = ""
            QTimer.singleShot(0, action, action.trigger)
        elif self._is_beside:
            self._compare_beside()
        elif self._other is not None:
            self._compare_with(self._other)

    def _compare_with(self, other: Path) -> None:
        """Compare the ended run, once it is kept, with the run whose settings it had."""
        loaded, path = self.model.loaded, self.model.path
        is_own = loaded is not None and not loaded.is_opened
        if self.model.state is State.ENDED and is_own and path is not None:
            self._other = None
            self.model.comparing.begin(path, other)

    def _compare_beside(self) -> None:
        """Compare a copy's run with that of its original, once both are kept."""
        model, runner = self.model, self.session.runner
        if model.state is not State.ENDED or model.run_state is not runner.run_state:
            self._is_beside = model.state.is_under_way
        elif runner.kept_beside is None:
            self._is_beside = False
            model.comparing.end()
        elif model.path is not None:
            self._is_beside = False
            model.comparing.begin(runner.kept_beside, model.path)

    def _show_step(self) -> None:
        """Show the step of the lesson, or whatever side is chosen."""
        self._views.show()
        if self._wants_focus and (self.lesson.focus() or self._side.focus()):
            self._wants_focus = False

    def _fit(self) -> None:
        self.lesson.fit(self.size())

    def _show_experiment(self, experiment: Experiment[Any]) -> None:
        words = self.session.words
        self._experiment = experiment
        self._panel.views.method = words.say(f"{experiment.id}.method")
        catalogue = self.session.catalogue
        home = catalogue.homes.get(experiment.id)
        self._follows = home.follows if home is not None else ""
        self._header.show_experiment(
            words.say(f"{experiment.id}.question"),
            words.say(f"shelves.{catalogue.shelf(experiment)}"),
            self._panel.views.method,
            words.say(f"{self._follows}.question") if self._follows else "",
        )
        self._panel.code.offer_mine(not experiment.is_own)
        self._side.show_experiment(experiment)
        self._views.begin()
        numbered = [value.part for value in experiment.values if value.part is not None]
        self._strip.light(experiment.parts, numbered=numbered)

    def _show_machine(self) -> None:
        if self.session.machine is not None:
            self._strip.show_machine(self.session.machine)

    def _use_letters(self) -> None:
        self._actions.use_letters(self.session.settings.letters)

    # --- what happens -------------------------------------------------------------------------

    def _show_comparison(self) -> None:
        """Show two runs on the same axes, whatever side was seen before."""
        if self.model.comparing.pair is not None:
            self._actions.plot.setChecked(True)
        self._refresh()

    def _begin(self) -> None:
        """Forget the trouble and the comparison of the run before; that is kept as it was left."""
        self._left.keep()
        self._side.refuse(None)
        self.model.comparing.end()
        self._quarter = 0

    def _move(self) -> None:
        """Show new rows, or the time that has passed."""
        self._side.show_status()
        if self.isVisible():  # status line and side column tell the same count
            self.session.status_changed.emit()
        under_way = self.model.under_way
        if self.model.player is not None:
            self._side.show_result()
        elif under_way is not None:
            quarter = int(under_way.progress.fraction * QUARTERS)
            if self._quarter < quarter < QUARTERS:
                values = {"done_fraction": quarter / QUARTERS}
                self.announce(self, self.session.words.say("page.done_part", values))
            self._quarter = quarter

    def _warm(self) -> None:
        """Have a process ready, unless the page was left: another may need it."""
        if self._each_second.isActive():
            self.model.warm()

    def _look_again(self) -> None:
        """Refresh once a second."""
        self.model.look_again()
        self._views.refresh()
        if self.model.under_way is None:  # a run moves each second, with the status line
            self._side.show_status()  # "5 minutes ago"

    def _run(self, *, quick: bool) -> None:
        """Start a run with the settings of the form; play the recording where none can be."""
        if self.model.plays_instead:
            self._begin()
            self._show_side()
            self._replaying.begin_instead()
            return
        if self._experiment is None or not self.model.can_run:
            return
        self._begin()
        try:
            self.model.run(self._side.params(), quick=quick)
        except UserError as trouble:
            self._side.refuse(trouble.problem)
            return
        self._show_side()
        self.announce(self, self.session.words.say("page.beginning"))

    def _run_beside(self) -> None:
        """Run the original beside the shown copy, with the settings of the form."""
        if self._experiment is None or not self.model.can_run:
            return
        self._begin()
        try:
            self.model.run_beside(self._side.params())
        except UserError as trouble:
            self._side.refuse(trouble.problem)
            return
        self._is_beside = True
        self.announce(self, self.session.words.say("page.beginning"))

    def _make_mine(self) -> None:
        """Ask for a name, and copy the shown experiment to the user's own shelf."""
        if self._experiment is not None:
            is_trying = self.lesson.is_seen and self.lesson.model.step is Step.TRY
            self._making.ask(self._experiment, starts=is_trying)

    def _refuse(self, problem: Problem) -> None:
        self._then, self._other = "", None  # meant for a run that is not there
        self._side.refuse(problem)

    def _tell_end(self) -> None:
        told = self.model.report()
        self.announce(self, told.ending or told.finding)

    def _replay(self) -> None:
        self.model.comparing.end()
        self._show_side()
        self._replaying.begin()

    def _show_side(self) -> None:
        self.lesson.side().setChecked(True)
        self._views.show()

    def _open_shipped(self) -> None:
        recording = self.model.recording
        if recording is not None:
            self.open_run(recording)

    def _go_there(self) -> None:
        """Go to the run under way, perhaps on this page."""
        under_way = self.model.under_way
        if self.session.checking.is_running:
            self.session.go(CHECKUP)
        elif under_way is None:
            return
        elif under_way.experiment is self._experiment:
            self._begin()
            self.model.show_own()
        else:
            self.session.go(EXPERIMENTS, experiment=under_way.experiment.id)

    def _begin_lecture(self) -> None:
        """Show this experiment in front of a class, with the settings of the form."""
        if (item := self.as_item()) is not None:
            self.session.asked_for_lecture.emit(Lecture(item=(item,)), None)

    def _add_to_lecture(self) -> None:
        if (item := self.as_item()) is not None:
            self.lecture_wanted.emit(item)

    def as_item(self) -> Item | None:
        """Return the shown experiment as an item of a lecture, with its changed settings."""
        if self._experiment is None:
            return None
        entry = self.session.entries.get(self._experiment.id)
        changed: dict[str, Any] = {}
        with contextlib.suppress(UserError):  # what is typed there is no setting yet
            if entry is not None:
                usual, now = to_json(entry.params), to_json(self._side.params())
                changed = {name: value for name, value in now.items() if value != usual.get(name)}
        return Item(experiment=self._experiment.id, set=changed)

    def _choose_beside(self) -> None:
        """Open the menu of runs to compare with."""
        menu = compare_menu(self.model, self)
        menu.popup(self._header.below(self._actions.compare))
