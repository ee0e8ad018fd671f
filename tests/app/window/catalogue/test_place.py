from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.runs.selection import expected_s, last_run
from app.window.catalogue.card_data import best_run
from app.window.catalogue.place import ExperimentsPlace
from app.window.core.availability import Entry
from app.window.core.background import Background
from app.window.core.target import EXPERIMENTS, Target
from experiments.core.declare import Need
from experiments.core.problems import Problem
from experiments.engine import messages
from tests.app.recordings import burst, ladder, threads
from tests.experiments.machines import machine
from widgets.catalogue.card import Card
from widgets.catalogue.card_data import State
from widgets.catalogue.catalogue import Catalogue
from widgets.controls.basics import column


class Page(QWidget):
    """The part of an experiment's page that the place uses."""

    back = Signal()
    lecture_wanted = Signal(object)
    told = None

    def __init__(self, session):
        super().__init__()
        self.done: list[object] = []
        self.button = QPushButton("Run")
        self.setLayout(column(self.button))
        self.action = QAction("Run", self)

    def open(self, experiment_id, *, then=""):
        self.done.append(experiment_id)
        self.button.setFocus()

    def open_run(self, path, beside=None, *, then=""):
        self.done.append((path, beside))

    def arrive(self):
        self.done.append("arrive")

    def leave(self):
        self.done.append("leave")

    def own_actions(self):
        return (self.action,)

    def as_item(self):
        return None

    def status(self):
        return "of the page"


class Runner(QObject):
    began, moved, ended = Signal(), Signal(), Signal()
    is_running = False
    run_state = None
    not_kept = None

    def close(self):
        pass


@pytest.fixture
def awake(session, monkeypatch):
    """Return a session that seems to be awake: it knows its machine, and starts nothing."""
    module = SimpleNamespace(ExperimentPage=Page)
    monkeypatch.setitem(sys.modules, "app.window.experiment.place", module)
    session.background, session.runner = Background(), Runner()
    session.watcher = SimpleNamespace(close=lambda: None)
    session.machine = machine()
    know(session)
    return session


def know(session, **needs):
    session.entries = {
        experiment.id: Entry(
            experiment=experiment,
            params=experiment.params(),
            quick_params=experiment.params(),
            seconds=12.0,
            need=needs.get(experiment.id.replace("-", "_")),
            choices={},
        )
        for experiment in session.catalogue
    }
    session.entries_changed.emit()


def keep(session, *made) -> list[Path]:
    folder = session.library.folder / "runs"
    paths = [run.write(folder / f"{run.run[:8]}.coreopsis.jsonl") for run in made]
    session.runs = session.library.runs()
    session.runs_changed.emit()
    return paths


@pytest.fixture
def place(awake, qtbot):
    place = ExperimentsPlace(awake)
    qtbot.addWidget(place)
    awake.went.connect(place.open)
    place.resize(1276, 800)
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    place.arrive()
    return place


def card(place, name) -> Card:
    return next(each for each in place.findChildren(Card) if each.data.id == name)


def page(place) -> Page:
    return place.findChild(Page)


# --- cards --------------------------------------------------------------------------------------


def test_before_the_machine_is_known_cards_have_neither_time_nor_state(session, qtbot):
    place = ExperimentsPlace(session)
    qtbot.addWidget(place)
    place.arrive()

    cards = [each.data for each in place.findChildren(Card)]
    assert [data.id for data in cards] == list(session.catalogue.ids())
    assert {data.state for data in cards} == {State.UNKNOWN}
    assert {data.seconds for data in cards} == {None}
    assert place.status() == ""


def runnable(place):
    return sum(entry.need is None for entry in place.session.entries.values())


def test_what_was_not_measured_is_new_and_says_its_topic_and_time(place, awake):
    data = card(place, "gil-threads").data
    entry = awake.entries["gil-threads"]

    assert (data.state, data.seconds) == (State.NEW, entry.experiment.seconds(entry.params))
    assert data.note == "Threads, processes and the interpreter lock"
    assert not data.sketch.is_measured
    assert place.status() == f"0 of {runnable(place)} runnable here are measured"


