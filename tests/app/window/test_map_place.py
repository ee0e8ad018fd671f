from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.window.background import Background
from app.window.entries import Entry
from app.window.places.map import MapPlace
from app.window.target import EXPERIMENTS, MAP, Target
from experiments.declare import Need, Part
from experiments.engine import messages as wire
from tests.app.recordings import ladder
from tests.widgets.map.machines import small
from widgets.map.boxes import Kind


@pytest.fixture
def awake(session):
    """Return a session that seems to be awake: it knows its machine, and starts nothing."""
    session.background = Background()
    session.runner = SimpleNamespace(is_running=False, close=lambda: None)
    session.watcher = SimpleNamespace(close=lambda: None)
    session.machine = small()
    return session


def know(session, **needs):
    session.entries = {
        experiment.id: Entry(
            experiment=experiment,
            params=None,
            quick_params=None,
            seconds=12.0,
            quick_seconds=3.0,
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
    return wire.Sample(
        t_s=1.0,
        threads=[{"id": int(name[1:]), "busy": share} for name, share in busy.items()],
        memory={},
        disks=[],
        network=[],
        gpus=[],
        missing=[],
    )


def numbers(place):
    return place.page._soft.text()


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
    qtbot.waitUntil(lambda: not place.page.start.isHidden(), timeout=5000)
    made = ladder(here=replace(small(), fingerprint="small"))
    made.write(awake.library.folder / "runs" / "a.coreopsis.jsonl")

    awake.refresh_runs()

    qtbot.waitUntil(lambda: "4 of" in numbers(place), timeout=5000)
    assert place.page.start.isHidden()
    assert Part.L1 in place.page.map._state.values


def test_runs_of_another_machine_are_no_numbers_of_this_one(qtbot, awake):
    made = ladder(here=replace(small(), fingerprint="another"))
    made.write(awake.library.folder / "runs" / "a.coreopsis.jsonl")
    place = place_of(qtbot, awake)

    awake.refresh_runs()

    qtbot.waitUntil(lambda: "0 of" in numbers(place), timeout=5000)


def test_an_experiment_is_gone_to(qtbot, awake):
    place = place_of(qtbot, awake)
    went = []
    awake.went.connect(went.append)

    place.page.experiment_wanted.emit("cache-ladder")

    assert [(target.place, target.experiment) for target in went] == [(EXPERIMENTS, "cache-ladder")]


def test_what_cannot_run_here_is_nowhere_to_start(qtbot, awake):
    place = place_of(qtbot, awake)

    know(awake, cache_ladder=Need.NUMBA, burst_random=Need.NUMBA)

    qtbot.waitUntil(lambda: not place.page.start.isHidden(), timeout=5000)
    wanted = []
    place.page.experiment_wanted.connect(wanted.append)
    place.page.start.button.click()
    assert wanted == ["gil-threads"]


def test_load_is_shown_while_the_place_is_seen(qtbot, awake):
    place = place_of(qtbot, awake)

    awake.sampled.emit(sample(t0=1.0, t1=None))
    assert place.page.map._state.busy == {}
    place.arrive()
    awake.sampled.emit(sample(t0=1.0, t1=None))
    assert place.page.map._state.busy[0] is not None
    assert place.page.map._state.busy[1] is None
    place.leave()
    awake.sampled.emit(sample(t0=0.0, t1=0.0))
    assert place.page.map._state.busy[1] is None


def test_the_keys_go_to_the_map(qtbot, awake):
    place = place_of(qtbot, awake)
    place.activateWindow()

    place.open(Target(MAP))

    qtbot.waitUntil(place.page.map.hasFocus, timeout=2000)


def test_layers_are_switched_by_actions_too(qtbot, awake):
    place = place_of(qtbot, awake)
    measured, live, fit, *_ = place.own_actions()

    measured.trigger()
    live.trigger()
    fit.trigger()

    assert not place.page.measured.isChecked()
    assert not place.page.map._state.shows_load


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
