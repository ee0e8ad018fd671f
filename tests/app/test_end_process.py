from __future__ import annotations

import getpass
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from app import end_process
from app.end_process import Ended, Process

PLAIN = "import time; print(flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {PLAIN}"


@pytest.fixture
def child():
    children = []

    def start(code: str) -> subprocess.Popen:
        started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        children.append(started)
        assert started.stdout is not None
        started.stdout.readline()
        return started

    yield start
    for each in children:
        each.kill()
        each.wait()
        each.stdout.close()


def age_s(pid: int) -> float:
    return time.time() - psutil.Process(pid).create_time()


def test_a_process_is_asked_to_end(child):
    started = child(PLAIN)
    process = end_process.identify(started.pid, age_s(started.pid))

    assert isinstance(process, Process)
    assert end_process.end(process) is Ended.ASKED
    assert started.wait(10) == -signal.SIGTERM
    assert not end_process.is_there(process)


def test_what_does_not_listen_is_ended_by_force_only_when_that_is_wanted(child):
    started = child(STUBBORN)
    process = end_process.identify(started.pid, age_s(started.pid))

    assert end_process.end(process) is Ended.ASKED
    assert end_process.is_there(process)
    assert started.poll() is None

    assert end_process.end(process, by_force=True) is Ended.ASKED
    assert started.wait(10) == -signal.SIGKILL


def test_another_process_with_the_same_number_is_left_alone(child):
    started = child(PLAIN)

    assert end_process.identify(started.pid, age_s(started.pid) + 3600) is Ended.OTHER
    earlier = Process(started.pid, psutil.Process(started.pid).create_time() - 3600)
    assert end_process.end(earlier, by_force=True) is Ended.OTHER
    assert not end_process.is_there(earlier)
    assert started.poll() is None


def test_what_has_ended_is_told_so(child):
    started = child("print(flush=True)")
    seen = Process(started.pid, psutil.Process(started.pid).create_time())
    started.wait(10)

    assert end_process.identify(started.pid, 1.0) is Ended.GONE
    assert end_process.end(seen) is Ended.GONE


def test_a_process_that_waits_to_be_buried_has_gone(child):
    started = child("print(flush=True)")
    psutil.Process(started.pid)  # it is there, though it has ended: nobody has waited for it
    deadline_s = time.monotonic() + 10
    while psutil.Process(started.pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline_s

    assert end_process.identify(started.pid, 0.1) is Ended.GONE


def test_one_may_end_what_is_ones_own(monkeypatch):
    monkeypatch.setattr(end_process, "is_root", lambda: False)

    assert end_process.may_end(end_process.own_name())
    assert end_process.own_name() == getpass.getuser()
    assert not end_process.may_end("somebody else")
    assert not end_process.may_end(None)


def test_root_may_end_all_that_is_known(monkeypatch):
    monkeypatch.setattr(end_process, "is_root", lambda: True)

    assert end_process.may_end("somebody else")
    assert not end_process.may_end(None)


def test_what_the_system_forbids_is_said(child, monkeypatch):
    started = child(PLAIN)
    process = end_process.identify(started.pid, age_s(started.pid))

    def refuse(_self):
        raise psutil.AccessDenied(started.pid)

    monkeypatch.setattr(psutil.Process, "terminate", refuse)
    assert end_process.end(process) is Ended.FORBIDDEN


def test_a_process_has_gone_only_where_every_process_can_be_seen(child, monkeypatch):
    started = child("print(flush=True)")
    started.wait(10)

    # Whether it does depends on who runs the tests.
    monkeypatch.setattr(end_process, "_sees_every_process", lambda: True)
    assert end_process.has_gone(started.pid) is (sys.platform == "linux")
    assert not end_process.has_gone(os.getpid())
    monkeypatch.setattr(end_process, "_sees_every_process", lambda: False)
    assert not end_process.has_gone(started.pid)
