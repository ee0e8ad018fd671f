"""A report from the window: shown, chosen, saved, copied, and dropped back."""

from __future__ import annotations

import json

import msgspec
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from app.runs.run_notes import RunNotes, notes_path, read_notes
from experiments.core.teaching.lesson_run import Guess
from experiments.engine.recording import read
from tests.app.recordings import threads
from tests.app.window.stage import Stage, settle
from widgets.sheets.report_sheet import ReportSheet

GUESS = Guess(kind="choice", at=(0.0,), sure=3)
NOTES = RunNotes(name="evening", note="My own words.", guess=GUESS)


def opened(stage: Stage) -> ReportSheet:
    """Open the report of the shown run, and wait for its text."""
    stage.do.report.trigger()
    settle(lambda: bool(sheets(stage)))
    (sheet,) = sheets(stage)
    settle(sheet.save.isEnabled)
    return sheet


def sheets(stage: Stage) -> list[ReportSheet]:
    return [each for each in stage.page.findChildren(ReportSheet) if each.isVisible()]


@pytest.fixture
def shown(stage) -> Stage:
    (path,) = stage.keep(threads())
    notes_path(path).write_bytes(msgspec.json.encode(NOTES))
    stage.use_runs()
    stage.page.open("gil-threads")
    settle(lambda: stage.do.report.isEnabled())
    stage.said_problems = []
    stage.session.troubled.connect(stage.said_problems.append)
    return stage


def saves_to(monkeypatch, path) -> None:
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(path) if path else "", "")
    )


def test_it_shows_what_will_leave_and_the_note_only_if_ticked(shown):
    sheet = opened(shown)
    assert set(sheet.checks) == {"prediction", "data", "note", "name"}
    assert NOTES.note not in sheet.text.toPlainText()

    sheet.checks["note"].click()
    settle(sheet.save.isEnabled)

    assert NOTES.note in sheet.text.toPlainText()


def test_what_is_saved_is_what_was_shown_and_opens_again(shown, tmp_path, monkeypatch):
    sheet = opened(shown)
    target = tmp_path / "mine.coreopsis.html"
    saves_to(monkeypatch, target)

    sheet.save.click()
    settle(lambda: target.exists() and not sheets(shown))

    html = target.read_text(encoding="utf-8")
    assert NOTES.note not in html
    assert "<svg" in html
    shown.page.open_run(target)
    settle(lambda: shown.page.model.path == target)
    assert shown.page.model.loaded.is_opened
    assert read(target).started.run == read(shown.session.runs[0].path).started.run

    shown.do.report.trigger()  # also of a report that is only looked at
    settle(lambda: bool(sheets(shown)))
    assert "prediction" in sheets(shown)[0].checks


@pytest.mark.parametrize("kind", ["pdf", "markdown", "text", "json"])
def test_each_format_gets_its_ending(shown, tmp_path, monkeypatch, kind):
    from app.reports.writing import SUFFIXES

    sheet = opened(shown)
    sheet.kinds.buttons[kind].click()
    settle(sheet.save.isEnabled)
    saves_to(monkeypatch, tmp_path / "mine")

    sheet.save.click()

    target = tmp_path / f"mine{SUFFIXES[kind]}"
    settle(target.exists)
    assert target.stat().st_size > 500
    assert shown.said_problems == []


def test_who_cancels_keeps_the_sheet_and_no_file(shown, tmp_path, monkeypatch):
    sheet = opened(shown)
    saves_to(monkeypatch, None)
    sheet.save.click()
    settle(sheet.save.isEnabled)
    assert sheets(shown) == [sheet]


def test_a_file_that_cannot_be_written_is_a_sentence(shown, tmp_path, monkeypatch):
    sheet = opened(shown)
    saves_to(monkeypatch, tmp_path / "no" / "x.coreopsis.html")
    sheet.save.click()
    settle(lambda: bool(shown.said_problems))
    assert shown.said_problems[0].key == "file_not_written"


def test_it_is_copied_as_text(shown):
    sheet = opened(shown)
    sheet.kinds.buttons["json"].click()
    settle(sheet.save.isEnabled)

    sheet.copy.click()
    say = shown.session.words.say
    settle(lambda: sheet.copy.text() == say("trouble.copied"))

    assert json.loads(QGuiApplication.clipboard().text())["format"] == "coreopsis.report"
    QGuiApplication.clipboard().clear()  # Qt's offscreen clipboard crashes with it at the exit


def test_closing_the_sheet_while_it_is_made_does_no_harm(shown):
    shown.do.report.trigger()
    settle(lambda: bool(sheets(shown)))
    (sheet,) = sheets(shown)
    sheet.checks["note"].click()
    sheet.dismiss()
    settle(lambda: not sheets(shown))
    assert opened(shown).text.toPlainText()
    assert shown.said_problems == []


def test_another_format_while_it_is_written_drops_the_file(shown, tmp_path, monkeypatch):
    sheet = opened(shown)
    target = tmp_path / "x.coreopsis.html"
    saves_to(monkeypatch, target)
    sheet.save.click()
    sheet.kinds.buttons["json"].click()
    settle(sheet.save.isEnabled)
    assert '"title"' in sheet.text.toPlainText()
    assert not target.exists()
    assert sheets(shown) == [sheet]


@pytest.mark.parametrize("typed", ["report", "pdf", "html", "export", "markdown"])
def test_the_palette_finds_it(shown, typed):
    told = [action.text().lower() for action in shown.page.own_actions() if action.isEnabled()]
    assert shown.do.report.text().lower() in [each for each in told if typed in each]


def test_a_run_without_a_file_has_no_report(stage):
    stage.page.open("gil-threads")
    assert not stage.do.report.isEnabled()


def test_a_report_that_is_kept_brings_the_prediction(shown, tmp_path, monkeypatch):
    sheet = opened(shown)
    target = tmp_path / "mine.coreopsis.html"
    saves_to(monkeypatch, target)
    sheet.save.click()
    settle(lambda: target.exists() and not sheets(shown))
    library, run = shown.session.library, shown.session.runs[0]
    library.delete(run)
    library.empty_bin()

    kept = library.adopt(target)

    assert kept.read_bytes() == threads_data(target)
    assert read_notes(kept) == RunNotes(guess=GUESS)
    assert library.adopt(target) == kept


def threads_data(target) -> bytes:
    from experiments.engine.report_file import carried_by

    return carried_by(target).lines
