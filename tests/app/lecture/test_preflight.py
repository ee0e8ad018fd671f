"""Every mark, with an experiment that misbehaves in the way that its settings name."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.lecture.fallbacks import Origin, StandIns
from app.lecture.file import Item, Lecture
from app.lecture.preflight import Mark, Preflight, Step, Work, disturbance_text
from app.runs.library import Kept
from app.runs.run_notes import RunNotes
from experiments.core import words
from experiments.core.declare import Need
from experiments.core.judging.trust import DOUBTS, doubt
from experiments.core.problems import UserError
from experiments.core.units import show
from experiments.engine import messages
from experiments.engine.jobs import Engine
from experiments.engine.lock import Lock
from experiments.engine.recording import read
from tests.app.recordings import CATALOGUE, burst
from tests.experiments.engine.conftest import token as token  # a fixture, used by each test
from tests.experiments.engine.runs import SHELVES, misbehave
from tests.experiments.machines import machine

ENGLISH = words.load()
SLOW = {"how": "takes_its_time", "rows": 20}
BEHAVES = Item(experiment="misbehave")
ENDLESS = Item(experiment="misbehave", set={"how": "takes_its_time", "rows": 10**6})


class Shelf:
    """A catalogue of the experiment `misbehave` alone, with these changes."""

    def __init__(self, shipped=None, **changes):
        self.experiment = misbehave(quiet_limit_s=0.5, **changes)
        self._shipped = shipped

    def load(self, name):
        if name != "misbehave":
            raise UserError("experiment_unknown", id=name)
        return self.experiment

    def recording(self, name):
        return self._shipped


@pytest.fixture
def check(tmp_path):
    """Return what checks a lecture of these items, and returns its events."""

    def run(*items, shelf=None, act=lambda preflight, event: None, quiet=True, **more):
        if quiet:  # whatever else runs on the machine of the tests
            more = {"disturbed": lambda notes: None} | more
        path, data = tmp_path / "x.coreopsis-lecture.toml", tmp_path / "data"
        runs = more.pop("runs", ())
        preflight = Preflight(
            Lecture(item=items),
            StandIns(path, data, shelf or Shelf(), runs, machine()),
            engine=Engine(shelves=SHELVES),
            **more,
        )
        events = []
        for event in preflight.events():
            events.append(event)
            act(preflight, event)
        return events

    return run


def test_a_guess_is_tried_with_the_settings_of_its_short_run(tmp_path):
    here, lecture = machine(), tmp_path / "x.coreopsis-lecture.toml"
    experiment = CATALOGUE.load("start-cost")
    items = Lecture(item=(Item(experiment="start-cost", guess="call"),))
    stand_ins = StandIns(lecture, tmp_path, CATALOGUE, (), here)
    preflight = Preflight(items, stand_ins, disturbed=lambda notes: None)

    *_, checked = preflight.events()

    assert (checked.mark, checked.fallback.origin) == (Mark.READY, Origin.SHIPPED)
    assert checked.seconds < experiment.seconds(experiment.params_for(here, quick=False))


@pytest.fixture(scope="module")
def once() -> list[bytes]:
    """Return what the first test that wants a recording has recorded."""
    return []


@pytest.fixture
def recorded(check, tmp_path, once):
    """Return a recording of the experiment as preflight makes it."""
    if not once:
        (*_, found) = check(BEHAVES)
        once.append(found.fallback.path.read_bytes())
        shutil.rmtree(found.fallback.path.parent)
    path = tmp_path / "kept.coreopsis.jsonl.gz"
    path.write_bytes(once[0])
    return path


def works(events) -> set[Work]:
    return {event.work for event in events if isinstance(event, Step)}


def test_an_item_that_runs_is_ready_and_recorded_once(check, tmp_path):
    *steps, found = check(BEHAVES)

    assert works(steps) == {Work.TRY, Work.RECORD}
    assert (found.place, found.mark, found.reason, found.is_well) == (0, Mark.READY, None, True)
    assert found.seconds >= 1.0  # what the experiment expects
    path = tmp_path / "x.recordings/misbehave.coreopsis.jsonl.gz"
    assert (found.fallback.origin, found.fallback.path) == (Origin.MADE, path)
    started = read(path).started
    assert started.quick
    assert read(path).notes == ()

    *steps, again = check(BEHAVES)
    assert works(steps) == {Work.TRY}
    assert again.fallback.started == started


def test_what_is_recorded_has_the_settings_of_its_item(check):
    wanted = [dict(rows=5), dict(rows=7), dict(rows=5)]
    events = check(*(Item(experiment="misbehave", set=each) for each in wanted))
    found = [event for event in events if not isinstance(event, Step)]

    assert [each.fallback.started.params["rows"] for each in found] == [5, 7, 5]
    assert found[0].fallback.path == found[2].fallback.path


FAILS = {
    "exits": "vanished",
    "crashes": "crashed",
    "is_killed": "ended_from_outside",
    "sleeps": "silent_too_long",
    "raises": "experiment_raised",
    "talks_garbage": "wire_broken",
    "unheard_of": "experiment_raised",
}


def test_a_worker_that_fails_is_a_result_and_the_next_item_is_tried(check, recorded):
    bad = [Item(experiment="misbehave", set={"how": how}) for how in FAILS]
    covered = Item(experiment="misbehave", set={"how": "exits"}, recording=recorded.name)
    good = Item(experiment="misbehave", recording=recorded.name)
    events = check(*bad, covered, good)
    *failed, second, third = (event for event in events if not isinstance(event, Step))

    assert {each.item.set["how"]: each.reason.key for each in failed} == FAILS
    for each in failed:
        assert (each.mark, each.seconds, each.fallback) == (Mark.NEITHER, None, None)
    assert (second.mark, second.reason.key) == (Mark.RECORDING, FAILS["exits"])
    assert (second.fallback.origin, second.fallback.has_settings) == (Origin.OWN, False)
    assert third.mark is Mark.READY


def test_a_run_that_never_ends_is_stopped_and_said_so(check):
    shelf = Shelf(seconds=lambda params: 0.01)
    (*_, found) = check(ENDLESS, shelf=shelf, patience_s=0.3)

    assert (found.mark, found.reason.key) == (Mark.NEITHER, "preflight_endless")


@pytest.mark.parametrize(
    ("seconds", "marks"),
    [(95.0, {None: Mark.LONG, 5.0: Mark.LONG}),
     (50.0, {None: Mark.READY, 0.5: Mark.LONG, 1.0: Mark.READY})],
)  # fmt: skip
def test_an_item_longer_than_a_minute_or_its_minutes_takes_long(check, recorded, seconds, marks):
    items = (Item(experiment="misbehave", minutes=each, recording=recorded.name) for each in marks)
    events = check(*items, shelf=Shelf(seconds=lambda params: seconds))
    found = [event for event in events if not isinstance(event, Step)]

    assert {each.item.minutes: each.mark for each in found} == marks
    assert {each.seconds for each in found} == {seconds}


def test_earlier_runs_on_this_machine_tell_the_time(check, recorded):
    params = {"how": "behaves", "rows": 3, "analysis": "works", "free_children": 0, "text": "",
              "device": "cpu"}  # fmt: skip
    run = Kept(
        run="r", path=Path("r"), experiment="misbehave", at="2026", quick=False,
        outcome="completed", machine="Test CPU", params=params, message="", values={}, notes=(),
        run_notes=RunNotes(), problem=None, taken_s=70.0, fingerprint="test",
    )  # fmt: skip
    (*_, found) = check(Item(experiment="misbehave", recording=recorded.name), runs=[run])

    assert (found.mark, found.seconds) == (Mark.LONG, 70.0)


def test_a_gpu_that_is_missing_leaves_the_recording(check, recorded):
    items = (BEHAVES, Item(experiment="misbehave", recording=recorded.name))
    neither, found = (
        event
        for event in check(*items, shelf=Shelf(needs=(Need.GPU,)))
        if not isinstance(event, Step)
    )

    assert (neither.mark, neither.reason.key) == (Mark.NEITHER, "needs_gpu")
    assert (found.mark, found.reason.key) == (Mark.RECORDING, "needs_gpu")


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (Item(experiment="nobody.knows"), "experiment_unknown"),
        (Item(experiment="misbehave", set={"rows": -1}), "parameter_too_small"),
        (Item(experiment="misbehave", set={"rows": "many"}), "parameters_unreadable"),
        (Item(experiment="misbehave", set={"colour": 1}), "parameter_unknown"),
    ],
)
def test_an_item_that_cannot_be_begun_says_why(check, item, reason):
    (*_, found) = check(item)

    assert (found.mark, found.reason.key) == (Mark.NEITHER, reason)


def test_declarations_that_raise_are_a_result(check):
    def raises(params):
        raise ZeroDivisionError

    (*_, found) = check(BEHAVES, shelf=Shelf(quick=raises))

    assert (found.mark, found.reason.key) == (Mark.NEITHER, "not_started")


# --- a machine that is busy ---------------------------------------------------------------------


def test_other_programs_leave_no_item_ready(check, recorded):
    burn = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    with subprocess.Popen([sys.executable, "-c", burn]) as busy:
        item = Item(experiment="misbehave", set={**SLOW, "rows": 8}, recording=recorded.name)
        *_, found = check(item, quiet=False)
        busy.kill()

    assert (found.mark, found.is_well) == (Mark.BUSY, False)
    assert found.disturbance.key == "machine_was_busy"
    assert found.disturbance.values["others_fraction"] > 0.1
    text = disturbance_text(ENGLISH, found.disturbance)
    assert show(round(found.disturbance.values["others_fraction"], 2), "fraction") in text
    assert "Close them" in text


@pytest.mark.parametrize("key", DOUBTS)
def test_the_rule_of_all_runs_decides(key):
    quiet = messages.Note(key="machine_was_quiet", values={})
    note = messages.Note(key=key, values={"others_fraction": 0.374, "stolen_fraction": 0.1})

    assert doubt([quiet]) is None
    assert doubt([quiet, note]) == note
    assert "{" not in disturbance_text(ENGLISH, note)


def test_what_is_too_long_or_cannot_run_is_told_first(check, recorded):
    note = messages.Note(key="machine_was_busy", values={"others_fraction": 0.4})
    long, fails = (
        event
        for event in check(
            Item(experiment="misbehave", minutes=0.01, recording=recorded.name),
            Item(experiment="misbehave", set={"how": "exits"}),
            disturbed=lambda notes: note,
        )
        if not isinstance(event, Step)
    )

    assert (long.mark, long.disturbance) == (Mark.LONG, note)
    assert (fails.mark, fails.disturbance) == (Mark.NEITHER, None)


# --- recordings that are not taken --------------------------------------------------------------


def damaged(path):
    path.write_bytes(path.read_bytes()[:-40])


def altered(path):
    data = gzip.decompress(path.read_bytes()).replace(b'"value":1.0', b'"value":1.5')
    path.write_bytes(gzip.compress(data))


def cut_short(path):
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))


def of_another_experiment(path):
    burst().write(path)


SPOILT = {
    "fallback_missing": lambda path: path.unlink(),
    "recording_damaged": damaged,
    "fallback_altered": altered,
    "fallback_cut_short": cut_short,
    "fallback_of_other": of_another_experiment,
    "recording_foreign": lambda path: path.write_text("none"),
}


def test_a_recording_that_cannot_stand_in_is_told_and_one_is_made(check, recorded):
    for fault, spoil in SPOILT.items():
        spoil(Path(shutil.copy(recorded, recorded.with_name(f"{fault}.coreopsis.jsonl.gz"))))
    items = (
        Item(experiment="misbehave", recording=f"{fault}.coreopsis.jsonl.gz") for fault in SPOILT
    )
    found = [event for event in check(*items) if not isinstance(event, Step)]

    assert [{origin: told.key for origin, told in each.faults.items()} for each in found] == [
        {Origin.OWN: fault} for fault in SPOILT
    ]
    assert {each.fallback.origin for each in found} == {Origin.MADE}
    assert {(each.mark, each.is_well) for each in found} == {(Mark.READY, False)}


def test_what_preflight_made_is_made_anew_where_it_is_damaged(check):
    (*_, found) = check(BEHAVES)
    damaged(found.fallback.path)
    *steps, again = check(BEHAVES)

    assert Work.RECORD in works(steps)
    assert again.is_well


def test_a_shipped_recording_suffices_unless_its_settings_are_others(check, recorded):
    shelf = Shelf(shipped=recorded)
    *steps, same = check(Item(experiment="misbehave", set={"rows": 3}), shelf=shelf)
    assert works(steps) == {Work.TRY}
    assert (same.fallback.origin, same.fallback.has_settings) == (Origin.SHIPPED, True)

    (*_, other) = check(Item(experiment="misbehave", set={"rows": 4}), shelf=shelf)
    assert other.fallback.origin is Origin.MADE

    dies = Item(experiment="misbehave", set={"how": "exits"})
    (*_, dead) = check(dies, shelf=shelf)
    assert (dead.mark, dead.fallback.origin) == (Mark.RECORDING, Origin.SHIPPED)


def test_where_nothing_can_be_written_beside_the_lecture_the_data_folder_has_it(check, tmp_path):
    (tmp_path / "x.recordings").write_text("in the way")
    (*_, found) = check(BEHAVES)
    assert found.fallback.path.parent == tmp_path / "data/lectures/x.recordings"
    assert check(BEHAVES)[-1].fallback == found.fallback


def test_a_recording_that_cannot_be_kept_is_told(check, tmp_path):
    (tmp_path / "x.recordings").write_text("in the way")
    (tmp_path / "data").write_text("in the way")
    (*_, found) = check(BEHAVES)

    assert (found.mark, found.fallback, found.is_well) == (Mark.READY, None, False)
    assert found.faults[Origin.MADE].key == "fallback_not_written"


# --- stopping and waiting -----------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, 2])  # before its run, and in it
def test_a_stop_ends_it_without_another_word(check, after):
    seen = []

    def stop(preflight, event):
        seen.append(event)
        if len(seen) == after:
            preflight.stop()
            preflight.stop()

    events = check(ENDLESS, ENDLESS, act=stop, patience_s=1e6)

    assert events
    assert all(isinstance(event, Step) and event.place == 0 for event in events)


def test_a_recording_that_was_stopped_is_not_kept(check, tmp_path):
    def stop(preflight, event):
        if event.work is Work.RECORD:
            preflight.stop()

    events = check(BEHAVES, act=stop)

    assert works(events) == {Work.TRY, Work.RECORD}
    assert not (tmp_path / "x.recordings").exists()


def test_a_stop_comes_from_another_thread_too(check):
    threads = []

    def stop(preflight, event):
        if not threads:
            threads.append(threading.Timer(0.5, preflight.stop))
            threads[0].start()

    events = check(ENDLESS, act=stop, patience_s=1e6)
    threads[0].join()

    assert all(isinstance(event, Step) for event in events)


def test_it_waits_for_another_measurement_and_says_for_which(check, tmp_path):
    lock = Lock(tmp_path / "coreopsis-measure.lock")
    assert lock.take({"experiment": "burst-random", "since": "12:34:56"})
    told = []

    def let_go(preflight, event):
        if isinstance(event, Step) and event.waits is not None and not told:
            told.append(event.waits.values["experiment"])
            lock.close()

    (*_, found) = check(BEHAVES, act=let_go, patience_s=0.0)

    assert told == ["burst-random"]
    assert found.mark is Mark.READY
