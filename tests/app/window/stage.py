"""The page of an experiment on a stage: no process, a machine that is not this one.

The runner is handed its events by the test. Runs are made of numbers, not measured.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.context import Context
from app.window.core.availability import Entry, suited
from app.window.core.background import Background
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.place import SECOND_MS, ExperimentPage
from app.window.experiment.view_switch import Drawing
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from experiments.engine.run_state import RunState
from tests.app.recordings import Made
from tests.experiments.machines import machine
from tests.processes import until
from widgets.experiment.views_panel import ViewsPanel
from widgets.form.form import ParamsForm
from widgets.plots.plot import Plot
from widgets.style.look import Look

Found = TypeVar("Found", bound=QObject)


class FakeRunner(QObject):
    """The page's view of a runner, without processes: a test hands over the events."""

    began, moved, stopping, ended = Signal(), Signal(), Signal(), Signal()

    def __init__(self) -> None:
        super().__init__()
        self.run_state: RunState | None = None
        self.is_running = self.is_stopping = False
        self.is_held = self.is_at_rest = False  # ready at once
        self.first = ""  # the arm that a held run was to begin with
        self.not_kept = self.kept_beside = None
        self.beside: RunState | None = None
        self.started: list[tuple[str, dict, bool]] = []
        self.warmed: list[str] = []
        self.stops = 0

    def start(self, experiment, params, *, quick=False, hold=False, original=None) -> RunState:
        """Begin a run that goes nowhere by itself."""
        self.beside = RunState(original) if original is not None else None
        self.started.append((experiment.id, params, quick))
        self.run_state, self.is_held, self.is_at_rest = RunState(experiment), hold, hold
        self.is_running, self.is_stopping = True, False
        self.began.emit()
        return self.run_state

    def hear(self, *events: messages.Event) -> None:
        """Hand over events."""
        assert self.run_state is not None
        for event in events:
            self.run_state.add(event)
        if self.run_state.finished is not None:
            self.is_running = self.is_stopping = False
        self.moved.emit()
        if self.run_state.finished is not None:
            self.ended.emit()

    def warm(self, experiment) -> None:
        self.warmed.append(experiment.id)

    def is_warm(self, experiment) -> bool:
        return experiment.id in self.warmed

    def go(self, first: str = "") -> None:
        self.is_held = self.is_at_rest = False
        self.first = first

    def stop(self) -> None:
        self.stops += 1
        self.is_stopping = True
        self.stopping.emit()

    def close(self) -> None:
        pass


class Stage:
    """A session on a machine that is not this one, and a page of it."""

    def __init__(self, look: Look, folder: Path, *, numbers: bool = True) -> None:
        self.folder = folder
        self.session = Session(Context(data=folder / "data"), look, Settings(numbers=numbers))
        self.session.remembered.connect(self._remember)
        self.session.background = Background()
        self.session.background.troubled.connect(self.session.troubled)
        self.runner = FakeRunner()
        self.session.runner = self.runner  # type: ignore[assignment]
        self.session.woke.emit()
        self.page = ExperimentPage(self.session)
        self.said: list[str] = []
        self.page.announce = lambda _widget, text: self.said.append(text)

    @property
    def do(self) -> ExperimentActions:
        """The actions of the page, also those that are not allowed now."""
        return found(self.page, ExperimentActions)

    @property
    def form(self) -> ParamsForm:
        """The settings of the shown experiment; the form before it may still be there."""
        return self.page.findChildren(ParamsForm)[-1]

    @property
    def views(self) -> ViewsPanel:
        return found(self.page, ViewsPanel)

    @property
    def plots(self) -> list[Plot]:
        """Every plot of the shown experiment, also those that are left out."""
        return self.views.plots

    @property
    def drawing(self) -> QTimer:
        """The timer at whose turns plots are drawn; active while one is out of date."""
        return drawing_of(self.page)

    def pass_second(self) -> None:
        """Let the page do what it does once a second."""
        (each_second,) = [
            each for each in self.page.findChildren(QTimer) if each.interval() == SECOND_MS
        ]
        each_second.timeout.emit()

    def set_up(self, params: object) -> None:
        """Turn the settings as a person does."""
        self.form.show_params(params, {})
        self.form.changed.emit()

    def know_machine(self) -> None:
        """Let the machine be known, and what every experiment starts from on it."""
        here = machine()
        self.session.machine = here
        self.session.machine_changed.emit()
        self.use_entries(entries())

    def use_entries(self, known: dict[str, Entry]) -> None:
        """Let the session know what experiments start from."""
        self.session.entries = known
        self.session.entries_changed.emit()

    def keep(self, *made: Made) -> list[Path]:
        """Put runs into the library, and let the session know them."""
        paths = [
            each.write(self.folder / "data" / "runs" / f"{each.run}.coreopsis.jsonl")
            for each in made
        ]
        self.use_runs()
        return paths

    def use_runs(self) -> None:
        """Let the session know the runs of the library."""
        self.session.runs = self.session.library.runs()
        self.session.runs_changed.emit()

    def _remember(self, changes: dict[str, object]) -> None:
        self.session.settings = self.session.settings.replace(**changes)

    def close(self) -> None:
        self.page.leave()
        self.session.background.close()
        self.page.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def found(parent: QObject, kind: type[Found]) -> Found:
    """Return the first child of a kind, which must be there."""
    child = parent.findChild(kind)
    assert child is not None
    return child


def drawing_of(page: ExperimentPage) -> QTimer:
    """Return the timer at whose turns plots are drawn; active while one is out of date."""
    return found(found(page, Drawing), QTimer)


@functools.cache
def entries() -> dict[str, Entry]:
    """Return what every experiment starts from on the machine that is not this one."""
    return suited(Catalogue(), machine(), {})


def settle(holds: Callable[[], bool]) -> None:
    """Let events, timers and the background have their turns until something holds."""

    def holds_now() -> bool:
        QApplication.processEvents()
        return holds()

    assert until(holds_now)


def live_s(seconds: float) -> None:
    """Let events, timers and the background have their turns for a while."""
    end_s = time.monotonic() + seconds
    settle(lambda: time.monotonic() >= end_s)


def events(made: Made, share: float = 1.0) -> list[messages.Event]:
    """Return the first share of what a run says, with progress between."""
    whole = [messages.decode_event(line) for line in made.lines]
    if share == 1.0:
        return whole
    some = whole[: 1 + round((len(whole) - 2) * share)]
    return [*some, messages.Progress(fraction=share, left_s=4.2)]
