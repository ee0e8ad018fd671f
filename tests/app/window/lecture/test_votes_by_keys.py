"""Votes of a class: typed as numbers, and hidden until they are closed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.app.window.lecture.lectures import Hall, Key
from tests.app.window.lecture.test_two_screens import two as two  # a fixture
from widgets.lecture.vote_board import DOT, VoteBoard


@pytest.fixture
def voting(hall) -> Hall:
    hall.begin()
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "vote")
    return hall


def type_(hall: Hall, number: int) -> None:
    hall.press(*(Key(ord(digit)) for digit in str(number)))


def test_a_letter_a_number_and_enter_give_so_many_votes(voting):
    for letter, hands in ((Key.Key_A, 9), (Key.Key_B, 31), (Key.Key_C, 38), (Key.Key_D, 6)):
        voting.press(letter)
        type_(voting, hands)
        voting.press(Key.Key_Return)
    assert voting.data.votes == (9, 31, 38, 6)
    assert voting.at == (1, "vote")  # no item was gone to
    type_(voting, 7)
    voting.press(Key.Key_Enter)
    assert voting.data.votes == (9, 31, 38, 7)  # of the one that was chosen last


def test_what_is_typed_is_seen_before_it_counts(voting):
    voting.press(Key.Key_C)
    type_(voting, 38)
    assert (voting.data.typed, voting.data.typed_for, voting.data.votes[2]) == ("38", 2, 1)
    told = voting.say("typed_votes", letter="C", number="38")
    assert voting.data.key == told
    assert told in voting.show.audience.strip.text
    voting.press(Key.Key_Backspace)
    assert voting.data.typed == "3"
    voting.press(Key.Key_Return)
    assert (voting.data.typed, voting.data.votes[2]) == ("", 3)
    assert voting.data.key == voting.say("next_key", next=voting.say("next.run"))


def test_esc_gives_up_the_typing_first_and_asks_then(voting):
    voting.press(Key.Key_C)
    type_(voting, 38)
    voting.press(Key.Key_Escape)
    assert (voting.data.typed, voting.data.votes) == ("", (0, 0, 1, 0))
    assert not voting.over
    voting.press(Key.Key_Escape)
    assert voting.say("leave.title") in voting.over


@pytest.mark.parametrize(("key", "votes"), [(Key.Key_A, (1, 0, 38, 0)), (Key.Key_F, (0, 0, 38, 0))])
def test_any_other_key_gives_what_was_typed(voting, key, votes):
    voting.press(Key.Key_C)
    type_(voting, 38)
    voting.press(key)
    assert voting.data.votes == votes or voting.conductor.course.turn.first.counts == (*votes,)


def test_going_on_loses_nothing_that_was_typed(voting):
    voting.press(Key.Key_D)
    type_(voting, 6)
    voting.press(Key.Key_PageDown)
    assert voting.at == (1, "run")
    assert voting.conductor.course.turn.first.counts == (0, 0, 0, 6)


def test_another_vote_begins_with_the_first_answer(voting):
    voting.press(Key.Key_C, Key.Key_V)
    type_(voting, 4)
    voting.press(Key.Key_Return)
    assert voting.data.step == "again"
    assert voting.data.votes == (4, 0, 0, 0)
    assert voting.data.before == (0, 0, 1, 0)


def test_with_shift_a_hand_is_taken_back_from_a_number(voting):
    type_(voting, 12)
    voting.press(Key.Key_Return)
    voting.press(Key.Key_A, shift=True)
    assert voting.data.votes[0] == 11


def test_hidden_votes_are_shown_by_the_key_that_closes_them(voting):
    voting.press(Key.Key_U, Key.Key_A, Key.Key_B, Key.Key_B)
    assert voting.data.is_hidden
    assert voting.data.hint == voting.say("votes_hidden", count=3)  # and no advice
    assert voting.data.key == voting.say("next_key", next=voting.say("next.close"))
    voting.press(Key.Key_PageDown)
    assert voting.at == (1, "vote")
    assert not voting.data.is_hidden
    assert voting.data.votes == (1, 2, 0, 0)
    assert "67 %" in voting.data.hint
    voting.press(Key.Key_PageDown)
    assert voting.at == (1, "run")


def test_hiding_holds_for_the_next_item_and_can_be_taken_back(voting):
    voting.press(Key.Key_U, Key.Key_2, Key.Key_Escape)  # no number of hands
    voting.conductor.go(1)
    voting.rest()
    voting.press(Key.Key_PageDown)
    assert voting.at == (2, "vote")
    assert voting.data.is_hidden
    voting.press(Key.Key_U)
    assert not voting.data.is_hidden


def test_a_hidden_vote_shows_no_number_on_the_slide(voting):
    slide = voting.show.audience.slide
    voting.press(Key.Key_U)
    without, board = slide.grab().toImage(), slide.findChild(VoteBoard)
    place, told = board.geometry(), board.accessibleDescription()
    voting.press(Key.Key_A, Key.Key_A)
    assert slide.grab(place).toImage() == without.copy(place)
    assert board.accessibleDescription() == told
    type_(voting, 38)
    assert slide.grab(place).toImage() != without.copy(place)  # one sees that something is typed
    assert "38" not in voting.data.key
    assert DOT * 2 in voting.data.key


def test_the_presenter_alone_sees_hidden_votes(two):
    presenter = two.show.presenter
    two.press(Key.Key_PageDown, Key.Key_A, on=presenter)
    QTest.mouseClick(presenter.buttons["hide_votes"], Qt.MouseButton.LeftButton)
    assert two.data.is_hidden
    told = two.say("sees_hidden", votes="A 1, B 0, C 0, D 0")
    assert told in [each.text() for each in presenter.findChildren(QLabel)]
    two.press(Key.Key_3, Key.Key_8, on=presenter)
    told = two.say("typed_votes", letter="A", number="38")
    assert told in [each.text() for each in presenter.findChildren(QLabel)]
    assert "38" not in two.data.key
    assert two.say("acts.unhide_votes") in presenter.buttons["hide_votes"].text()
    two.press(Key.Key_PageDown, on=presenter)
    assert two.say("acts.hide_votes") in presenter.buttons["hide_votes"].text()


def test_outside_a_vote_digits_go_to_an_item_and_are_seen(hall):
    hall.begin()
    hall.press(Key.Key_3)
    assert hall.data.key == hall.say("typed", number="3")
    hall.press(Key.Key_Return)
    assert hall.at == (3, "question")
    hall.press(Key.Key_9, Key.Key_Return)
    assert hall.at == (3, "question")
    assert not hall.conductor.course.is_over
