"""One measurement at a time: who waits, for whom, and what if the lock cannot be had."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from app.end_process import is_root
from experiments.engine import lock, messages
from experiments.engine.lock import FOLDER_VARIABLE, UNKNOWN, Lock, lock_path, one_at_a_time
from experiments.engine.messages import Outcome
from tests.experiments.engine.runs import as_nobody, ending, hear, start

ME = {"experiment": "mine", "since": "12:00:00"}
OTHER = {"experiment": "theirs", "since": "11:00:00"}


class GaveUp(Exception):
    """Raised in place of waiting any longer."""


def waiting_for(path: Path, attempts: int = 3) -> list[object]:
    """Return the holders that are waited for, in `attempts` attempts."""
    told: list[object] = []
    left = iter(range(attempts))

    def check_stop() -> None:
        if next(left, None) is None:
            raise GaveUp

    with (
        pytest.raises(GaveUp),
        one_at_a_time(ME, waiting=told.append, check_stop=check_stop, path=path),
    ):
        pass
    return told


def test_the_second_run_names_the_first_waits_and_then_runs(engine):
    first = start(engine, "takes_its_time", rows=10**6)
    order: list[str] = []
    heard: list[messages.Event] = []

    def second() -> None:
        for event in start(engine).events():
            heard.append(event)
            order.append(f"second {type(event).__name__}")
            first.stop()  # it has run for as long as the second takes to speak

    thread = threading.Thread(target=second)
    for event in first.events():
        order.append(f"first {type(event).__name__}")
        if isinstance(event, messages.Started):
            thread.start()
    thread.join()
    (note,) = (event for event in heard if isinstance(event, messages.Note) and "wait" in event.key)
    assert note.key == "waiting_for_machine"
    assert note.values["experiment"] == "misbehave"
    assert note.values["since"]
    assert ending(heard) == (Outcome.COMPLETED, None)
    assert order.index("second Note") < order.index("first Finished")
    assert order.index("first Finished") < order.index("second Started")


def test_a_run_that_cannot_lock_says_so_and_goes_on(engine, monkeypatch, tmp_path):
    for folder in (tmp_path / "missing", tmp_path / "file"):
        (tmp_path / "file").touch()
        monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
        events = hear(start(engine))
        notes = [event.key for event in events if isinstance(event, messages.Note)]
        assert notes[0] == "lock_unavailable"
        assert ending(events) == (Outcome.COMPLETED, None)


def test_a_waiting_run_is_not_silent(engine, tmp_path):
    other = Lock(lock_path())
    assert other.take(OTHER)
    letting_go = threading.Timer(1.5, other.close)
    run = start(engine, impatient=True)
    events = hear(run, {messages.Note: letting_go.start})
    letting_go.join()
    assert ending(events) == (Outcome.COMPLETED, None)


def test_one_is_told_once_for_whom_one_waits(tmp_path):
    path = tmp_path / "lock"
    holder = Lock(path)
    assert holder.take(OTHER)
    assert waiting_for(path, attempts=5) == [OTHER]
    holder.close()


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"[" * 4096,
        b'{"experiment": NaN}',
        b'{"experiment": "\\ud800"}',
        b'{"experiment": ["a"]}',
        b'["a"]',
        b"\xff\0",
        b'{"experiment": "' + b"x" * 5000 + b'"}',
    ],
)
def test_whatever_stands_in_the_file_one_waits_and_says_so(written, tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE_S", 0.1)
    path = tmp_path / "lock"
    holder = Lock(path)
    assert holder.take(OTHER)
    path.write_bytes(written)
    assert waiting_for(path) == [UNKNOWN]
    holder.close()
    with one_at_a_time(ME, waiting=pytest.fail, check_stop=pytest.fail, path=path):
        assert json.loads(path.read_bytes()) == ME


def test_a_holder_that_cannot_write_its_name_holds_all_the_same(tmp_path, monkeypatch):
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    holder, other = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    assert holder.take(ME)
    assert not other.take(ME)
    holder.close()
    other.close()


def test_the_file_is_open_to_all_users_whatever_the_umask(tmp_path):
    before = os.umask(0o077)
    Lock(tmp_path / "lock").close()
    os.umask(before)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o666


def test_a_file_of_another_user_is_never_asked_to_be_created(tmp_path, monkeypatch):
    """In a sticky folder Linux refuses O_CREAT on it (fs.protected_regular)."""
    path = tmp_path / "lock"
    path.touch()
    real = os.open

    def protected(name: Path, flags: int, *more: int) -> int:
        if flags & os.O_CREAT and Path(name).exists():
            raise PermissionError(13, "Permission denied")
        return real(name, flags, *more)

    monkeypatch.setattr(os, "open", protected)
    first, second = Lock(path), Lock(path)
    assert first.take(ME)
    assert not second.take(ME)
    first.close()
    assert second.take(ME)
    second.close()


@pytest.mark.skipif(not is_root(), reason="only root can become another user")
def test_another_user_shares_the_lock():
    def refused() -> bool:
        with pytest.raises(PermissionError):
            Lock(path)
        return True

    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # pytest's own is for its user alone
        os.chmod(folder, 0o1777)
        path = Path(folder, "lock")
        mine = Lock(path)
        assert mine.take(ME)
        assert as_nobody(lambda: Lock(path).holder() == ME and not Lock(path).take(OTHER))
        mine.close()
        assert as_nobody(lambda: Lock(path).take(OTHER))
        path.chmod(0o600)
        assert as_nobody(refused)


@pytest.mark.skipif(sys.platform != "linux", reason="there are no names without a file here")
@pytest.mark.parametrize("again", [False, True], ids=["removed", "made anew"])
def test_a_file_that_is_removed_during_a_run_lets_no_second_one_measure(again, tmp_path):
    path = tmp_path / "lock"
    holder = Lock(path)
    assert holder.take(ME)
    waiting = Lock(path)  # it has opened the file that is then removed
    path.unlink()
    if again:
        path.touch()
    late = Lock(path)
    assert not waiting.take(OTHER)
    assert not late.take(OTHER)
    holder.close()
    assert waiting.take(OTHER)
    assert not late.take(ME)
    waiting.close()
    assert late.take(ME)
    late.close()


def test_the_lock_is_that_of_the_file_in_its_place(tmp_path):
    path = tmp_path / "lock"
    first = Lock(path)
    path.unlink()
    assert first.take(ME)
    assert json.loads(path.read_bytes()) == ME
    first.close()


@pytest.mark.skipif(sys.platform != "linux", reason="nobody tells that a process is stopped here")
def test_a_run_that_waits_for_a_stopped_one_says_so(engine):
    first = start(engine, "takes_its_time", rows=10**6)
    events = first.events()
    while not isinstance(next(events), messages.Started):
        pass
    second, told = start(engine), []
    worker = first._worker.pid  # noqa: SLF001  (what it started is the subject)
    os.kill(worker, signal.SIGSTOP)
    for event in second.events():
        told += [event.key] if isinstance(event, messages.Note) else []
        if told[-1:] == ["waiting_for_stopped"]:
            assert event.values["stopped"] == str(worker)
            os.kill(worker, signal.SIGCONT)
        if told[-1:] == ["waiting_for_machine"]:  # it goes on, so it is no longer told as stopped
            first.stop()
    assert "waiting_for_stopped" in told
    assert ending([event]) == (Outcome.COMPLETED, None)
    assert ending(list(events)) == (Outcome.STOPPED, None)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        Lock(tmp_path / "lock")
    assert (tmp_path / "precious").read_text() == "keep me"


def test_a_file_system_without_locks_is_not_waited_for(tmp_path, monkeypatch):
    import fcntl

    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with (
        pytest.raises(OSError, match="not supported"),
        one_at_a_time(ME, waiting=pytest.fail, check_stop=pytest.fail, path=tmp_path / "lock"),
    ):
        pass
