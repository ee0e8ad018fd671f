from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QWidget

from tests.widgets.sheets.below import WORDS, Below
from widgets.frame.notice import Notices

SOON_S = 0.02


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def notices(window) -> Notices:
    return Notices(window, WORDS, window.look)


def test_a_notice_says_something_at_the_foot_and_leaves_the_focus_alone(window, notices):
    notices.tell("The run was deleted.")

    assert notices.isVisible()
    assert notices.text.text() == "The run was deleted."
    assert notices.geometry().bottom() > window.height() - 60
    assert window.button.hasFocus()
    assert notices.button.isHidden()


def test_it_goes_by_itself(qtbot, notices):
    notices.tell("One moment.", seconds=SOON_S)

    qtbot.waitUntil(notices.isHidden)


def test_its_action_is_done_once_and_it_goes(qtbot, notices):
    done = []
    notices.tell("Deleted.", "Undo", lambda: done.append("undone"))

    qtbot.mouseClick(notices.button, Qt.MouseButton.LeftButton)

    assert done == ["undone"]
    assert notices.isHidden()


def test_an_action_may_say_something_again(qtbot, notices):
    notices.tell("Deleted.", "Undo", lambda: notices.tell("It is back."))

    notices.button.click()

    assert notices.isVisible()
    assert notices.text.text() == "It is back."
    assert notices.button.isHidden()


def test_the_newest_takes_the_place_of_the_one_before(notices):
    notices.tell("Deleted.", "Undo", lambda: None)
    notices.tell("Saved.")

    assert notices.text.text() == "Saved."
    assert notices.button.isHidden()


def test_it_stays_while_it_has_the_focus(qtbot, notices):
    notices.tell("Deleted.", "Undo", lambda: None)
    notices.button.setFocus()

    notices.findChild(QTimer).timeout.emit()

    assert notices.isVisible()


def test_it_stays_while_it_is_pointed_at(qtbot, notices):
    notices.tell("Deleted.")
    notices.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)

    notices.findChild(QTimer).timeout.emit()

    assert notices.isVisible()


def test_escape_in_it_takes_it_away_and_gives_the_focus_back(qtbot, window, notices):
    notices.tell("Deleted.", "Undo", lambda: None)
    notices.button.setFocus()

    qtbot.keyClick(notices.button, Qt.Key.Key_Escape)

    assert notices.isHidden()
    assert window.button.hasFocus()


def test_the_focus_is_not_given_to_what_has_gone(qtbot, window, notices):
    gone = QWidget(window)
    gone.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    gone.show()
    gone.setFocus()
    notices.tell("Deleted.", "Undo", lambda: None)
    notices.button.setFocus()
    with qtbot.waitSignal(gone.destroyed):
        gone.deleteLater()

    notices.dismiss()

    assert notices.isHidden()


def test_long_notices_wrap_and_follow_the_window(window, notices):
    notices.tell("Many words make one long notice. " * 12)
    window.resize(840, 560)

    assert window.rect().contains(notices.geometry())
    assert notices.height() > notices.text.fontMetrics().height() * 3
    assert abs(notices.geometry().center().x() - window.rect().center().x()) <= 1
    assert notices.geometry().topLeft() != QPoint(0, 0)
