from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel

from app.window.core.availability import Entry
from app.window.core.background import Background
from app.window.core.target import EXPERIMENTS, MAP, Target
from app.window.map.place import MapPlace
from experiments.core.declare import Need, Part
from experiments.engine import messages
from machine.devices import Gpu
from machine.inspect import portable
from machine.model import from_json
from tests.app.recordings import ladder, threads
from tests.widgets.map.machines import small
from widgets.map.layout.boxes import Kind


@pytest.fixture
def awake(session):
    """Return a session that seems to be awake: it knows its machine, and starts nothing."""
    session.background = Background()
    session.runner = SimpleNamespace(is_running=False, close=lambda: None)
    session.watcher = SimpleNamespace(close=lambda: None, player=None)
    session.machine = small()
    return session


def know(session, **needs):
    session.entries = {
        experiment.id: Entry(
            experiment=experiment,
            params=None,
            quick_params=None,
            seconds=12.0,
            need=needs.get(experiment.id.replace("-", "_")),
            choices={},
        )
        for experiment in session.catalogue
    }
    session.entries_changed.emit()


def place_of(qtbot, session):
    place = MapPlace(session)
    qtbot.addWidget(place)
    place.resize(1360, 830)
    place.show()
    return place


def sample(**busy):
    return messages.Sample(
        t_s=1.0,
        threads=[{"id": int(name[1:]), "busy": share} for name, share in busy.items()],
        memory={},
        disks=[],
        network=[],
        gpus=[],
        missing=[],
    )


def numbers(place) -> str:
    return "\n".join(label.text() for label in place.page.findChildren(QLabel))


def state(place):
    return place.page.map._state  # noqa: SLF001  (painted, in no label)


def ages(place) -> QTimer:
    (timer,) = place.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return timer


def test_the_map_waits_for_the_machine(qtbot, session):
    place = place_of(qtbot, session)
    before = place.page.map.boxes

    session.machine = small()
    session.machine_changed.emit()

    assert before == ()
    assert any(box.kind is Kind.PACKAGE for box in place.page.map.boxes)


def test_numbers_of_this_machine_come_from_its_runs(qtbot, awake):
    place = place_of(qtbot, awake)
    know(awake)
    qtbot.waitUntil(lambda: not place.page.start.isHidden())
    made = ladder(here=replace(small(), fingerprint="small"))
    made.write(awake.library.folder / "runs" / "a.coreopsis.jsonl")

    awake.refresh_runs()

    qtbot.waitUntil(lambda: "4 of" in numbers(place))
    assert place.page.start.isHidden()
    assert Part.L1 in state(place).values


def test_how_long_ago_a_number_was_measured_is_told_anew(qtbot, awake, monkeypatch):
    place = place_of(qtbot, awake)
    know(awake)
    ladder(here=replace(small(), fingerprint="small")).write(
        awake.library.folder / "runs" / "a.coreopsis.jsonl"
    )
    awake.refresh_runs()
    qtbot.waitUntil(lambda: "4 of" in numbers(place))

    def told():
        return state(place).values[Part.L1][0].when

    monkeypatch.setattr("app.runs.known_values.when", lambda *_: "an hour ago")
    assert told() != "an hour ago"
    place.leave()
    place.arrive()
    qtbot.waitUntil(lambda: told() == "an hour ago")

    monkeypatch.setattr("app.runs.known_values.when", lambda *_: "two hours ago")
    assert ages(place).isActive()
    ages(place).timeout.emit()
    qtbot.waitUntil(lambda: told() == "two hours ago")
    place.leave()
    assert not ages(place).isActive()


def test_runs_of_another_machine_are_no_numbers_of_this_one(qtbot, awake):
    made = ladder(here=replace(small(), fingerprint="another"))
    made.write(awake.library.folder / "runs" / "a.coreopsis.jsonl")
    place = place_of(qtbot, awake)

    awake.refresh_runs()

    qtbot.waitUntil(lambda: "0 of" in numbers(place))


def test_an_experiment_is_gone_to(qtbot, awake):
    place = place_of(qtbot, awake)
    went = []
    awake.went.connect(went.append)

    place.page.experiment_wanted.emit("cache-ladder")

    assert [(target.place, target.experiment) for target in went] == [(EXPERIMENTS, "cache-ladder")]


def test_what_cannot_run_here_is_nowhere_to_start(qtbot, awake):
    place = place_of(qtbot, awake)

    know(awake, cache_ladder=Need.NUMBA, burst_random=Need.NUMBA)

    qtbot.waitUntil(lambda: not place.page.start.isHidden())
    wanted = []
    place.page.experiment_wanted.connect(wanted.append)
    place.page.start.button.click()
    assert wanted == [
        next(
            entry.experiment.id
            for entry in awake.entries.values()
            if entry.need is None and entry.experiment.is_in_tour
        )
    ]


def test_a_machine_without_runs_asks_for_a_first_guess(qtbot, awake):
    place = place_of(qtbot, awake)
    went = []
    awake.went.connect(went.append)

    know(awake)
    qtbot.waitUntil(place.page.start.isVisible)
    place.page.start.button.click()

    assert awake.words.say("map.first_guess") in numbers(place)
    assert [(target.place, target.experiment) for target in went] == [(EXPERIMENTS, "cache-ladder")]


def test_any_run_of_this_machine_ends_the_first_guess(qtbot, awake):
    place = place_of(qtbot, awake)
    know(awake)
    qtbot.waitUntil(place.page.start.isVisible)
    here = replace(small(), fingerprint="small")
    threads(here=here).write(awake.library.folder / "runs" / "a.coreopsis.jsonl")

    awake.refresh_runs()

    qtbot.waitUntil(place.page.start.isHidden)
    assert "0 of" in numbers(place)  # it measured nothing that the map shows


