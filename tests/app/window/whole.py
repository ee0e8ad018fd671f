"""The whole window with everything in it, in every state, and no process: runs are made up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.context import Context
from app.lecture.file import SUFFIX
from app.lecture.lectures import SHIPPED
from app.runs.library import Kept
from app.runs.owner_note import Told, retold
from app.window.catalogue.place import ExperimentsPlace
from app.window.core.background import Background
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.core.target import EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.doctor.sheet import Doctor
from app.window.experiment.place import ExperimentPage
from app.window.guess.guesses import Guesses
from app.window.live.place import LivePlace
from app.window.runs.place import RunsPlace
from app.window.shell.window import Window
from experiments.core.teaching.lesson_run import Guess
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import Question
from machine.doctor.diagnosis import Diagnosis, diagnose
from machine.live import recorded_watch
from tests.app.recordings import Made, burst, ladder, threads
from tests.app.window.checkup import states as checkup
from tests.app.window.stage import FakeRunner, drawing_of, entries, events, settle
from tests.experiments.machines import machine
from tests.gallery.live_samples import samples
from tests.machine.doctor.made import nvidia, unproven
from widgets.controls.fold import Fold
from widgets.lesson.steps import Step
from widgets.runs.collage_page import CollagePage
from widgets.style.look import Look

Found = TypeVar("Found", bound=QWidget)


class FakeWatcher(QObject):
    """The window's view of a watcher; nothing is watched."""

    ended = Signal()
    pid = player = None

    def set_rate(self, hz: float) -> None:
        pass

    def close(self) -> None:
        pass


class Whole:
    """A window whose session is awake, though nothing runs."""

    def __init__(self, look: Look, folder: Path) -> None:
        self.folder, self.state = folder, ""
        # Where they are changed, the look is worn anew as they say.
        settings = Settings(mode=look.theme.mode, zoom=look.theme.zoom, numbers=True)
        self.session = Session(Context(data=folder / "data"), look, settings)
        self.window = Window(self.session)
        self.window.resize(1280, 720)
        self.window.furnish()
        self.window.show()
        self.window.activateWindow()
        assert QTest.qWaitForWindowActive(self.window)
        self.session.background = Background()
        self.session.background.troubled.connect(self.session.troubled)
        self.runner = FakeRunner()
        self.session.watcher = FakeWatcher()  # type: ignore[assignment]
        self.session.runner = self.runner  # type: ignore[assignment]
        self.runner.ended.connect(self.session.refresh_runs)
        self.session.woke.emit()
        self.session.machine = machine()
        self.session.machine_changed.emit()
        self.session.entries = entries()
        self.session.entries_changed.emit()

    @property
    def words(self) -> Words:
        return self.session.words

    @property
    def page(self) -> ExperimentPage:
        """The page of an experiment, which has been gone to."""
        return self.find(ExperimentPage)

    @property
    def guesses(self) -> Guesses:
        """The round of ten guesses."""
        return self.window.actions_here.guesses

    def find(self, kind: type[Found]) -> Found:
        """Return the first widget of a kind in the shown place, or the place itself."""
        place = self.window.place
        found = place if isinstance(place, kind) else place.findChild(kind)
        assert found is not None
        return found

    def keep(self, *made: Made) -> list[Path]:
        """Put runs into the library, and let the session know them."""
        paths = [
            each.write(self.folder / "data" / "runs" / f"{each.run}.coreopsis.jsonl")
            for each in made
        ]
        self.use_runs(self.session.library.runs())
        self.rest()
        return paths

    def use_runs(self, runs: list[Kept]) -> None:
        """Let the session know these runs."""
        self.session.runs = runs
        self.session.runs_changed.emit()

    def do(self, key: str) -> None:
        """Do what the action with these words does."""
        text = self.words.say(key)
        for _, actions in self.window.actions_here.groups():
            for action in actions:
                if action.text() == text and action.isEnabled():
                    action.trigger()
                    return
        raise LookupError(key)

    def rest(self) -> None:
        """Let everything be read and drawn."""
        for _ in range(3):  # what is read may lead to more reading
            done: list[object] = []
            self.session.background.do(lambda: None, done.append)
            settle(partial(bool, done))
        page = self.window.place.findChild(ExperimentPage)
        settle(lambda: page is None or not drawing_of(page).isActive())
        for _ in range(20):  # one layout asks for another
            QCoreApplication.processEvents()

    def close(self) -> None:
        self.window.place.leave()  # or its timers would outlive it
        self.window.hide()
        self.session.close()
        self.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()


