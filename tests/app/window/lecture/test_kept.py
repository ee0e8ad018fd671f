"""The record and the handout that stay of a lecture led by keys."""

from __future__ import annotations

import errno
import os

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.lecture.file import SUFFIX, encode
from app.lecture.lectures import NAME
from app.lecture.record import SUFFIX as RECORD
from app.lecture.record import LectureRecord, read
from experiments.core.problems import Problem
from tests.app.window.lecture.lectures import THREE, Hall, Key, recorded
from tests.app.window.lecture.test_playlist import drop_file
from tests.app.window.stage import settle
from widgets.sheets.report_sheet import ReportSheet


@pytest.fixture
def told(hall):
    """Return every sentence, and what its button does."""
    heard = []
    hall.whole.session.noticed.connect(lambda *each: heard.append(each))
    return heard


def begin(hall: Hall, folder) -> None:
    """Begin the lecture of a file."""
    path = folder / f"three{SUFFIX}"
    path.write_bytes(encode(THREE))
    hall.whole.session.asked_for_lecture.emit(THREE, path)
    hall.rest()


def kept(folder) -> LectureRecord:
    """Return the single record in a folder, which is still empty before there is a file."""
    paths = list(folder.glob(f"*{RECORD}"))
    assert len(paths) <= 1
    return read(paths[0]) if paths else LectureRecord()


def vote_and_run(hall: Hall) -> str:
    """Count hands of the first item, and measure it; return the id of its run."""
    hall.press(Key.Key_PageDown, Key.Key_A, Key.Key_C, Key.Key_C, Key.Key_V, Key.Key_C)
    hall.to_run()
    return hall.hear("gil-threads").started.run


def test_votes_and_runs_are_kept_beside_the_file_while_the_lecture_goes_on(hall, tmp_path):
    begin(hall, tmp_path)
    assert not kept(tmp_path).item  # nothing has happened
    run = vote_and_run(hall)
    settle(lambda: bool(kept(tmp_path).item) and bool(kept(tmp_path).item[0].run))

    record = kept(tmp_path)
    first, second, third = record.item
    assert (record.name, record.title, bool(record.at)) == ("three", "Three", True)
    assert (first.first, first.second) == ((1, 0, 2, 0), (0, 0, 1, 0))
    assert (first.run, first.is_recording) == (run, False)
    assert first.options == hall.conductor.prepared.options.texts
    assert not (second.run)
    assert not (third.run)


def test_a_run_that_has_not_ended_is_none_and_a_recording_is_one(hall, tmp_path):
    begin(hall, tmp_path)
    hall.press(Key.Key_PageDown, Key.Key_B)
    hall.to_run()
    hall.hear("gil-threads", 0.3)
    hall.whole.rest()
    assert kept(tmp_path).item[0].run == ""
    hall.press(Key.Key_R)
    hall.whole.rest()
    item = kept(tmp_path).item[0]
    assert (item.run, item.is_recording) == (recorded("gil-threads").started.run, True)


def test_without_a_file_it_is_kept_in_the_data_folder(hall, tmp_path):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_D)
    hall.whole.rest()
    assert kept(tmp_path / "data" / NAME).item[0].first == (0, 0, 0, 1)


def test_what_closes_the_window_loses_nothing(hall, tmp_path, monkeypatch):
    begin(hall, tmp_path)
    background = hall.whole.session.background
    monkeypatch.setattr(background, "do", lambda *_given: None)  # it comes to nothing any more
    hall.press(Key.Key_PageDown, Key.Key_A, Key.Key_A)
    hall.whole.session.closing.emit()
    assert not hall.is_on
    assert kept(tmp_path).item[0].first == (2, 0, 0, 0)


def test_that_it_cannot_be_kept_is_told_once_and_the_lecture_goes_on(hall, tmp_path):
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / NAME).write_text("in the way")
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_A)
    settle(lambda: bool(hall.conductor.aside))
    say, aside = hall.whole.session.say, hall.conductor.aside
    (path,) = (word for word in aside.split() if word.startswith(str(tmp_path)))
    reason = os.strerror(errno.EEXIST)
    assert aside == say(Problem("lecture_not_kept", {"path": path, "reason": reason}))
    assert hall.conductor.aside in hall.show.audience.strip.text
    assert not hall.conductor.trouble  # the run is all right
    hall.to_run()
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "run")  # no recording comes in its place
    hall.hear("gil-threads")
    hall.press(Key.Key_2, Key.Key_Return)
    assert hall.at == (2, "question")
    hall.press(Key.Key_PageDown, Key.Key_A)
    hall.whole.rest()
    assert not hall.conductor.aside