def test_what_is_a_lesson_is_marked(place):
    marked = {each.data.id for each in place.findChildren(Card) if each.data.is_lesson}

    homes = place.session.catalogue.homes
    assert marked == {name for name, home in homes.items() if home.has_lesson}
    assert {"race", "clinic"} <= marked < homes.keys()


def test_follow_ups_stand_on_the_shelf_of_their_lesson_and_tools_are_marked(place):
    cards = {each.data.id: each.data for each in place.findChildren(Card)}
    homes = place.session.catalogue.homes

    assert {name: data.follows for name, data in cards.items()} == {
        name: home.follows for name, home in homes.items()
    }
    for data in cards.values():
        if data.follows:
            assert data.shelf == cards[data.follows].shelf
            assert data.lesson == cards[data.follows].question
    assert {name for name, data in cards.items() if data.is_tool} == {"gpu-or-not"}


def test_a_machine_from_a_file_is_not_offered_to_be_measured(place, awake, monkeypatch):
    monkeypatch.setattr(type(awake.context), "has_fake_machine", property(lambda _: True))
    keep(awake, ladder())
    cards = [each.data for each in place.findChildren(Card)]

    assert {each.state for each in cards} == {State.FROM_FILE}
    assert {each.seconds for each in cards} == {None}
    assert not any(each.runs_here or each.is_measured for each in cards)
    assert place.status() == awake.words.say("catalogue.status_from_file")
    told = {label.text() for label in place.findChildren(QLabel)}
    assert not any("measured" in text and text[:1].isdigit() for text in told)


def test_what_was_measured_says_its_result_and_shows_its_own_marks(place, awake, qtbot):
    keep(awake, ladder())
    data = card(place, "cache-ladder").data

    assert data.state is State.MEASURED
    assert data.note.startswith("memory is ")
    assert data.note.endswith(
        "× as far as L1 · Points per doubling 2 · Rounds 3"
    )  # not the usual setting
    qtbot.waitUntil(lambda: card(place, "cache-ladder").data.sketch.is_measured)
    assert place.status() == f"1 of {runnable(place)} runnable here are measured"


def test_sketches_that_come_together_are_shown_together(place, awake, qtbot, monkeypatch):
    waiting, shown = [], []
    monkeypatch.setattr(awake.background, "do", lambda *work: waiting.append(work))
    catalogue = place.findChild(Catalogue)
    show_cards = catalogue.show_cards
    monkeypatch.setattr(catalogue, "show_cards", lambda cards: shown.append(show_cards(cards)))
    keep(awake, burst(), ladder(), threads())

    for read, then in waiting:
        then(read())
    names = ("burst-random", "cache-ladder", "gil-threads")
    qtbot.waitUntil(lambda: all(card(place, name).data.sketch.is_measured for name in names))
    assert len(shown) == 2  # with the runs, and with the sketches


def test_a_full_run_counts_before_a_newer_quick_one_as_on_the_map(place, awake):
    def quick(started):
        return msgspec.structs.replace(started, quick=True)

    keep(awake, ladder(), ladder(2.0, at="2026-06-04T03:02:01+00:00", change=quick))

    full, newer = sorted(awake.runs, key=lambda run: run.quick)
    assert newer.at > full.at
    assert best_run(awake.runs, "cache-ladder", awake.machine) is full


def test_a_quick_run_is_expected_to_be_as_much_shorter_as_a_full_one_was(awake):
    def quick(started):
        return msgspec.structs.replace(started, quick=True)

    entry = awake.entries["burst-random"]
    seconds = entry.experiment.seconds
    params = entry.experiment.reduced(entry.params)

    keep(awake, burst(at="2026-06-04T03:02:01+00:00"))
    (full,) = awake.runs
    pace = full.taken_s / seconds(msgspec.structs.replace(entry.params, **full.params))
    expected = expected_s(awake.runs, awake.machine, entry.experiment, params, quick=True)
    assert expected == pytest.approx(seconds(params) * pace)

    keep(awake, burst(noise=(1.0,), change=quick))
    own = next(run for run in awake.runs if run.quick)
    own_pace = own.taken_s / seconds(msgspec.structs.replace(entry.params, **own.params))
    assert own_pace != pytest.approx(pace)
    expected = expected_s(awake.runs, awake.machine, entry.experiment, params, quick=True)
    assert expected == pytest.approx(seconds(params) * own_pace)