def test_a_machine_from_a_file_asks_for_no_number(qtbot, awake, monkeypatch):
    place = place_of(qtbot, awake)
    know(awake)
    qtbot.waitUntil(lambda: place.page.start.isVisible() and bool(state(place).asked))
    monkeypatch.setattr(type(awake.context), "has_fake_machine", property(lambda _: True))

    awake.refresh_runs()

    qtbot.waitUntil(place.page.start.isHidden)
    assert not state(place).asked
    assert "0 of" not in numbers(place)


def test_the_first_guess_is_closed_for_good(qtbot, awake):
    place = place_of(qtbot, awake)
    awake.remembered.connect(
        lambda changes: setattr(awake, "settings", awake.settings.replace(**changes))
    )
    know(awake)
    qtbot.waitUntil(place.page.start.isVisible)

    place.page.start.close_button.click()
    assert place.page.start.isHidden()
    know(awake)
    again = place_of(qtbot, awake)
    again.arrive()
    qtbot.waitUntil(lambda: "0 of" in numbers(again))

    assert again.page.start.isHidden()
    again.leave()


def test_load_is_shown_while_the_place_is_seen(qtbot, awake):
    place = place_of(qtbot, awake)

    awake.sampled.emit(sample(t0=1.0, t1=None))
    assert state(place).busy == {}
    place.arrive()
    awake.sampled.emit(sample(t0=1.0, t1=None))
    assert state(place).busy[0] is not None
    assert state(place).busy[1] is None
    place.leave()
    awake.sampled.emit(sample(t0=0.0, t1=0.0))
    assert state(place).busy[1] is None


def test_the_keys_go_to_the_map(qtbot, awake):
    place = place_of(qtbot, awake)
    place.activateWindow()

    place.open(Target(MAP))

    qtbot.waitUntil(place.page.map.hasFocus)


def test_layers_are_switched_by_actions_too(qtbot, awake):
    place = place_of(qtbot, awake)
    measured, live, fit, *_ = place.own_actions()

    measured.trigger()
    live.trigger()
    fit.trigger()

    assert not place.page.measured.isChecked()
    assert not state(place).shows_load


def test_the_map_is_saved_where_a_person_chooses(qtbot, awake, tmp_path):
    place = place_of(qtbot, awake)
    told = []
    awake.noticed.connect(lambda text, *_: told.append(text))
    place.saving.choose_new = lambda suggestion: tmp_path / suggestion

    actions = {action.text(): action for action in place.own_actions()}
    actions["Map: save as PNG…"].trigger()
    actions["Map: save as SVG…"].trigger()

    assert {path.name for path in tmp_path.iterdir()} == {"machine-map.png", "machine-map.svg"}
    assert len(told) == 2


def test_a_picture_of_a_made_up_machine_says_so(qtbot, awake, monkeypatch):
    place = place_of(qtbot, awake)
    model = awake.machine.cpu.model

    def caption() -> str:
        return place.page.map.caption()

    assert caption() == model
    monkeypatch.setattr(type(awake.context), "has_fake_machine", property(lambda _: True))
    assert caption() == f"{model}, from a file"
    recorded = SimpleNamespace(machine=None, is_made_up=True, at="")
    awake.watcher.player = SimpleNamespace(recorded=recorded)
    assert caption() == f"MADE UP · {model} · nothing was measured"


def test_a_caption_is_seen_in_the_picture(qtbot, awake):
    place = place_of(qtbot, awake)

    def rows_at_the_foot() -> set[int]:
        picture = place.page.map.whole().picture().convertToFormat(QImage.Format.Format_RGB32)
        foot = range(picture.height() - 40, picture.height())
        return {picture.pixel(x, y) for y in foot for x in range(48, 300)}

    place.page.map.caption = str
    assert len(rows_at_the_foot()) == 1  # nothing but the ground
    place.page.map.caption = lambda: "a machine"
    assert len(rows_at_the_foot()) > 1


def test_the_machine_is_saved_as_inspect_saves_it(qtbot, awake, tmp_path):
    awake.machine = replace(awake.machine, gpus=(Gpu(index=0, uuid="GPU-secret"),))
    place = place_of(qtbot, awake)
    place.saving.choose_new = lambda suggestion: tmp_path / suggestion

    action(place, "Map: save machine as JSON…").trigger()

    text = (tmp_path / "machine.json").read_text(encoding="utf-8")
    assert from_json(json.loads(text)) == portable(awake.machine)
    assert "secret" not in text


def test_this_machine_is_looked_at_anew_and_it_is_told_when_that_is_done(qtbot, awake):
    class Watcher(QObject):
        inspected = Signal(object)
        player, asked = None, 0

        def inspect(self) -> None:
            self.asked += 1

        def close(self) -> None:
            pass

    awake.watcher, told = Watcher(), []
    awake.noticed.connect(lambda text, *_: told.append(text))
    place = place_of(qtbot, awake)

    action(place, "Map: read this machine again").trigger()
    assert (awake.watcher.asked, told) == (1, [])
    awake.watcher.inspected.emit({})
    awake.watcher.inspected.emit({})  # of another time

    assert told == ["This machine was read again."]


def test_a_machine_from_a_file_is_not_looked_at_anew(qtbot, awake, monkeypatch):
    monkeypatch.setattr(type(awake.context), "has_fake_machine", property(lambda _: True))

    assert "Map: read this machine again" not in {
        each.text() for each in place_of(qtbot, awake).own_actions()
    }


def action(place, text):
    return next(each for each in place.own_actions() if each.text() == text)
