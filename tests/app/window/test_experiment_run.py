"""The page with the real engine: one run to its end, and one stopped."""

from __future__ import annotations

import time

import pytest

from app.window.experiment.standing import State
from app.window.places.experiment import ExperimentPage
from experiments.engine import messages as wire

PATIENCE_MS = 60_000


@pytest.fixture
def page(qtbot, session):
    page = ExperimentPage(session)
    page.resize(1200, 700)
    page.show()
    page.arrive()
    page.open("burst-random")
    session.wake()
    qtbot.waitUntil(lambda: page._actions.run.isEnabled(), timeout=PATIENCE_MS)
    yield page
    page.leave()
    page.close()


def test_a_quick_run_is_measured_kept_and_can_be_replayed(qtbot, session, page):
    page._actions.quick.trigger()
    with qtbot.waitSignal(page.showing.ended, timeout=PATIENCE_MS):
        pass

    finished = page.showing.following.finished
    assert finished.outcome is wire.Outcome.COMPLETED
    assert page.showing.values == finished.finding.values
    qtbot.waitUntil(lambda: page._actions.replay.isEnabled(), timeout=PATIENCE_MS)
    assert [run.experiment for run in session.runs] == ["burst-random"]
    qtbot.waitUntil(lambda: not page._drawing._timer.isActive())


def test_a_run_is_stopped_in_a_moment_and_keeps_its_rows(qtbot, page):
    page._actions.run.trigger()
    qtbot.waitUntil(lambda: page.showing.following.rows > 2, timeout=PATIENCE_MS)
    asked_s = time.monotonic()
    with qtbot.waitSignal(page.showing.ended, timeout=PATIENCE_MS):
        page._actions.stop.trigger()

    assert time.monotonic() - asked_s < 5.0  # the budget of 0.25 s is watched by the bench
    assert page.showing.following.finished.outcome is wire.Outcome.STOPPED
    assert page.showing.state is State.ENDED
    assert page.showing.following.rows > 2
