from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel

from app.window.core.background import Background
from app.window.core.other_load import SAMPLES
from app.window.shell.status import TEXT_EVERY_MS, Status
from tests.widgets.map.machines import small
from tests.widgets.map.samples import sample
from widgets.frame.status_line import StatusLine


@pytest.fixture
def line(qtbot, session):
    made = StatusLine(session.words)
    qtbot.addWidget(made)
    return made


@pytest.fixture
def said(session, line):
    """Return what stands in the line after these threads were busy, one number a sample."""
    session.background = Background()
    session.runner = SimpleNamespace(is_running=False, run_state=None, close=lambda: None)
    (texts,) = [
        timer
        for timer in Status(session, line).findChildren(QTimer)
        if timer.interval() == TEXT_EVERY_MS
    ]

    def say(*busy: float) -> list[str]:
        for share in busy:
            look = sample(small())
            look.threads[:] = [{"id": 0, "busy": share}, {"id": 1, "busy": 0.0}]
            session.sampled.emit(look)
        texts.timeout.emit()
        return [label.text() for label in line.findChildren(QLabel) if label.text()]

    yield say
    session.background.close()
    del session.background  # it was never awake


def test_a_load_that_stays_is_told_and_passing_work_is_not(said):
    assert said(*[0.02] * SAMPLES) == ["quiet"]
    assert said(0.9, 0.8) == ["quiet"]
    told = ["0.9 threads busy with other programs: results may be off"]
    assert said(*[0.8] * SAMPLES, 0.9) == told  # what Live shows at this moment
    assert said(0.02) == ["quiet"]


def test_what_counts_as_quiet_stands_where_one_points_at_it(said, line):
    said(*[0.02] * SAMPLES)
    (load,) = (label for label in line.findChildren(QLabel) if label.text() == "quiet")
    load.grab()  # its tip comes with its words

    assert "25 % of a hardware thread" in load.toolTip()


def test_what_this_program_examines_is_no_other_programs_load(qtbot, said, session):
    assert said(*[0.02] * SAMPLES) == ["quiet"]
    goes_on = threading.Event()
    session.background.do_long(lambda _stop: goes_on.wait(10), lambda _result: None)

    assert said(*[0.9] * SAMPLES) == ["quiet"]

    goes_on.set()
    qtbot.waitUntil(lambda: not session.background.is_at_long_work)
    assert said(*[0.9] * SAMPLES) != ["quiet"]


def test_the_known_load_is_told_from_what_others_do(said, session, monkeypatch):
    monkeypatch.setattr(session, "known_load", SimpleNamespace(count=1))

    assert said(*[0.9] * SAMPLES) == ["0.9 threads busy, 1 by the known load; measuring ends it"]
    assert said(0.02) == ["quiet"]
