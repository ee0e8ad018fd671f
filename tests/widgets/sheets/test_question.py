from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.widgets.sheets.below import Below
from widgets.sheets.question import Answer, Question, ask

ANSWERS = [Answer("finish", "Finish", "main"), Answer("stop", "Stop", "stop"), Answer("stay", "No")]


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def question(window) -> Question:
    return ask(window, window.look, "A run is on.", "It can go on.", ANSWERS, remember="Always")


def test_a_click_answers_once_and_the_question_goes(qtbot, question):
    with qtbot.waitSignal(question.answered) as answered:
        qtbot.mouseClick(question.buttons["stop"], Qt.MouseButton.LeftButton)

    assert answered.args == ["stop", False]
    assert question.isHidden()


def test_what_cannot_be_undone_never_has_the_focus_at_first(qtbot, window):
    answers = [Answer("empty", "Delete", "stop"), Answer("leave", "Leave it")]
    asked = ask(window, window.look, "For good?", "", answers)

    assert QApplication.focusWidget() is asked.buttons["leave"]


def test_the_first_answer_has_the_focus_and_enter_gives_it(qtbot, question):
    assert question.buttons["finish"].hasFocus()

    with qtbot.waitSignal(question.answered) as answered:
        qtbot.keyClick(question.buttons["finish"], Qt.Key.Key_Return)

    assert answered.args == ["finish", False]


def test_what_is_to_be_the_same_next_time_is_told(qtbot, question):
    qtbot.keyClick(question.remember, Qt.Key.Key_Space)

    with qtbot.waitSignal(question.answered) as answered:
        qtbot.keyClick(question.buttons["stop"], Qt.Key.Key_Space)

    assert answered.args == ["stop", True]


def test_escape_changes_nothing_and_remembers_nothing(qtbot, question):
    question.remember.setChecked(True)

    with qtbot.waitSignal(question.answered) as answered:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)

    assert answered.args == ["stay", False]


def test_there_is_no_tick_where_nothing_can_be_remembered(window):
    question = ask(window, window.look, "Sure?", "", ANSWERS)

    assert question.remember.isHidden()
    assert question.accessibleName() == "Sure?"


def test_a_minimized_window_comes_back_to_ask(window):
    window.showMinimized()

    ask(window, window.look, "Sure?", "", ANSWERS)

    assert not window.isMinimized()


def test_all_answers_can_be_read_in_the_smallest_window_with_the_largest_text(qtbot):
    window = Below(qtbot, zoom=2.0)
    window.resize(820, 560)
    long = [Answer("a", "Finish in the background", "main"), *ANSWERS[1:]]

    question = ask(window, window.look, "A run is on.", "It can go on. " * 6, long, remember="Same")
    QApplication.processEvents()

    for part in (*question.buttons.values(), question.remember):
        assert question.sheet.rect().contains(part.geometry()), part
        assert part.height() >= part.minimumSizeHint().height()
