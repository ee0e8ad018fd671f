"""The result of a run on the page of its experiment: what one reads, points at and does next."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.window.core.settings import Settings
from app.window.core.target import EXPERIMENTS
from app.window.experiment.status_text import verdict_of
from experiments.core import words
from experiments.engine import messages
from tests.app.recordings import burst, threads
from tests.app.window.stage import Stage, events, found
from widgets.controls.fold import Fold
from widgets.controls.links import LinkLabel
from widgets.experiment.full_plot import FullPlot
from widgets.experiment.key_cards import KeyCard
from widgets.experiment.result import ResultBlock
from widgets.experiment.side_column import SideColumn, Tab

ENGLISH = words.load("en")


@pytest.fixture
def done(qtbot, stage) -> Stage:
    """Return the page with a whole run of gil-threads."""
    stage.page.open("gil-threads")
    stage.do.run.trigger()
    stage.runner.hear(*events(threads()))
    qtbot.waitUntil(lambda: not stage.drawing.isActive())
    return stage


def result(stage) -> ResultBlock:
    return found(stage.page, ResultBlock)


def heard(stage) -> list[str]:
    return [each.accessibleName() for each in result(stage).findChildren(LinkLabel)]


def follow(stage, text: str) -> None:
    """Follow the link in the label with these words."""
    (label,) = [
        each for each in result(stage).findChildren(LinkLabel) if each.accessibleName() == text
    ]
    label.setFocus(Qt.FocusReason.TabFocusReason)
    press(Qt.Key.Key_Return)


def press(key: Qt.Key) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, key)


def test_a_run_is_read_as_verdict_cause_and_key_numbers(done):
    finding = messages.decode_event(threads().lines[-1]).finding
    cards = {each.card.value: each.card for each in result(done).findChildren(KeyCard)}

    assert ENGLISH.say(f"gil-threads.because.{finding.message}", finding.values) in heard(done)
    assert list(cards) == [
        key.value for key in done.page.model.experiment.keys if key.value in finding.values
    ]
    assert cards["threads_s"].key.names == ("threads",)


def test_a_stopped_run_has_no_badge(stage):
    stage.page.open("gil-threads")
    stage.do.run.trigger()
    *some, last = events(threads())
    stopped = messages.Finished(outcome=messages.Outcome.STOPPED, finding=last.finding)
    stage.runner.hear(*some, stopped)
    QApplication.processEvents()

    assert verdict_of(stage.page.model.report()).badge is None
    assert not result(stage).verdict.badge.isVisible()


def test_what_was_unfolded_stays_so_on_the_page_of_another_experiment(done):
    first = done.page.findChildren(Fold)[0]
    first.head.click()
    done.page.open("burst-random")
    done.do.run.trigger()
    done.runner.hear(*events(burst()))
    QApplication.processEvents()

    assert first.head.isChecked()
    names = [each.accessibleName() for each in first.findChildren(QLabel) if each.isVisible()]
    assert "shuffled, per element: 6 ns" in names


def test_the_next_setting_goes_into_the_form_and_only_run_is_left_to_press(done):
    before = done.form.params()
    follow(done, ENGLISH.say("gil-threads.next.setting"))

    changed = done.page.model.experiment.next.changes({"job_s": before.job_s})
    assert done.form.params().job_s == changed["job_s"] != before.job_s
    assert found(done.page, SideColumn).tab is Tab.SETTINGS
    assert done.page.focusWidget().text() == ENGLISH.say("page.run_again")
    done.page.focusWidget().click()
    assert done.runner.started[-1][1]["job_s"] == changed["job_s"]


def test_the_next_experiment_is_one_link_away(qtbot, done):
    with qtbot.waitSignal(done.session.went) as went:
        follow(done, ENGLISH.say("waiting.question"))

    (target,) = went.args
    assert (target.place, target.experiment) == (EXPERIMENTS, "waiting")


def test_settings_that_cannot_be_changed_are_not_offered(qtbot, stage):
    path = threads().write(stage.folder / "elsewhere.coreopsis.jsonl")
    stage.page.open_run(path)
    wanted = ENGLISH.say("waiting.question")
    qtbot.waitUntil(lambda: stage.page.model.loaded is not None and wanted in heard(stage))

    assert ENGLISH.say("gil-threads.next.setting") not in heard(stage)


def test_verdict_and_plot_are_copied_as_one_picture(qtbot, done):
    plot = done.plots[0]
    done.do.copy_result.trigger()

    copied, alone = QGuiApplication.clipboard().image(), plot.picture()
    assert copied.width() == alone.width()
    assert copied.height() > alone.height() + 50
    below = copied.copy(0, copied.height() - 400, copied.width(), 400)
    assert below == alone.copy(0, alone.height() - 400, alone.width(), 400)


def test_before_a_run_there_is_no_result_to_copy(stage):
    stage.page.open("gil-threads")

    assert not stage.do.copy_result.isEnabled()


# --- a plot over the whole window ---------------------------------------------------------------


def test_f_fills_the_window_with_the_plot_that_was_looked_at_last_and_brings_it_back(qtbot, done):
    plot = done.plots[1]
    plot.setFocus()
    small = plot.size()
    press(Qt.Key.Key_F)
    qtbot.waitUntil(lambda: plot.width() > done.page.width() * 0.9)
    assert found(done.page, FullPlot).rect() == done.page.rect()
    assert plot.hasFocus()

    press(Qt.Key.Key_F)
    qtbot.waitUntil(lambda: plot.size() == small)
    assert plot.hasFocus()
    assert done.views.isAncestorOf(plot)


def test_without_another_the_headline_fills_the_window_and_the_focus_returns(qtbot, done):
    before = done.page.focusWidget()
    press(Qt.Key.Key_F)
    assert QApplication.focusWidget() is done.plots[0]

    press(Qt.Key.Key_Escape)
    assert done.page.focusWidget() is before
    assert done.views.isAncestorOf(done.plots[0])


def test_esc_brings_the_plot_back_and_stops_no_run(qtbot, stage):
    stage.page.open("gil-threads")
    stage.do.run.trigger()
    stage.runner.hear(*events(threads(), 0.5))
    qtbot.waitUntil(lambda: not stage.drawing.isActive())
    stage.do.full_plot.trigger()
    press(Qt.Key.Key_Escape)

    assert stage.runner.stops == 0
    assert stage.views.isAncestorOf(stage.plots[0])
    press(Qt.Key.Key_Escape)
    assert stage.runner.stops == 1


def test_another_experiment_finds_the_window_free(qtbot, done):
    done.do.full_plot.trigger()
    done.page.open("burst-random")
    done.do.run.trigger()
    done.runner.hear(*events(burst()))
    qtbot.waitUntil(lambda: not done.drawing.isActive())

    assert all(done.views.isAncestorOf(plot) for plot in done.plots)
    assert done.plots[0].isVisible()


def test_the_key_is_off_without_single_letters(done):
    done.session.settings = Settings(letters=False)
    done.session.settings_changed.emit()

    assert done.do.full_plot.shortcut().isEmpty()
