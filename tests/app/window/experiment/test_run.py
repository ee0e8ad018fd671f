"""The page with the real engine: one run to its end, and one stopped."""

from __future__ import annotations

import pytest

from app.window.experiment.actions import ExperimentActions
from app.window.experiment.place import ExperimentPage
from app.window.experiment.status_text import State
from experiments.engine import messages
from tests.app.window.stage import drawing_of


def actions(page) -> ExperimentActions:
    return page.findChild(ExperimentActions)


@pytest.fixture
def page(qtbot, session):
    page = ExperimentPage(session)
    page.resize(1200, 700)
    page.show()
    page.arrive()
    page.open("burst-random")
    session.wake()
    qtbot.waitUntil(lambda: actions(page).run.isEnabled())
    yield page
    page.leave()
    page.close()


def test_a_quick_run_is_measured_kept_and_can_be_replayed(qtbot, session, page):
    actions(page).quick.trigger()
    with qtbot.waitSignal(page.model.ended):
        pass

    finished = page.model.run_state.finished
    assert finished.outcome is messages.Outcome.COMPLETED
    assert "random_s" in page.model.values
    # On a busy machine the rounds may leave a ratio unclear, and an unclear one draws no limit.
    assert page.model.values == finished.finding.clear_values()
    qtbot.waitUntil(lambda: actions(page).replay.isEnabled())
    assert [run.experiment for run in session.runs] == ["burst-random"]
    qtbot.waitUntil(lambda: not drawing_of(page).isActive())


def test_a_run_is_stopped_in_a_moment_and_keeps_its_rows(qtbot, page):
    actions(page).run.trigger()
    qtbot.waitUntil(lambda: page.model.run_state.rows > 2)
    with qtbot.waitSignal(page.model.ended):
        actions(page).stop.trigger()

    assert page.model.run_state.finished.outcome is messages.Outcome.STOPPED
    assert page.model.state is State.ENDED
    assert page.model.run_state.rows > 2