def sheet_of(hall: Hall) -> ReportSheet:
    """Return the sheet that is open, with its text."""
    window = hall.whole.window

    def open_ones() -> list[ReportSheet]:
        return [each for each in window.findChildren(ReportSheet) if each.isVisible()]

    settle(lambda: bool(open_ones()))
    (sheet,) = open_ones()
    settle(sheet.save.isEnabled)
    return sheet


def test_at_the_end_a_handout_is_offered(hall, told, tmp_path):
    say = hall.whole.words.say
    begin(hall, tmp_path)
    with pytest.raises(LookupError):
        hall.whole.do("handout.open")
    vote_and_run(hall)
    hall.leave()

    (text, action, act), *others = told
    assert (text, action) == (say("handout.ended"), say("handout.short"))
    assert not others
    act()

    sheet = sheet_of(hall)
    shown = sheet.text.toPlainText()
    title = say("gil-threads.question")
    assert say("handout.heading", {"number": 1, "title": title}) in shown
    assert say("handout.first") in shown
    assert "Ask first." not in shown  # notes are the presenter's
    assert set(sheet.kinds.buttons) == {"html", "pdf", "markdown"}


@pytest.mark.parametrize(
    ("kind", "ending", "starts"),
    [("html", ".html", b"<!"), ("pdf", ".pdf", b"%PDF"), ("markdown", ".md", b"# Three")],
)
def test_it_is_saved_in_each_format(hall, tmp_path, monkeypatch, kind, ending, starts):
    begin(hall, tmp_path)
    vote_and_run(hall)
    hall.leave()
    hall.whole.do("handout.open")
    sheet = sheet_of(hall)
    sheet.kinds.buttons[kind].click()
    settle(sheet.save.isEnabled)
    target = tmp_path / "out"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    sheet.save.click()
    written = target.with_suffix(ending)
    settle(written.exists)
    assert written.read_bytes().startswith(starts)


def test_a_record_that_is_dropped_onto_the_window_shows_its_handout(hall, tmp_path):
    begin(hall, tmp_path)
    vote_and_run(hall)
    hall.whole.rest()
    (path,) = tmp_path.glob(f"*{RECORD}")
    other = tmp_path / f"other{RECORD}"
    path.rename(other)
    hall.leave()
    problems = []
    hall.whole.session.troubled.connect(lambda problem: problems.append(problem.key))

    drop_file(hall.whole.window, other)
    sheet = sheet_of(hall)
    assert hall.whole.words.say("handout.first") in sheet.text.toPlainText()
    assert not problems
    sheet.dismiss()
    settle(lambda: not sheet.isVisible())

    other.write_text('{"format": "else"}')
    drop_file(hall.whole.window, other)
    assert problems == ["no_lecture"]


def test_a_lecture_in_which_nothing_happened_has_no_handout(hall, told):
    hall.begin()
    hall.press(Key.Key_PageDown)
    hall.leave()
    assert not told
    assert not hall.whole.window.lecture_mode.has_handout


def test_the_handout_is_of_the_lecture_held_last(hall, tmp_path):
    begin(hall, tmp_path)
    vote_and_run(hall)
    hall.leave()
    hall.begin()
    hall.leave()  # nothing happened in this one
    hall.whole.do("handout.open")
    assert hall.whole.words.say("handout.first") in sheet_of(hall).text.toPlainText()


def test_without_single_letters_they_need_ctrl_and_a_clicker_works(hall):
    from PySide6.QtCore import Qt

    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    session = hall.whole.session
    session.settings = session.settings.replace(letters=False)
    hall.begin()
    for key in (Key.Key_B, Key.Key_H, Key.Key_F, Key.Key_Period, Key.Key_2):
        QTest.keyClick(hall.show.audience, key)
    conductor = hall.conductor
    assert not (conductor.is_black)
    assert not (conductor.is_halo)
    assert not (conductor.is_frozen)
    assert not hall.conductor.typed
    hall.press(Key.Key_PageDown, Key.Key_A)
    assert (hall.at, hall.data.votes) == ((1, "vote"), (0, 0, 0, 0))
    for held in (control, control, control | shift):
        QTest.keyClick(hall.show.audience, Key.Key_A, held)
    assert hall.data.votes == (1, 0, 0, 0)
    QTest.keyClick(hall.show.audience, Key.Key_H, control)
    assert conductor.is_halo
    hall.press(Key.Key_PageUp, Key.Key_Right, Key.Key_Left)
    assert hall.at == (1, "question")
    QTest.keyClick(hall.show.audience, Key.Key_3, control)
    hall.press(Key.Key_Return)
    assert hall.at == (3, "question")
    hall.leave()
    assert not hall.is_on
