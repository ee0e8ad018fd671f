"""A student's words below an explanation are kept with the run, and a worksheet takes them."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton

from app.runs.run_notes import read_notes
from experiments.engine.recording import read
from experiments.engine.report_file import HTML_SUFFIX
from tests.app.recordings import burst
from tests.app.window.stage import Stage, found, settle
from widgets.lesson.own_words import OwnWords
from widgets.lesson.steps import Step
from widgets.sheets.report_sheet import ReportSheet

OWN = "Nothing can be fetched early."


@pytest.fixture
def stage(look, tmp_path):
    stage = Stage(look, tmp_path, numbers=False)
    stage.page.resize(1280, 800)
    stage.page.show()
    stage.page.arrive()
    stage.know_machine()
    yield stage
    stage.close()


def explain(stage: Stage) -> None:
    stage.page.open("burst-random")
    lesson = stage.page.lesson.model
    settle(lambda: lesson.taught is not None)
    skip = stage.session.words.say("lesson.skip")
    for each in stage.page.findChildren(QPushButton):
        if each.text() == skip and each.isVisible():
            each.click()
    settle(lambda: stage.page.model.run_state is not None)
    lesson.observe()
    lesson.go(Step.EXPLAIN)


def test_own_words_are_kept_when_the_keyboard_goes_elsewhere_and_stand_there_again(qtbot, stage):
    (path,) = stage.keep(burst())
    explain(stage)
    own = found(stage.page, OwnWords)
    assert own.isVisible()
    own.text.setFocus()
    qtbot.keyClicks(own.text, OWN)
    stage.page.setFocus()
    own.keep()
    settle(lambda: read_notes(path).own_words == OWN)

    stage.page.open("race")
    explain(stage)
    settle(lambda: own.text.toPlainText() == OWN)


def test_what_is_being_written_when_the_window_closes_is_kept_to_its_last_letter(stage):
    (path,) = stage.keep(burst())
    explain(stage)
    long = "A long story. " * 500
    found(stage.page, OwnWords).text.setPlainText(long)
    stage.session.closing.emit()  # as the session does, before it ends its threads
    stage.session.background.close()
    assert read_notes(path).own_words == long.strip()


def test_the_button_below_shows_a_worksheet_with_the_words_that_opens_again(
    stage, tmp_path, monkeypatch
):
    (path,) = stage.keep(burst())
    explain(stage)
    own = found(stage.page, OwnWords)
    own.text.setPlainText(OWN)
    own.keep()
    settle(lambda: stage.session.runs[0].run_notes.own_words == OWN)
    own.findChild(QPushButton).click()
    settle(lambda: stage.page.window().findChild(ReportSheet) is not None)
    sheet = stage.page.window().findChild(ReportSheet)
    settle(lambda: OWN in sheet.text.toPlainText())
    sheet.checks["answers"].setChecked(True)
    settle(lambda: "____" not in sheet.text.toPlainText())
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(tmp_path / "in"), ""))
    settle(sheet.save.isEnabled)
    sheet.save.click()
    target = tmp_path / f"in{HTML_SUFFIX}"
    settle(target.exists)
    assert read(target).started.run == read(path).started.run


def test_a_recording_has_no_room_for_own_words(stage):
    stage.page.open("burst-random")
    stage.do.recording.trigger()
    lesson = stage.page.lesson.model
    settle(lambda: stage.page.model.run_state is not None)
    lesson.answer(None)
    lesson.observe()
    lesson.go(Step.EXPLAIN)
    assert not found(stage.page, OwnWords).isVisible()