def show_map(whole: Whole) -> None:
    whole.window.go(Target(MAP))


def show_map_measured(whole: Whole) -> None:
    whole.keep(ladder())
    whole.window.go(Target(MAP, part="cores"))


def show_live(whole: Whole) -> None:
    whole.window.go(Target(LIVE))
    for sample in samples(4, seconds=20):
        whole.session.sampled.emit(
            messages.Sample(
                t_s=sample.t_s, threads=sample.threads, memory=sample.memory, disks=[],
                network=[], gpus=[], missing=sample.missing,
            )
        )  # fmt: skip


def show_live_recorded(whole: Whole) -> None:
    show_live(whole)
    path = whole.folder / "minute.coreopsis-watch.jsonl"
    recorded_watch.write(
        path,
        [
            {**{name: getattr(sample, name) for name in sample.__slots__},
             "threads": [dict(thread) for thread in sample.threads]}
            for sample in samples(4, seconds=20, gpus="pair")
        ],
        at="2026-05-03T03:02:01+00:00",
        machine=whole.session.machine,
        marks_s=[10.0],
    )  # fmt: skip
    whole.find(LivePlace).show_recording(recorded_watch.read(path))


def show_explanation(whole: Whole) -> None:
    show_live(whole)
    whole.do("live.explain")


def show_catalogue(whole: Whole) -> None:
    whole.window.go(Target(EXPERIMENTS))


def show_catalogue_measured(whole: Whole) -> None:
    whole.keep(burst(), threads())
    show_catalogue(whole)


def show_catalogue_nothing_found(whole: Whole) -> None:
    show_catalogue(whole)
    whole.find(QLineEdit).setText("nothing such")


def show_playlist(whole: Whole) -> None:
    show_catalogue(whole)
    whole.do("playlist.lecture")
    whole.find(ExperimentsPlace).playlist.open(next(SHIPPED.glob(f"*{SUFFIX}")))


def show_playlist_empty(whole: Whole) -> None:
    show_catalogue(whole)
    whole.do("playlist.lecture")


def show_page_empty(whole: Whole) -> None:
    whole.window.go(Target(EXPERIMENTS, experiment="burst-random"))


def show_page_of_code(whole: Whole) -> None:
    whole.window.go(Target(EXPERIMENTS, experiment="clinic"))


def show_page_of_many_settings(whole: Whole) -> None:
    whole.window.go(Target(EXPERIMENTS, experiment="gil-threads"))


def show_page_running(whole: Whole) -> None:
    show_page_empty(whole)
    whole.do("page.run")
    whole.runner.hear(*events(burst(), 0.55))


def show_page_elsewhere(whole: Whole) -> None:
    show_page_running(whole)
    whole.window.go(Target(EXPERIMENTS, experiment="cache-ladder"))


def show_page_done(whole: Whole) -> None:
    show_page_empty(whole)
    whole.do("page.run")
    made = burst()
    whole.keep(made)
    whole.runner.hear(*events(made))


def show_page_unfolded(whole: Whole) -> None:
    show_page_recorded(whole)
    whole.rest()
    for fold in whole.page.findChildren(Fold):
        fold.head.setChecked(True)


def show_page_full_plot(whole: Whole) -> None:
    show_page_done(whole)
    whole.rest()
    whole.do("page.full_plot")


def show_page_failed(whole: Whole) -> None:
    show_page_running(whole)
    problem = messages.ProblemSent(
        key="experiment_raised", values={"error": "ValueError: on purpose"}, detail="Traceback"
    )
    whole.runner.hear(messages.Finished(outcome=messages.Outcome.FAILED, problem=problem))


def show_page_recorded(whole: Whole) -> None:
    path = threads().write(whole.folder / "elsewhere.coreopsis.jsonl")
    whole.window.go(Target(EXPERIMENTS, run=path))
    settle(lambda: whole.page.model.loaded is not None)


