"""Shared by all places of the window: words, look, machine, runs, runner.

Made before the first paint, so it imports little; `wake` starts processes and threads after it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app import garbage
from app.context import Context
from app.window.core.settings import Settings
from app.window.core.target import Target
from experiments.core.problems import Problem
from widgets.style.look import Look

if TYPE_CHECKING:
    from app.runs.library import Kept, Library
    from app.synthetic_load import KnownLoad
    from app.window.core.availability import Entry
    from app.window.core.background import Background
    from app.window.core.checkup_runner import CheckupRunner
    from app.window.core.other_load import OtherLoad
    from app.window.core.own_shelf import OwnShelf
    from app.window.core.runner import Runner
    from app.window.core.watcher import Watcher
    from experiments.core.catalogue import Catalogue
    from experiments.core.words import Words
    from machine.model import Machine


class Session(QObject):
    """Handed to every place."""

    machine_changed = Signal()  # `machine` is known now
    entries_changed = Signal()  # `entries` are known now
    runs_changed = Signal()  # `runs` were read anew
    sampled = Signal(object)  # messages.Sample: one look at the load
    went = Signal(object)  # place.Target: somebody wants to go there
    noticed = Signal(str, str, object)  # a sentence, the words of a button ("" for none), its act
    troubled = Signal(object)  # Problem: expected trouble that belongs to no place
    status_changed = Signal()  # the place has something else to say in the status line
    remembered = Signal(object)  # dict of settings that a place wants to be kept
    settings_changed = Signal()
    catalogue_changed = Signal()  # experiments of the user's own came, changed or went
    asked_for_doctor = Signal()  # why does the GPU not work?
    asked_for_guesses = Signal()  # ten guesses in three minutes
    asked_for_playlist = Signal(object)  # the Path of a lecture to open, or None
    asked_for_lecture = Signal(object, object)  # Lecture, the Path of its file or None
    asked_for_handout = Signal(object)  # the Path of a lecture's record
    _library_told = Signal(object)  # Problem, from the thread that reads
    woke = Signal()  # runner, watcher and background are there
    closing = Signal()  # end every process and thread now

    def __init__(self, context: Context, look: Look, settings: Settings) -> None:
        super().__init__()
        self.context, self.look, self.settings = context, look, settings
        self.machine: Machine | None = None
        self.entries: dict[str, Entry] = {}
        self.runs: Sequence[Kept] = ()
        self._is_system_calm = False
        self._numbers: dict[str, float] = {}  # of earlier runs here, that experiments start from
        self.runner: Runner
        self.watcher: Watcher
        self.background: Background
        self.own: OwnShelf | None = None

    @property
    def words(self) -> Words:
        """Every text; read when the first is asked for, which is after the first paint."""
        return self.context.words

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """Every experiment; the user's own ones join once they have been examined."""
        from app.own_experiments import unexamined

        self.context.use_own_folders()
        return unexamined()

    @property
    def library(self) -> Library:
        """The runs in the user's data folder."""
        return self.context.library

    @functools.cached_property
    def known_load(self) -> KnownLoad:
        """The known load: it computes so that the user sees what load looks like."""
        from app.synthetic_load import KnownLoad

        return KnownLoad()

    @functools.cached_property
    def other_load(self) -> OtherLoad:
        """The watch on other programs' load."""
        from app.window.core.other_load import OtherLoad

        return OtherLoad(self)

    @functools.cached_property
    def checking(self) -> CheckupRunner:
        """The checkup under way, if there is one."""
        from app.window.core.checkup_runner import CheckupRunner

        return CheckupRunner()

    @property
    def is_measuring(self) -> bool:
        """Does an experiment or a checkup run?"""
        return self.is_awake and (self.runner.is_running or self.checking.is_running)

    @property
    def is_calm(self) -> bool:
        """Shall nothing move by itself, by the settings or as the system asks?"""
        return self.settings.less_motion or self._is_system_calm

    def stop(self) -> None:
        """End the checkup that waits or runs, else the run."""
        if self.checking.is_waiting or self.checking.is_running:
            self.checking.stop()
        else:
            self.runner.stop()

    @property
    def is_awake(self) -> bool:
        """Has `wake` been called?"""
        return hasattr(self, "background")

    def when_awake(self, act: Callable[[], object]) -> None:
        """Call `act` now, or as soon as `wake` has been called."""
        if self.is_awake:
            act()
        else:
            self.woke.connect(act)

    def wake(self) -> None:
        """Start what takes a while: read the machine and the runs, watch, have a worker ready."""
        from PySide6.QtCore import Qt  # 20 ms: after the first paint

        from app.window.core.background import Background
        from app.window.core.less_motion import wants_less_motion
        from app.window.core.own_shelf import OwnShelf
        from app.window.core.runner import Runner
        from app.window.core.watcher import Watcher
        from experiments.engine.jobs import Engine

        self.context.use_own_parts()
        self._library_told.connect(self.troubled, Qt.ConnectionType.QueuedConnection)
        self.library.tell = self._library_told.emit
        self.runner, self.watcher = Runner(self.library, Engine()), Watcher()
        self.background = Background()
        self.background.troubled.connect(self.troubled)
        self.runner.swept.connect(self._tell_swept)
        self.runner.ended.connect(self.refresh_runs)
        self.watcher.sampled.connect(self.sampled)
        self.watcher.inspected.connect(self._take_machine)
        self.watcher.not_inspected.connect(self._tell_unknown)
        self.watcher.ended.connect(self._tell_unwatched)
        self.background.do_soon(wants_less_motion, self._use_calm)
        self.own = OwnShelf(self)
        self.refresh_runs()
        if self.context.has_fake_machine:
            self.background.do(lambda: self.context.machine, self._use_machine)
            self.background.do(lambda: self.context.recorded_watch, self.watcher.play)
        else:
            self.watcher.start()
        self.woke.emit()

    def close(self) -> None:
        """End every process and thread."""
        self.closing.emit()
        if self.is_awake:
            if self.own is not None:
                self.own.close()
            self.checking.close()
            self.watcher.close()
            self.runner.close()
            self.library.close()
            self.background.close()

    def refresh_runs(self) -> None:
        """Read the list of runs anew; `runs_changed` comes when it is there."""
        before = self.runs
        self.background.do(lambda: garbage.spared(self.library.runs, before), self._use_runs)

    def go(self, place: str, **wanted: Any) -> None:
        """Go to a place and open something there; `wanted` are the fields of a Target."""
        self.went.emit(Target(place, **wanted))

    def tell(self, text: str, action: str = "", act: Callable[[], object] | None = None) -> None:
        """Say something quietly, with a button such as "Undo" if there is something to do."""
        self.noticed.emit(text, action, act)

    def say(self, problem: Problem) -> str:
        """Return a problem as one sentence."""
        return self.context.sentence(problem)

    def _use_calm(self, is_calm: bool) -> None:
        self._is_system_calm = is_calm

    def _tell_swept(self, count: int) -> None:
        self.tell(self.words.say("notes.swept", {"count": count}))

    def _tell_unwatched(self) -> None:
        say = self.words.say
        self.tell(say("frame.unwatched"), say("frame.watch_again"), self.watcher.start)

    def _tell_unknown(self, problem: Problem) -> None:
        self.troubled.emit(Problem("machine_not_read", {"reason": self.say(problem)}))

    def _take_machine(self, plain: dict[str, Any]) -> None:
        from machine.model import BadMachine, from_json

        try:
            self._use_machine(from_json(plain))
        except BadMachine as error:
            self.troubled.emit(Problem("machine_not_read", {"reason": str(error)}))

    def _use_machine(self, machine: Machine) -> None:
        self.machine = machine
        self.machine_changed.emit()
        self.suit()
        self._look_up_numbers()

    def suit(self) -> None:
        """Ask what each experiment starts from here; looks for other Pythons."""
        from app.window.core.availability import suited

        catalogue, machine, numbers = self.catalogue, self.machine, self._numbers
        if machine is not None:
            self.background.do(lambda: suited(catalogue, machine, numbers), self._use_entries)

    def _use_entries(self, entries: dict[str, Entry]) -> None:
        self.entries = entries
        self.entries_changed.emit()

    def _use_runs(self, runs: Sequence[Kept]) -> None:
        self.runs = runs
        self.runs_changed.emit()
        self._look_up_numbers()

    def _look_up_numbers(self) -> None:
        """Look up the values from earlier runs that experiments start from."""
        machine, runs = self.machine, self.runs
        if machine is None or self.context.has_fake_machine or not self.is_awake:
            return
        from app.runs.known_values import known_numbers

        catalogue = self.catalogue
        self.background.do(
            lambda: known_numbers(catalogue, machine, lambda: runs, catalogue),
            self._use_numbers,
        )

    def _use_numbers(self, numbers: dict[str, float]) -> None:
        if numbers != self._numbers:
            self._numbers = numbers
            self.suit()
