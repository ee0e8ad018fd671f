"""The page with the real engine: one run stopped, and one to its end."""

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
    page.open("race")  # it loads no library
    session.wake()
    qtbot.waitUntil(lambda: actions(page).run.isEnabled())
    yield page
    page.leave()
    page.close()
    page.deleteLater()  # or every style sheet that follows would dress it


def test_a_run_is_stopped_in_a_moment_and_a_quick_one_measured_and_kept(qtbot, session, page):
    actions(page).run.trigger()
    qtbot.waitUntil(lambda: page.model.run_state.rows > 2)
    with qtbot.waitSignal(page.model.ended):
        actions(page).stop.trigger()

    assert page.model.run_state.finished.outcome is messages.Outcome.STOPPED
    assert page.model.state is State.ENDED
    assert page.model.run_state.rows > 2

    with qtbot.waitSignal(page.model.ended):
        actions(page).quick.trigger()

    finished = page.model.run_state.finished
    assert finished.outcome is messages.Outcome.COMPLETED
    # On a busy machine the rounds may leave a ratio unclear, and an unclear one draws no limit.
    assert page.model.values == finished.finding.clear_values() != {}
    qtbot.waitUntil(lambda: actions(page).replay.isEnabled())
    qtbot.waitUntil(lambda: [run.experiment for run in session.runs] == ["race"] * 2)
    qtbot.waitUntil(lambda: not drawing_of(page).isActive())