def show_page_replayed(whole: Whole) -> None:
    show_page_recorded(whole)
    whole.do("page.replay")
    player = whole.page.model.player
    assert player is not None
    player.pause()
    player.seek(player.total_s * 0.8)


def show_page_compared(whole: Whole) -> None:
    a, b = whole.keep(burst(), burst(1.7, at="2026-05-03T03:02:01+00:00"))
    whole.window.go(Target(EXPERIMENTS, run=a, beside=b))
    settle(lambda: whole.page.model.comparing.is_on and whole.page.model.loaded is not None)


def show_page_code(whole: Whole) -> None:
    show_page_empty(whole)
    whole.do("page.code")


def show_page_data(whole: Whole) -> None:
    show_page_done(whole)
    whole.do("page.data")


def show_lesson_question(whole: Whole) -> None:
    """The longest one: context, code and drawing."""
    whole.window.preferences.change(numbers=False)
    show_page_of_many_settings(whole)
    settle(lambda: whole.page.lesson.model.taught is not None)


def show_lesson_predict(whole: Whole) -> None:
    show_lesson_question(whole)
    whole.page.lesson.model.go(Step.PREDICT)


def show_lesson_observe(whole: Whole) -> None:
    show_lesson_predict(whole)
    whole.do("page.run")
    path = whole.session.catalogue.recording("gil-threads")
    assert path is not None
    recording = read(path)
    whole.runner.hear(recording.started, *recording.events, recording.finished)


def show_lesson_explain(whole: Whole) -> None:
    show_lesson_observe(whole)
    whole.page.lesson.model.observe()
    whole.page.lesson.model.go(Step.EXPLAIN)


def show_lesson_try(whole: Whole) -> None:
    show_lesson_explain(whole)
    whole.page.lesson.model.go(Step.TRY)


def show_lesson_try_points(whole: Whole) -> None:
    """With sliders that measure single points above the numbers."""
    whole.window.preferences.change(numbers=False)
    whole.window.go(Target(EXPERIMENTS, experiment="cache-ladder"))
    lesson = whole.page.lesson.model
    settle(lambda: lesson.taught is not None)
    whole.do("page.run")
    whole.runner.hear(*events(ladder()))
    lesson.observe()
    lesson.go(Step.TRY)


def show_report(whole: Whole) -> None:
    show_page_done(whole)
    whole.rest()
    whole.do("report.of_run")


def show_runs(whole: Whole) -> None:
    first, _, last = whole.keep(burst(), threads(), ladder(outcome="stopped"))
    kept = next(run for run in whole.session.runs if run.path == first)
    said = {"name": "Before", "note": "Warm", "tags": ["office"], "pinned": True}
    whole.session.library.describe(kept, msgspec.structs.replace(kept.run_notes, **said))
    whole.use_runs(whole.session.library.runs())
    whole.window.go(Target(RUNS, run=last))
    settle(lambda: bool(whole.find(RunsPlace).table.selected()))


def show_runs_several(whole: Whole) -> None:
    show_runs(whole)
    whole.find(RunsPlace).table.selectAll()


def show_runs_pairing(whole: Whole) -> None:
    whole.keep(ladder())
    show_runs(whole)
    whole.do("runs.compare_with")


def show_runs_deleted(whole: Whole) -> None:
    show_runs(whole)
    whole.do("runs.delete_runs")
    whole.rest()
    whole.do("runs.restore")
    whole.rest()


def show_runs_empty(whole: Whole) -> None:
    whole.use_runs([])
    whole.window.go(Target(RUNS))
    settle(lambda: whole.find(RunsPlace).page.is_empty)


def show_runs_nothing_found(whole: Whole) -> None:
    show_runs(whole)
    whole.find(RunsPlace).page.search.setText("nothing such")


def show_import_look(whole: Whole) -> None:
    whole.window.go(Target(RUNS))
    paths = [
        made.write(whole.folder / f"{made.run}.coreopsis.jsonl") for made in (burst(), ladder())
    ]
    (whole.folder / "torn.coreopsis.jsonl").write_bytes(b"{}\n")
    whole.find(RunsPlace).sheets.look_into([*paths, whole.folder / "torn.coreopsis.jsonl"])
    whole.rest()


def show_checkup_first(whole: Whole) -> None:
    checkup.first(whole)


