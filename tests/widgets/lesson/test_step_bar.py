from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from experiments.core import words
from widgets.lesson.step_bar import StepBar
from widgets.lesson.steps import LESSON, WITHOUT, Step

ENGLISH = words.load("en")
REACHABLE = {Step.QUESTION, Step.PREDICT, Step.RUN}


@pytest.fixture
def bar(shown, look):
    made = StepBar(ENGLISH, look)
    made.show_steps(LESSON, Step.PREDICT, REACHABLE)
    return shown(made, 700)


def wanted(bar):
    heard: list[Step] = []
    bar.wanted.connect(heard.append)
    return heard


def test_a_click_leads_to_what_can_be_reached_alone(bar, qtbot):
    heard = wanted(bar)
    for step in LESSON:
        qtbot.mouseClick(bar.buttons[step], Qt.MouseButton.LeftButton)

    assert heard == [Step.QUESTION, Step.PREDICT, Step.RUN]


def test_arrow_keys_pass_over_what_cannot_be_reached(bar, qtbot):
    heard = wanted(bar)
    bar.show_steps(LESSON, Step.PREDICT, REACHABLE - {Step.RUN} | {Step.OBSERVE})
    bar.buttons[Step.PREDICT].setFocus()
    qtbot.keyClick(bar.buttons[Step.PREDICT], Qt.Key.Key_Right)
    assert bar.buttons[Step.OBSERVE].hasFocus()
    assert heard == []  # looking along the row goes nowhere

    qtbot.keyClick(bar.buttons[Step.OBSERVE], Qt.Key.Key_Right)
    assert bar.buttons[Step.OBSERVE].hasFocus()
    qtbot.keyClick(bar.buttons[Step.OBSERVE], Qt.Key.Key_Space)
    qtbot.keyClick(bar.buttons[Step.OBSERVE], Qt.Key.Key_Home)
    assert bar.buttons[Step.QUESTION].hasFocus()
    qtbot.keyClick(bar.buttons[Step.QUESTION], Qt.Key.Key_Return)

    assert heard == [Step.OBSERVE, Step.QUESTION]


def test_tab_stops_once_at_the_current_step(bar):
    stops = [
        step for step, made in bar.buttons.items() if made.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert stops == [Step.PREDICT]


def test_the_focus_goes_along_to_the_new_step(bar):
    bar.buttons[Step.PREDICT].setFocus()
    bar.show_steps(LESSON, Step.RUN, REACHABLE)

    assert bar.buttons[Step.RUN].hasFocus()


def test_each_step_tells_its_state(bar):
    said = {step: made.accessibleDescription() for step, made in bar.buttons.items()}

    assert said[Step.PREDICT] == ENGLISH.say("lesson.step_is_current")
    assert said[Step.QUESTION] == ENGLISH.say("lesson.step_is_open")
    assert said[Step.TRY] == ENGLISH.say("lesson.step_is_later")


def test_an_experiment_without_a_lesson_has_fewer_steps(bar):
    bar.show_steps(WITHOUT, Step.RESULT, {Step.QUESTION})

    assert [step for step, made in bar.buttons.items() if made.isVisibleTo(bar)] == [*WITHOUT]
