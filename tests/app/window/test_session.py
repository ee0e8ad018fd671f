from __future__ import annotations

import json

from app.context import Context
from app.window.session import Session
from app.window.settings import Settings
from experiments.catalogue import Catalogue
from machine.model import to_json
from tests.experiments.machines import machine


def test_a_session_that_was_made_has_started_nothing(session):
    assert not session.is_awake
    assert session.machine is None


def test_it_reads_the_machine_suits_the_experiments_and_samples_the_load(qtbot, session):
    samples = []
    session.sampled.connect(samples.append)

    with qtbot.waitSignals([session.machine_changed, session.entries_changed], timeout=20_000):
        session.wake()

    assert session.machine.cpu.threads
    assert list(session.entries) == list(Catalogue().ids())
    for entry in session.entries.values():
        assert 0 < entry.quick_seconds < entry.seconds
    qtbot.waitUntil(lambda: len(samples) > 1)
    assert samples[-1].threads[0]["busy"] is not None


def test_a_fake_machine_is_shown_and_nothing_is_watched(qtbot, look, tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(to_json(machine(cores=12))))
    session = Session(Context(data=tmp_path, fake_machine=file), look, Settings())

    with qtbot.waitSignal(session.machine_changed):
        session.wake()

    assert session.machine.cpu.cores == 12
    assert session.watcher.pid is None
    session.close()


def test_a_fake_machine_that_cannot_be_read_is_told(qtbot, look, tmp_path):
    session = Session(Context(data=tmp_path, fake_machine=tmp_path / "no"), look, Settings())

    with qtbot.waitSignal(session.troubled) as told:
        session.wake()

    assert told.args[0].key == "machine_unreadable"
    session.close()


def test_a_watch_that_ends_by_itself_is_told(qtbot, session):
    with qtbot.waitSignal(session.sampled):
        session.wake()
    with qtbot.waitSignal(session.troubled) as told:
        session.watcher._worker._process.kill()

    assert told.args[0].key == "watch_ended"