def test_a_card_says_how_long_such_a_run_took_the_last_time(place, awake):
    entry = awake.entries["burst-random"]
    seconds = entry.experiment.seconds
    assert card(place, "burst-random").data.seconds == seconds(entry.params)

    keep(awake, burst())
    (run,) = awake.runs
    params = msgspec.structs.replace(entry.params, **run.params)
    slower = run.taken_s / seconds(params)
    expected_s = pytest.approx(seconds(entry.params) * slower)
    assert card(place, "burst-random").data.seconds == expected_s

    awake.entries = {
        **awake.entries,
        entry.experiment.id: dataclasses.replace(entry, params=params),
    }
    awake.entries_changed.emit()
    assert card(place, "burst-random").data.seconds == run.taken_s

    def with_others(started):
        return msgspec.structs.replace(started, params=started.params | {"rounds": 2})

    keep(awake, burst(at="2026-06-04T03:02:01+00:00", change=with_others))
    assert card(place, "burst-random").data.seconds == run.taken_s


def test_a_result_that_lacks_a_value_is_not_told(place, awake):
    keep(awake, threads())  # without processes
    data = card(place, "gil-threads").data

    assert data.state is State.MEASURED
    assert data.note == "Threads, processes and the interpreter lock"


def test_runs_of_another_machine_with_the_same_processor_do_not_count(place, awake):
    keep(awake, ladder(here=msgspec.structs.replace(machine(), fingerprint="another")))

    assert card(place, "cache-ladder").data.state is State.NEW
    assert last_run(awake.runs, "cache-ladder", awake.machine) is None


@pytest.mark.parametrize("outcome", ["stopped", "killed", "lost", "failed"])
def test_a_run_that_did_not_end_well_is_partial_until_one_does(place, awake, outcome):
    keep(awake, burst(outcome=outcome, at="2026-05-05T00:00:00+00:00"))
    assert card(place, "burst-random").data.state is State.PARTIAL

    keep(awake, burst())
    assert card(place, "burst-random").data.state is State.MEASURED


def test_a_run_that_was_stopped_before_it_could_say_anything_has_not_failed(place, awake):
    whole = burst(outcome="stopped")
    last = messages.encode(messages.Finished(outcome=messages.Outcome.STOPPED))
    keep(awake, msgspec.structs.replace(whole, lines=(*whole.lines[:-1], last)))

    assert card(place, "burst-random").data.state is State.PARTIAL


@pytest.mark.parametrize("state", [State.RECORDED, State.NOT_HERE])
def test_what_cannot_run_here_says_why_and_whether_a_recording_shows_it(
    place, awake, monkeypatch, state
):
    if state is State.NOT_HERE:
        monkeypatch.setattr(type(awake.catalogue), "recording", lambda *_: None)
    know(awake, gil_threads=Need.TWO_GPUS)
    data = card(place, "gil-threads").data

    assert data.state is state
    assert not data.runs_here
    assert data.note == "This needs two GPUs."
    assert data.seconds is None  # no run, so no time that it takes


def test_the_experiment_that_runs_says_how_far_it_is(place, awake):
    experiment = awake.catalogue.load("cache-ladder")
    progress = SimpleNamespace(fraction=0.0)
    awake.runner.run_state = SimpleNamespace(experiment=experiment, progress=progress)
    awake.runner.is_running = True
    awake.runner.began.emit()
    running = card(place, "cache-ladder")
    assert "running, 0 %" in running.accessibleDescription()
    assert running.data.state is State.RUNNING

    progress.fraction = 0.4
    awake.runner.moved.emit()
    assert running.accessibleDescription().startswith("running, 40 %")
    awake.runner.is_running = False
    awake.runner.ended.emit()
    assert running.data.state is State.NEW


def test_a_run_that_cannot_be_read_leaves_the_card_as_it_is(place, awake, qtbot):
    path = keep(awake, ladder())[0]
    qtbot.waitUntil(lambda: card(place, "cache-ladder").data.sketch.is_measured)
    troubles = []
    awake.background.troubled.connect(troubles.append)
    (other,) = (burst().write(path.with_name("burst.coreopsis.jsonl")),)
    awake.runs = awake.library.runs()
    other.unlink()
    awake.runs_changed.emit()
    done = []
    awake.background.do(lambda: None, done.append)
    qtbot.waitUntil(lambda: bool(done))

    assert not card(place, "burst-random").data.sketch.is_measured
    assert troubles == []


