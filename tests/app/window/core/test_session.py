from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3

import pytest

from app.context import Context
from app.window.core import watcher
from app.window.core.session import Session
from app.window.core.settings import Settings
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from machine.model import to_json
from tests.app.recordings import crossover
from tests.experiments.machines import machine
from tests.processes import POSIX_ONLY


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
        assert 0 < entry.experiment.seconds(entry.quick_params) < entry.seconds
    qtbot.waitUntil(lambda: len(samples) > 1)
    assert samples[-1].threads[0]["busy"] is not None
    with qtbot.waitSignal(session.machine_changed, timeout=20_000):
        session.watcher.inspect()


def test_what_a_run_earned_is_what_the_next_experiment_starts_from(qtbot, session):
    def starts_from():
        return session.entries and session.entries["gpu-or-not"].params.cpu_flop_per_s

    session.wake()
    qtbot.waitUntil(lambda: starts_from() == 0, timeout=20_000)

    crossover(7e10, here=session.machine).write(
        session.library.folder / "runs" / "one.coreopsis.jsonl"
    )
    session.refresh_runs()

    qtbot.waitUntil(lambda: starts_from() == 7e10, timeout=20_000)


def test_an_index_that_is_locked_is_told(qtbot, session):
    session.library.check_writable()
    session.library.runs()
    with contextlib.closing(sqlite3.connect(session.library.folder / "index.sqlite3")) as other:
        other.execute("BEGIN EXCLUSIVE")
        with qtbot.waitSignal(session.troubled, timeout=20_000) as told:
            session.wake()

    assert told.args[0].key == "index_locked"


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


@POSIX_ONLY
def test_a_worker_that_dies_is_replaced_without_a_word(qtbot, session, monkeypatch):
    monkeypatch.setattr(watcher, "PAUSE_MS", 1)
    told = []
    session.noticed.connect(lambda *said: told.append(said))
    session.troubled.connect(told.append)
    with qtbot.waitSignal(session.sampled, timeout=20_000):
        session.wake()
    first = session.watcher.pid

    os.kill(session.watcher.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: session.watcher.pid not in (first, None), timeout=20_000)
    with qtbot.waitSignal(session.sampled, timeout=20_000):
        pass

    assert told == []


def test_a_watch_that_dies_again_and_again_is_told_once_and_can_be_begun_anew(
    qtbot, session, monkeypatch
):
    class Dying(watcher.Worker):
        """It is killed as soon as it is there."""

        def __init__(self, **how) -> None:
            super().__init__(**how)
            self._process.kill()

    monkeypatch.setattr(watcher, "PAUSE_MS", 1)
    working = watcher.Worker
    monkeypatch.setattr(watcher, "Worker", Dying)
    told = []
    session.noticed.connect(lambda *said: told.append(said))

    session.wake()
    with qtbot.waitSignal(session.watcher.ended, timeout=20_000):
        pass

    ((text, button, act),) = told
    assert text == session.words.say("frame.unwatched")
    assert button == session.words.say("frame.watch_again")
    monkeypatch.setattr(watcher, "Worker", working)
    with qtbot.waitSignals([session.sampled, session.machine_changed], timeout=20_000):
        act()


def test_a_machine_that_cannot_be_read_is_told_and_the_watch_goes_on(qtbot, session, monkeypatch):
    monkeypatch.setattr(watcher, "PAUSE_MS", 1)
    problem = messages.ProblemSent(key="experiment_raised", values={"error": "OSError: no"})
    with qtbot.waitSignal(session.sampled, timeout=20_000):
        session.wake()
    session.watcher._is_inspected = False  # noqa: SLF001  (a worker that fails)

    with qtbot.waitSignal(session.troubled) as told:
        failed = messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)
        session.watcher._take(failed)  # noqa: SLF001  (what it would send)
    assert told.args[0].key == "machine_not_read"
    assert "OSError: no" in session.say(told.args[0])

    with qtbot.waitSignal(session.sampled, timeout=20_000):
        pass


def test_no_room_for_another_process_is_told_too(qtbot, session, monkeypatch):
    def fail(**_how):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(watcher, "PAUSE_MS", 1)
    monkeypatch.setattr(watcher, "Worker", fail)

    session.wake()
    with qtbot.waitSignal(session.watcher.ended, timeout=20_000):
        pass


@POSIX_ONLY
def test_closing_in_the_pause_before_another_worker_leaves_nothing(qtbot, session):
    with qtbot.waitSignal(session.sampled, timeout=20_000):
        session.wake()
    os.kill(session.watcher.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: session.watcher.pid is None)

    session.close()
    qtbot.wait(50)

    assert session.watcher.pid is None


@pytest.mark.parametrize("moment", ["woke", "sampled", "machine_changed", "runs_changed"])
def test_it_can_be_closed_at_any_moment(qtbot, session, moment):
    """See tests/conftest.py: no process and no thread may be left."""
    with qtbot.waitSignal(getattr(session, moment), timeout=20_000):
        session.wake()
    later = []
    for changed in (session.entries_changed, session.runs_changed, session.sampled):
        changed.connect(lambda *_: later.append(moment))

    session.close()
    qtbot.wait(50)

    assert later == []
