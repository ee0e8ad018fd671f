"""The page with the real engine: one run to its end, and one stopped."""

from __future__ import annotations

import pytest

from app.window.experiment.place import ExperimentPage
from app.window.experiment.status_text import State
from experiments.engine import messages as wire


@pytest.fixture
def page(qtbot, session):
    page = ExperimentPage(session)
    page.resize(1200, 700)
    page.show()
    page.arrive()
    page.open("burst-random")
    session.wake()
    qtbot.waitUntil(lambda: page._actions.run.isEnabled())
    yield page
    page.leave()
    page.close()


def test_a_quick_run_is_measured_kept_and_can_be_replayed(qtbot, session, page):
    page._actions.quick.trigger()
    with qtbot.waitSignal(page.showing.ended):
        pass

    finished = page.showing.following.finished
    assert finished.outcome is wire.Outcome.COMPLETED
    assert "random_s" in page.showing.values
    # On a busy machine the rounds may leave a ratio unclear, and an unclear one draws no limit.
    assert page.showing.values == finished.finding.clear_values()
    qtbot.waitUntil(lambda: page._actions.replay.isEnabled())
    assert [run.experiment for run in session.runs] == ["burst-random"]
    qtbot.waitUntil(lambda: not page._drawing._timer.isActive())


def test_a_run_is_stopped_in_a_moment_and_keeps_its_rows(qtbot, page):
    page._actions.run.trigger()
    qtbot.waitUntil(lambda: page.showing.following.rows > 2)
    with qtbot.waitSignal(page.showing.ended):
        page._actions.stop.trigger()

    assert page.showing.following.finished.outcome is wire.Outcome.STOPPED
    assert page.showing.state is State.ENDED
    assert page.showing.following.rows > 2