# --- to the page and back -----------------------------------------------------------------------


def test_a_card_opens_its_page_and_back_is_the_card_again(place, qtbot):
    opened = card(place, "burst-random")
    opened.setFocus()
    QTest.keyClick(opened, Qt.Key.Key_Return)
    assert page(place).done == ["arrive", "burst-random"]
    assert not place.is_in_catalogue
    assert place.status() == "of the page"

    assert place.go_back()
    assert place.is_in_catalogue
    assert opened.hasFocus()
    assert page(place).done[-1] == "leave"


def test_there_is_no_way_back_within_the_place_from_the_catalogue(place):
    assert not place.go_back()


def test_the_page_is_made_once_and_leads_back_itself(place):
    place.open(Target(EXPERIMENTS, experiment="gil-threads"))
    first = page(place)
    first.back.emit()
    assert place.is_in_catalogue
    assert card(place, "gil-threads").hasFocus()
    place.open(Target(EXPERIMENTS, experiment="cache-ladder"))

    assert place.findChildren(Page) == [first]
    assert first.done == ["arrive", "gil-threads", "leave", "arrive", "cache-ladder"]


def test_a_run_is_opened_as_it_was_beside_another(place, awake):
    path, other = keep(awake, ladder(), ladder(1.1))
    place.open(Target(EXPERIMENTS, run=path, beside=other))
    assert page(place).done == ["arrive", (path, other)]

    place.go_back()
    assert card(place, "cache-ladder").hasFocus()


def test_without_a_wish_what_was_opened_by_its_card_stays(place):
    def come_again():
        place.leave()
        place.arrive()
        place.open(Target(EXPERIMENTS))

    come_again()
    assert place.is_in_catalogue
    card(place, "gil-threads").click()
    come_again()
    come_again()

    assert not place.is_in_catalogue
    assert page(place).done == ["arrive", "gil-threads", *("leave", "arrive") * 2]


def test_a_page_opened_from_elsewhere_gives_way_to_the_catalogue_unless_something_runs(
    place, awake
):
    card(place, "gil-threads").click()
    place.open(Target(EXPERIMENTS, experiment="cache-ladder"))
    place.leave()
    awake.runner.is_running = True
    place.arrive()
    place.open(Target(EXPERIMENTS))
    assert not place.is_in_catalogue

    place.leave()
    awake.runner.is_running = False
    place.arrive()
    place.open(Target(EXPERIMENTS))
    assert place.is_in_catalogue
    assert card(place, "cache-ladder").hasFocus()


def test_actions_are_those_of_what_is_shown(place):
    names = [action.text() for action in place.own_actions()]
    general = ["Search", "Surprise me", "Show all"]
    assert names == [*general, "Add to lecture", "Begin lecture"]
    place.open(Target(EXPERIMENTS, experiment="gil-threads"))
    run, back = place.own_actions()
    assert (run.text(), back.text()) == ("Run", "All experiments")

    back.trigger()
    assert place.is_in_catalogue


def test_nothing_is_drawn_anew_while_nobody_sees_it(place, awake):
    place.leave()
    keep(awake, ladder())
    assert card(place, "cache-ladder").data.state is State.NEW

    place.arrive()
    assert card(place, "cache-ladder").data.state is State.MEASURED


def test_numpy_is_not_loaded_for_the_catalogue():
    import subprocess

    code = "import sys; import app.window.catalogue.place; print('numpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"


def test_a_run_that_could_not_be_kept_is_told_unless_its_page_says_so(qtbot, place, awake):
    lost, told = Problem("run_not_kept", {"reason": "disk full"}), []
    awake.troubled.connect(told.append)
    awake.runner.not_kept = lost

    awake.runner.ended.emit()  # the catalogue is seen
    qtbot.waitUntil(lambda: told == [lost])

    place.open(Target(EXPERIMENTS, experiment="burst-random"))
    place._page.told = lost  # noqa: SLF001  (a stub)
    awake.runner.ended.emit()
    qtbot.wait(20)
    assert told == [lost]

    place.leave()
    awake.runner.ended.emit()
    qtbot.waitUntil(lambda: told == [lost, lost])
