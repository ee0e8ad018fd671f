from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app import end_process
from app.window.live.end_requests import EndRequests
from experiments.presentation.load.gpu_processes import GpuProcess, Right
from widgets.sheets.question import Question

PLAIN = "import time; print(flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {PLAIN}"


@pytest.fixture
def parent(qtbot, session):
    from PySide6.QtWidgets import QWidget

    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(900, 600)
    with qtbot.waitExposed(parent):
        parent.show()
    return parent


@pytest.fixture
def told(session) -> list[str]:
    told: list[str] = []
    session.noticed.connect(lambda text, *_: told.append(text))
    return told


@pytest.fixture
def endings(session, parent) -> EndRequests:
    return EndRequests(session, parent)


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


def process_of(pid: int, **changed) -> GpuProcess:
    process = psutil.Process(pid)
    known = {
        "gpu": 1,
        "pid": pid,
        "memory_bytes": 600 * 2**20,
        "user": process.username(),
        "age_s": time.time() - process.create_time(),
        "command": "python train.py",
    }
    return GpuProcess(**{**known, **changed})


def question(parent) -> Question:
    return parent.findChildren(Question)[-1]


def test_a_process_ends_only_after_the_question(endings, parent, child, told):
    started = child(PLAIN)
    holding = process_of(started.pid)
    assert endings.right_to(holding) is Right.ASK

    endings.ask(holding)

    asked = question(parent)
    assert "python train.py is process" in asked.accessibleDescription()
    assert "600.0 MiB of GPU 1" in asked.accessibleDescription()
    assert asked.buttons["leave"].hasFocus()
    assert started.poll() is None
    asked.buttons["end"].click()
    assert started.wait(10) == -signal.SIGTERM
    assert told == [f"Process {started.pid} was asked to end."]


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_whoever_does_not_choose_leaves_it_running(endings, parent, child, told, key):
    started = child(PLAIN)
    endings.ask(process_of(started.pid))

    QTest.keyClick(question(parent).buttons["leave"], key)

    assert started.poll() is None
    assert told == []


def test_what_runs_on_can_be_ended_by_force_after_another_question(endings, parent, child, told):
    started = child(STUBBORN)
    holding = process_of(started.pid)
    endings.ask(holding)
    question(parent).buttons["end"].click()
    assert endings.right_to(holding) is Right.FORCE

    endings.ask(holding)

    assert "runs on" in question(parent).accessibleDescription()
    question(parent).buttons["end"].click()
    assert started.wait(10) == -signal.SIGKILL
    assert told[-1] == f"Process {started.pid} was ended by force."
    assert endings.right_to(holding) is Right.ASK  # another that gets its number is another


def test_a_number_that_belongs_to_another_process_is_left_alone(endings, parent, child, told):
    started = child(PLAIN)

    endings.ask(process_of(started.pid, age_s=90_000.0))

    assert parent.findChildren(Question) == []
    assert "is another process now" in told[0]
    assert started.poll() is None


def test_one_that_ended_meanwhile_is_told_so(endings, parent, child, told):
    started = child(PLAIN)
    endings.ask(process_of(started.pid))
    started.kill()
    started.wait()

    question(parent).buttons["end"].click()

    assert told == [f"Process {started.pid} had ended already."]


def test_those_of_others_this_program_and_what_is_hidden_cannot_be_ended(
    endings, child, monkeypatch
):
    monkeypatch.setattr(end_process, "is_root", lambda: False)
    started = child(PLAIN)
    own = psutil.Process()

    assert endings.right_to(process_of(started.pid, user="somebody else")) is Right.OTHERS
    assert endings.right_to(process_of(own.pid)) is Right.OWN
    monkeypatch.setattr(end_process, "has_gone", lambda pid: False)
    assert endings.right_to(process_of(started.pid, user=None)) is Right.HIDDEN
    monkeypatch.setattr(end_process, "has_gone", lambda pid: True)
    assert endings.right_to(process_of(started.pid, user=None)) is Right.GONE
