"""Esc asks once, coming back goes on at the same place, and a key shows all keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app.lecture.file import Item, Lecture
from app.lecture.record import SUFFIX as RECORD
from app.window.lecture.keys import ALSO, LETTER_OF, sheet_of
from tests.app.window.lecture.lectures import THREE, Hall, Key
from tests.app.window.lecture.test_two_screens import two as two  # a fixture
from tests.app.window.stage import settle


def to_explanation(hall: Hall) -> None:
    """Reveal what was measured, arm by arm, and explain it."""
    for _ in range(len(hall.conductor.course.turn.arms)):
        hall.press(Key.Key_PageDown)
    assert hall.data.step == "explain"


# --- leaving ------------------------------------------------------------------------------------


def test_esc_asks_once_and_enter_leaves(hall):
    hall.begin()
    hall.press(Key.Key_Escape)
    assert hall.is_on
    assert hall.say("leave.title") in hall.over
    assert hall.say("leave.text") in hall.over
    hall.press(Key.Key_Return)
    assert not hall.is_on


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_F11, Key.Key_PageDown, Key.Key_PageUp])
def test_whoever_stays_is_where_they_were(hall, key):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_Escape, Key.Key_A, Key.Key_3)
    assert (hall.at, hall.data.votes, hall.data.typed) == ((1, "vote"), (0, 0, 0, 0), "")
    assert hall.over
    hall.press(key)
    assert not hall.over
    assert hall.at == (1, "vote")
    hall.press(Key.Key_A)
    assert hall.data.votes[0] == 1


def test_the_question_can_be_answered_by_the_mouse(two):
    presenter = two.show.presenter
    QTest.mouseClick(presenter.buttons["ask_to_leave"], Qt.MouseButton.LeftButton)
    yes, no = (two.say(f"leave.{key}") for key in ("yes", "no"))

    def click(text: str) -> None:
        found = [each for each in presenter.over.findChildren(QPushButton) if each.isVisible()]
        (wanted,) = (each for each in found if each.text() == text)
        QTest.mouseClick(wanted, Qt.MouseButton.LeftButton)

    click(no)
    assert two.is_on
    assert not presenter.over.isVisible()
    two.press(Key.Key_Escape, on=presenter)
    click(yes)
    assert not two.is_on


# --- coming back --------------------------------------------------------------------------------


def test_coming_back_goes_on_at_the_same_slide_with_the_votes_there(hall):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_A, Key.Key_C, Key.Key_C, Key.Key_V, Key.Key_C)
    seen = hall.data
    hall.leave()
    hall.come_back()
    assert hall.data == seen
    assert (hall.at, hall.data.votes, hall.data.before) == (
        (1, "again"), (0, 0, 1, 0), (1, 0, 2, 0),
    )  # fmt: skip
    hall.press(Key.Key_PageUp)
    assert hall.data.votes == (1, 0, 2, 0)


def test_a_run_that_was_measured_is_still_there(hall):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_C)
    hall.to_run()
    hall.hear("gil-threads")
    to_explanation(hall)
    seen, drawn = hall.data, hall.drawn()
    hall.leave()
    hall.come_back()
    assert hall.data == seen
    assert hall.data.verdict
    assert hall.drawn() == drawn
    assert len(hall.runner.started) == 1


def test_a_recording_that_stood_in_is_still_shown(hall):
    hall.begin()
    hall.to_run()
    hall.press(Key.Key_R)
    hall.press(Key.Key_PageDown)
    seen, drawn = hall.data, hall.drawn()
    assert seen.band
    hall.leave()
    hall.come_back()
    settle(lambda: hall.data.band == seen.band)
    assert hall.at == (1, "reveal")
    assert hall.drawn() == drawn


def test_a_run_that_was_stopped_begins_again(hall):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.3)
    hall.leave()
    assert hall.runner.stops == 1
    hall.come_back()
    assert hall.at == (1, "run")
    hall.end("stopped")
    settle(lambda: len(hall.runner.started) == 2)
    hall.hear("gil-threads")
    assert hall.conductor.course.turn.is_measured


def test_the_same_record_goes_on(hall, tmp_path):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_A)
    hall.leave()
    hall.come_back()
    hall.press(Key.Key_B)
    hall.whole.rest()
    (path,) = (tmp_path / "data").rglob(f"*{RECORD}")
    assert '"first": [1, 1, 0, 0]' in " ".join(path.read_text().split()).replace("[ ", "[").replace(
        " ]", "]"
    )


def test_another_lecture_in_between_changes_nothing(hall):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_A)
    hall.leave()
    other = Lecture(item=(Item(experiment="race"),))
    hall.come_back(other)
    assert hall.at == (1, "question")
    hall.leave()
    hall.come_back()
    assert (hall.at, hall.data.votes) == ((1, "vote"), (1, 0, 0, 0))


def test_a_lecture_that_is_over_begins_anew(hall):
    one = Lecture(item=(Item(experiment="gil-threads"),))
    hall.begin(one)
    hall.press(Key.Key_PageDown, Key.Key_A)
    hall.to_run()
    hall.hear("gil-threads")
    to_explanation(hall)
    hall.leave()
    hall.come_back(one)
    assert hall.at == (1, "question")
    hall.press(Key.Key_PageDown)
    assert hall.data.votes == (0, 0, 0, 0)


def test_home_begins_anew_once_it_is_meant(hall):
    hall.begin(THREE)
    hall.press(Key.Key_PageDown, Key.Key_A, Key.Key_Home)
    assert hall.say("anew.title") in hall.over
    hall.press(Key.Key_Escape)
    assert (hall.at, hall.data.votes) == ((1, "vote"), (1, 0, 0, 0))
    hall.press(Key.Key_Home, Key.Key_Return)
    assert hall.at == (1, "question")
    hall.press(Key.Key_PageDown)
    assert hall.data.votes == (0, 0, 0, 0)
    hall.leave()
    hall.come_back()
    assert hall.at == (1, "vote")  # of the second lecture
    assert hall.data.votes == (0, 0, 0, 0)


# --- the keys -----------------------------------------------------------------------------------


@pytest.mark.parametrize("closer", [Key.Key_Question, Key.Key_Escape])
def test_a_key_shows_all_keys_and_closes_them(hall, closer):
    hall.begin()
    hall.press(Key.Key_Question, shift=True)
    assert hall.show.audience.over.isVisible()
    assert hall.say("keys.title") in hall.over
    hall.press(Key.Key_A, Key.Key_B, Key.Key_F)
    assert not hall.conductor.is_black
    assert not hall.conductor.is_frozen
    hall.press(closer)
    assert not hall.show.audience.over.isVisible()
    assert hall.is_on
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "vote")


def test_a_click_closes_the_keys_and_answers_no_question(hall):
    hall.begin()
    over = hall.show.audience.over
    hall.press(Key.Key_Question, shift=True)
    QTest.mouseClick(over, Qt.MouseButton.LeftButton)
    assert not over.isVisible()
    hall.press(Key.Key_Escape)
    QTest.mouseClick(over, Qt.MouseButton.LeftButton)
    assert over.isVisible()
    assert hall.is_on


def test_the_sheet_has_every_letter_and_each_has_one_meaning(hall):
    hall.begin()
    groups = [group for column in sheet_of(hall.whole.session).columns for group in column]
    told = [key for group in groups for keys, _ in group.keys for key in keys.split(", ")]
    assert {*LETTER_OF.values(), *ALSO.values()} <= set(told)
    assert len(set(LETTER_OF.values())) == len(LETTER_OF)
    assert set(LETTER_OF.values()).isdisjoint("ACD")  # B counts a hand where hands are counted
    assert len(told) == len(set(told))
    session = hall.whole.session
    session.settings = session.settings.replace(letters=False)
    groups = [group for column in sheet_of(session).columns for group in column]
    assert "Ctrl+V" in [keys for group in groups for keys, _ in group.keys]


def test_every_key_of_the_sheet_can_be_read_from_the_back(hall):
    hall.begin()
    hall.press(Key.Key_Question, shift=True)
    over = hall.show.audience.over
    for size in ((1280, 720), (1920, 1080), (1024, 768)):
        hall.show.audience.showNormal()
        hall.show.audience.resize(*size)
        labels = [each for each in over.findChildren(QLabel) if each.isVisible()]
        assert len(labels) > 40
        for each in labels:
            at = each.mapTo(over, each.rect().topLeft())
            assert over.rect().contains(each.rect().translated(at)), each.text()
            assert each.height() >= each.sizeHint().height()
            assert each.width() >= each.sizeHint().width()
        keys = [each for each in labels if each.text() == "Ctrl+V" or each.text() == "V"]
        assert keys[0].fontMetrics().capHeight() >= 16 * size[1] / 720


def test_with_two_screens_the_keys_are_the_presenters(two):
    two.press(Key.Key_Question, shift=True, on=two.show.presenter)
    assert two.show.presenter.over.isVisible()
    assert not two.show.audience.over.isVisible()