def show_checkup_kept(whole: Whole) -> None:
    checkup.kept(whole)


def show_checkup_ended(whole: Whole) -> None:
    checkup.ended(whole)


def show_checkup_running(whole: Whole) -> None:
    checkup.running(whole)


def show_checkup_under_load(whole: Whole) -> None:
    checkup.under_load(whole)


def show_checkup_soak(whole: Whole) -> None:
    checkup.soak(whole)


def show_checkup_order(whole: Whole) -> None:
    checkup.order(whole)


def show_checkup_compared(whole: Whole) -> None:
    checkup.compared(whole)


def show_collage_empty(whole: Whole) -> None:
    whole.do("runs.collage_page")


def show_collage(whole: Whole) -> None:
    """Of two experiments, one of the files damaged."""
    show_collage_empty(whole)
    paths = []
    guesses = [("magnitude", at) for at in (2.0, 5.0, 30.0)] + [("choice", 2.0)]
    for number, (kind, at) in enumerate(guesses):
        made = burst(1.0 + number / 4) if kind == "magnitude" else threads()
        told = Told(guess=Guess(kind=kind, at=(at,)), name="Ana")  # type: ignore[arg-type]
        paths.append(whole.folder / f"{number}.coreopsis.jsonl")
        paths[-1].write_bytes(retold(made.data, told))
    stack = whole.find(RunsPlace).stack
    stack.show_collage([*paths, whole.folder])
    page = whole.find(CollagePage)
    settle(lambda: bool(page.plots))


def show_collage_table(whole: Whole) -> None:
    show_collage(whole)
    whole.find(CollagePage).turn.trigger()


def show_export_question(whole: Whole) -> None:
    show_runs(whole)
    whole.find(RunsPlace).table.selectAll()
    whole.do("runs.export_runs")


def show_palette(whole: Whole) -> None:
    whole.do("frame.find")


def show_keys(whole: Whole) -> None:
    whole.do("frame.keys")


def show_settings(whole: Whole) -> None:
    whole.do("frame.settings")


def show_about(whole: Whole) -> None:
    whole.do("frame.about")


class Unmeasured:
    """Measures nothing while a person thinks."""

    def begin(self, question: Question) -> None:
        pass

    def end(self) -> None:
        pass

    def close(self) -> None:
        pass


def show_guess_question(whole: Whole) -> None:
    whole.guesses.meanwhile = Unmeasured()  # type: ignore[assignment]
    whole.do("guess.title")


def show_guess_answer(whole: Whole) -> None:
    show_guess_question(whole)
    guesses = whole.guesses
    assert guesses.sheet is not None
    guesses.sheet.answered.emit(1e6)
    settle(lambda: guesses.round.shown is not None)


def show_guess_end(whole: Whole) -> None:
    show_guess_answer(whole)
    guesses = whole.guesses
    assert guesses.sheet is not None
    while not guesses.round.is_over:
        guesses.sheet.went_on.emit()
        if not guesses.round.is_over:
            guesses.sheet.answered.emit(1e6 if guesses.round.place == 4 else 1e-3)
            settle(lambda: guesses.round.shown is not None)


def show_doctor(whole: Whole) -> None:
    """With a link unfolded, and a place to type a path: as much as there can be."""
    doctor = Doctor(whole.session, whole.window)
    doctor.look = lambda python, stop: diagnose(unproven(nvidia()))
    doctor.find = tuple
    doctor.open()
    settle(doctor.page.copy_text.isEnabled)
    doctor.page.chooser.refuse("There is no such Python.")
    doctor.page.chain.links[0].line.click()


def show_doctor_examining(whole: Whole) -> None:
    doctor = Doctor(whole.session, whole.window)

    def look(_python: str, stop: threading.Event) -> Diagnosis:
        stop.wait()
        return diagnose(nvidia())

    doctor.look = look
    doctor.find = tuple
    doctor.open()


def show_closing_question(whole: Whole) -> None:
    show_page_running(whole)
    whole.window.close()


def show_notice(whole: Whole) -> None:
    whole.session.tell("The run was deleted.", "Undo", lambda: None)


STATES: dict[str, Callable[[Whole], None]] = {
    name.removeprefix("show_"): show
    for name, show in list(globals().items())
    if name.startswith("show_")
}
