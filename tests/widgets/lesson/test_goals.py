from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from experiments.core import words
from widgets.lesson import goals as module
from widgets.lesson.goals import Goals

ENGLISH = words.load("en")
TEXTS = ("Make processes lose.", "Find work that gains.")


@pytest.fixture
def told(monkeypatch):
    heard: list[str] = []
    monkeypatch.setattr(module, "announce", lambda _, text: heard.append(text))
    return heard


@pytest.fixture
def goals(look, shown):
    made = Goals(ENGLISH, look)
    made.show_goals(TEXTS, (False, True))
    return shown(made)


def states(goals):
    QApplication.processEvents()  # a layout shows what is new
    names = [each.accessibleName() for each in goals.findChildren(QWidget) if each.isVisible()]
    keys = {"lesson.goal_is_reached": True, "lesson.goal_is_open": False}
    return [
        state
        for text in TEXTS
        for key, state in keys.items()
        if ENGLISH.say(key, {"goal": text}) in names
    ]


def test_it_shows_what_is_reached(goals):
    assert states(goals) == [False, True]


def test_a_newly_reached_goal_is_told_once(told, look, shown):
    made = Goals(ENGLISH, look)
    made.show_goals(TEXTS, (False, True))  # reached in an earlier run
    assert told == []
    assert not made.isVisible()  # it would be a window of its own
    shown(made)
    before = made.grab().toImage()
    for _ in range(2):
        made.show_goals(TEXTS, (True, True))

    assert told == [ENGLISH.say("lesson.goal_reached", {"goal": TEXTS[0]})]
    assert states(made) == [True, True]
    assert made.grab().toImage() != before


def test_nobody_ticks_a_goal_by_hand(goals, qtbot):
    for each in goals.findChildren(QWidget):
        qtbot.mouseClick(each, Qt.MouseButton.LeftButton)

    assert states(goals) == [False, True]


def test_other_goals_take_their_place(goals):
    goals.show_goals(TEXTS[:1], (False,))
    assert states(goals) == [False]

    goals.show_goals((), ())
    assert not any(each.isVisible() for each in goals.findChildren(QLabel))
